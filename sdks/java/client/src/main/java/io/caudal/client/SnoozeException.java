package io.caudal.client;

import java.time.Duration;

/** Thrown by handlers that cannot do it now: the job comes again after the delay, and no retry is used up. */
public class SnoozeException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** When it comes again. */
    private final Duration delay;

    /**
     * By how long.
     *
     * @param delay when it comes again
     */
    public SnoozeException(Duration delay) {
        super("put off for " + delay);
        this.delay = delay;
    }

    /**
     * When it comes again.
     *
     * @return as it was given
     */
    public Duration delay() {
        return delay;
    }
}
