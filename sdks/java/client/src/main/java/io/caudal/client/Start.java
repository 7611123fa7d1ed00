package io.caudal.client;

/**
 * What to start.
 *
 * @param definitionId a workflow or process
 * @param version which; null for the latest
 * @param variables anything that is written as a JSON object; null for none
 * @param businessKey yours, or null
 * @param idempotencyKey one that was used before makes this the same start again; null for one of its own
 */
public record Start(String definitionId, Integer version, Object variables, String businessKey, String idempotencyKey) {
    /**
     * The latest version, without variables.
     *
     * @param definitionId a workflow or process
     * @return what other methods add to
     */
    public static Start of(String definitionId) {
        return new Start(definitionId, null, null, null, null);
    }

    /**
     * A version.
     *
     * @param given counted from 1
     * @return another one
     */
    public Start withVersion(int given) {
        return new Start(definitionId, given, variables, businessKey, idempotencyKey);
    }

    /**
     * With variables.
     *
     * @param given anything that is written as a JSON object
     * @return another one
     */
    public Start withVariables(Object given) {
        return new Start(definitionId, version, given, businessKey, idempotencyKey);
    }

    /**
     * With a key of yours to find it by.
     *
     * @param given any text
     * @return another one
     */
    public Start withBusinessKey(String given) {
        return new Start(definitionId, version, variables, given, idempotencyKey);
    }

    /**
     * Once, also across restarts of your program.
     *
     * @param given one that was used before makes this the same start again
     * @return another one
     */
    public Start withIdempotencyKey(String given) {
        return new Start(definitionId, version, variables, businessKey, given);
    }
}
