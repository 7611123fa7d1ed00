package io.caudal.client;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;

/** What a handler's end means for its job. */
public sealed interface Outcome {
    /**
     * The job is done.
     *
     * @param variables are merged into those of the instance
     */
    record Completed(ObjectNode variables) implements Outcome {}

    /**
     * It could not be done.
     *
     * @param message for people
     * @param retryable whether to try again while retries are left
     * @param retryAfter how long to wait before; as the model says if null
     */
    record Failed(String message, boolean retryable, Duration retryAfter) implements Outcome {}

    /**
     * An error for the BPMN process.
     *
     * @param code what the process may catch
     * @param message for people
     * @param variables come with it
     */
    record Thrown(String code, String message, ObjectNode variables) implements Outcome {}

    /**
     * Not now.
     *
     * @param delay when it comes again
     */
    record Snoozed(Duration delay) implements Outcome {}

    /**
     * Nobody waits for it any more.
     *
     * @param loss why
     */
    record Abandoned(Loss loss) implements Outcome {}
}
