package io.caudal.client;

import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * A job that belongs to no process.
 *
 * @param id its key
 * @param action what is to be done: the type of its job
 * @param state where it is in its life
 * @param input what it was submitted with
 * @param result what its handler returned, or null
 * @param error why it failed last, or null
 * @param attempts how often it was begun
 * @param retries how often it may be tried
 */
public record Execution(
        String id,
        String action,
        Status state,
        ObjectNode input,
        ObjectNode result,
        String error,
        int attempts,
        int retries) {}
