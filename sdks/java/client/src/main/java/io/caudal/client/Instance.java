package io.caudal.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Instant;
import java.util.List;

/**
 * One run of a workflow or process.
 *
 * @param id its key
 * @param definitionId what runs
 * @param definitionVersion which version of it
 * @param status where it is in its life
 * @param currentStepIds the steps it is at
 * @param variables as they are now
 * @param startedAt when it began
 * @param completedAt when it was over, or null
 * @param failureReason why it failed, or null
 * @param businessKey yours, or null
 * @param previousInstanceId the instance it goes on from, or null
 */
public record Instance(
        String id,
        String definitionId,
        int definitionVersion,
        Status status,
        List<String> currentStepIds,
        ObjectNode variables,
        Instant startedAt,
        Instant completedAt,
        String failureReason,
        String businessKey,
        String previousInstanceId) {
    /**
     * The variables as a type of yours.
     *
     * @param <T> that type
     * @param type that type
     * @return never null
     * @throws CaudalException if they do not fit
     */
    public <T> T decode(Class<T> type) {
        try {
            return Json.mapper().treeToValue(variables, type);
        } catch (JsonProcessingException e) {
            throw new CaudalException("variables: " + e.getMessage(), e);
        }
    }
}
