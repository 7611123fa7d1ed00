package io.caudal.client;

import java.time.Duration;

/** The server is away or busy: the same request may work later. */
public class UnavailableException extends CaudalException {
    private static final long serialVersionUID = 1;

    /** How long the server asks to wait. */
    private final Duration retryAfter;

    /**
     * By its words.
     *
     * @param message for people
     * @param retryAfter how long the server asks to wait; zero if it does not
     * @param cause or null
     */
    public UnavailableException(String message, Duration retryAfter, Throwable cause) {
        super(message, cause);
        this.retryAfter = retryAfter;
    }

    /**
     * How long the server asks to wait.
     *
     * @return zero if it does not
     */
    public Duration retryAfter() {
        return retryAfter;
    }
}
