package io.caudal.client;

import java.util.List;

/**
 * Some of what was found.
 *
 * @param <T> of what kind
 * @param items some
 * @param total how many there are in all
 */
public record Page<T>(List<T> items, long total) {}
