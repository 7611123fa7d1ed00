package io.caudal.client;

import java.time.Duration;

/** Thrown by handlers to be called again after a while of their choice. Any other exception is retried as well. */
public class RetryableException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** How long to wait before the next try. */
    private final Duration retryAfter;

    /**
     * By its words.
     *
     * @param message for people
     * @param retryAfter how long to wait before the next try
     */
    public RetryableException(String message, Duration retryAfter) {
        this(message, retryAfter, null);
    }

    /**
     * By its words and cause.
     *
     * @param message for people
     * @param retryAfter how long to wait before the next try
     * @param cause what happened
     */
    public RetryableException(String message, Duration retryAfter, Throwable cause) {
        super(message, cause);
        this.retryAfter = retryAfter;
    }

    /**
     * How long to wait before the next try.
     *
     * @return as it was given
     */
    public Duration retryAfter() {
        return retryAfter;
    }
}
