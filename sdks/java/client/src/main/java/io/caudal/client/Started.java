package io.caudal.client;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * An instance that was started.
 *
 * @param id of the instance
 * @param definitionId what was started
 * @param definitionVersion which version of it
 */
public record Started(
        @JsonProperty("processInstanceKey") String id,
        @JsonProperty("processDefinitionId") String definitionId,
        @JsonProperty("processDefinitionVersion") int definitionVersion) {}
