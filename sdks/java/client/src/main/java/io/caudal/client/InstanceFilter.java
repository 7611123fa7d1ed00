package io.caudal.client;

/**
 * Which instances are looked for.
 *
 * @param definitionId of this definition; null for all
 * @param status in this status; null for all
 * @param businessKey with this key; null for all
 * @param page counted from 0
 * @param pageSize at most 200
 */
public record InstanceFilter(String definitionId, Status status, String businessKey, int page, int pageSize) {
    /**
     * The first twenty of all.
     *
     * @return what other methods narrow
     */
    public static InstanceFilter all() {
        return new InstanceFilter(null, null, null, 0, 20);
    }

    /**
     * Of a definition.
     *
     * @param given which
     * @return another one
     */
    public InstanceFilter withDefinitionId(String given) {
        return new InstanceFilter(given, status, businessKey, page, pageSize);
    }

    /**
     * In a status.
     *
     * @param given which
     * @return another one
     */
    public InstanceFilter withStatus(Status given) {
        return new InstanceFilter(definitionId, given, businessKey, page, pageSize);
    }

    /**
     * With a business key.
     *
     * @param given which
     * @return another one
     */
    public InstanceFilter withBusinessKey(String given) {
        return new InstanceFilter(definitionId, status, given, page, pageSize);
    }

    /**
     * Another page.
     *
     * @param given counted from 0
     * @param size at most 200
     * @return another one
     */
    public InstanceFilter withPage(int given, int size) {
        return new InstanceFilter(definitionId, status, businessKey, given, size);
    }
}
