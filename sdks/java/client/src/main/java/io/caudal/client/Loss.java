package io.caudal.client;

/** Why nobody waits for a handler's result any more. */
public enum Loss {
    /** The lease ended, or went to another worker. */
    LEASE_LOST("the lease was lost"),
    /** The job was cancelled. */
    CANCELLED("the job was cancelled"),
    /** The runner is stopping, and its grace is over. */
    SHUTDOWN("the runner is stopping");

    private final String words;

    Loss(String words) {
        this.words = words;
    }

    @Override
    public String toString() {
        return words;
    }
}
