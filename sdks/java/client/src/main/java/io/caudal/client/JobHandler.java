package io.caudal.client;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A method that does the jobs of one type; see {@link Registry#register}.
 *
 * <p>It has a parameter for its variables, or one for the {@link JobContext}, or both, in any order. What it returns is merged
 * into the variables of the instance.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface JobHandler {
    /**
     * The type of the jobs.
     *
     * @return as the definition names it
     */
    String value();
}
