package io.caudal.client;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * How far a handler has come.
 *
 * @param percent of the whole, or null
 * @param message for people, or null
 * @param data for whoever goes on from there, or null
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Progress(Integer percent, String message, ObjectNode data) {}
