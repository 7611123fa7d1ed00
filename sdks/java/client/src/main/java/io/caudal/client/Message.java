package io.caudal.client;

import java.time.Duration;

/**
 * Something for whoever waits for it now or while it lives.
 *
 * @param name what the process calls it
 * @param correlationKey who waits for it
 * @param variables anything that is written as a JSON object; null for none
 * @param timeToLive how long it waits for somebody
 * @param id keeps a message from being published twice while the first lives; or null
 * @param idempotencyKey one that was used before makes this the same publication again; null for one of its own
 */
public record Message(
        String name, String correlationKey, Object variables, Duration timeToLive, String id, String idempotencyKey) {
    /**
     * Lives for an hour, without variables.
     *
     * @param name what the process calls it
     * @param correlationKey who waits for it
     * @return what other methods add to
     */
    public static Message of(String name, String correlationKey) {
        return new Message(name, correlationKey, null, Duration.ofHours(1), null, null);
    }

    /**
     * With variables.
     *
     * @param given anything that is written as a JSON object
     * @return another one
     */
    public Message withVariables(Object given) {
        return new Message(name, correlationKey, given, timeToLive, id, idempotencyKey);
    }

    /**
     * For longer, or not as long.
     *
     * @param given how long it waits for somebody
     * @return another one
     */
    public Message withTimeToLive(Duration given) {
        return new Message(name, correlationKey, variables, given, id, idempotencyKey);
    }

    /**
     * With an id.
     *
     * @param given keeps a message from being published twice while the first lives
     * @return another one
     */
    public Message withId(String given) {
        return new Message(name, correlationKey, variables, timeToLive, given, idempotencyKey);
    }

    /**
     * Once, also across restarts of your program.
     *
     * @param given one that was used before makes this the same publication again
     * @return another one
     */
    public Message withIdempotencyKey(String given) {
        return new Message(name, correlationKey, variables, timeToLive, id, given);
    }
}
