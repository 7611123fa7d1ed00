package io.caudal.client;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Instant;
import java.util.Map;

/**
 * Work that is leased to this worker.
 *
 * @param id its key
 * @param type which handler does it
 * @param instanceId the instance it belongs to; empty for an execution without a process
 * @param stepId the step of the definition
 * @param stepExecutionId this attempt at the step
 * @param retriesRemaining how often it may still be tried, this time included
 * @param variables as they came
 * @param lockExpiresAt when the lease ends by the server's clock, unless it is extended
 * @param lease the number of the lease: what is said for an older one is refused
 * @param progress what an earlier attempt said last, or null
 * @param traceContext {@code traceparent} and {@code tracestate} of whoever started it, if it was traced
 */
public record Job(
        String id,
        @JsonProperty("jobType") String type,
        String instanceId,
        String stepId,
        String stepExecutionId,
        int retriesRemaining,
        ObjectNode variables,
        Instant lockExpiresAt,
        int lease,
        Progress progress,
        Map<String, String> traceContext) {
    /**
     * The trace of whoever started it.
     *
     * @return {@code traceparent} and perhaps {@code tracestate}; nothing if it was not traced
     */
    @Override
    public Map<String, String> traceContext() {
        return traceContext == null ? Map.of() : traceContext;
    }

    /**
     * After an attempt that said so much.
     *
     * @param said what it said last
     * @return another one
     */
    public Job withProgress(Progress said) {
        return new Job(
                id,
                type,
                instanceId,
                stepId,
                stepExecutionId,
                retriesRemaining,
                variables,
                lockExpiresAt,
                lease,
                said,
                traceContext);
    }
}
