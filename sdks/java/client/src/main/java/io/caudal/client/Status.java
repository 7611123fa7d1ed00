package io.caudal.client;

/** Where an instance, or an execution without a process, is in its life. */
public enum Status {
    /** Something is to be done now. */
    ACTIVE,
    /** A worker has the execution. */
    RUNNING,
    /** It waits for somebody or something. */
    WAITING,
    /** It ended well. */
    COMPLETED,
    /** It ended badly; people may let it try again. */
    FAILED,
    /** Somebody ended it. */
    CANCELLED;

    /**
     * Whether nothing happens any more unless somebody asks for it.
     *
     * @return true for the last three
     */
    public boolean isOver() {
        return this == COMPLETED || this == FAILED || this == CANCELLED;
    }
}
