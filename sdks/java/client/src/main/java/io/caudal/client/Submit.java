package io.caudal.client;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.time.Instant;

/**
 * An execution to be submitted.
 *
 * @param input anything that is written as a JSON object; null for none
 * @param priority 0 to 100, the higher first; null for the usual
 * @param retries how often it may be tried; null for the usual
 * @param runAt when it may run at the earliest; null for now
 * @param uniqueKey keeps another execution of the action with the same key from waiting or running; or null
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Submit(Object input, Integer priority, Integer retries, Instant runAt, String uniqueKey) {
    /**
     * Only an input.
     *
     * @param input anything that is written as a JSON object; null for none
     * @return what other methods add to
     */
    public static Submit of(Object input) {
        return new Submit(input, null, null, null, null);
    }

    /**
     * With a priority.
     *
     * @param given 0 to 100, the higher first
     * @return another one
     */
    public Submit withPriority(int given) {
        return new Submit(input, given, retries, runAt, uniqueKey);
    }

    /**
     * With another number of tries.
     *
     * @param given how often it may be tried
     * @return another one
     */
    public Submit withRetries(int given) {
        return new Submit(input, priority, given, runAt, uniqueKey);
    }

    /**
     * For later.
     *
     * @param given when it may run at the earliest
     * @return another one
     */
    public Submit withRunAt(Instant given) {
        return new Submit(input, priority, retries, given, uniqueKey);
    }

    /**
     * One at a time.
     *
     * @param given keeps another execution of the action with the same key from waiting or running
     * @return another one
     */
    public Submit withUniqueKey(String given) {
        return new Submit(input, priority, retries, runAt, given);
    }
}
