package io.caudal.client;

/**
 * A step of an instance that is told to go on.
 *
 * @param instanceId of which instance
 * @param stepId which step
 * @param ifNotReached what happens if the instance is not there yet
 */
public record Step(String instanceId, String stepId, Early ifNotReached) {
    /** What happens to what comes before its step is reached. */
    public enum Early {
        /** It is refused as a conflict. */
        REFUSE,
        /** It is kept until the step is reached. */
        KEEP
    }

    /**
     * A step that must have been reached.
     *
     * @param instanceId of which instance
     * @param stepId which step
     * @return what {@link #kept} adds to
     */
    public static Step of(String instanceId, String stepId) {
        return new Step(instanceId, stepId, Early.REFUSE);
    }

    /**
     * A step that need not have been reached yet.
     *
     * @return another one
     */
    public Step kept() {
        return new Step(instanceId, stepId, Early.KEEP);
    }

    String path(String kind, String end) {
        String query = ifNotReached == Early.KEEP ? "?buffer=true" : "";
        return "/v1/instances/" + Http.part(instanceId) + "/" + kind + "/" + Http.part(stepId) + end + query;
    }
}
