package io.caudal.client;

/**
 * A version of a definition.
 *
 * @param id of the definition
 * @param version counted from 1
 * @param name for people, or null
 */
public record Deployed(String id, int version, String name) {}
