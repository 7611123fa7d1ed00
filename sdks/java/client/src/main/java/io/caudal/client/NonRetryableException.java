package io.caudal.client;

/** Thrown by handlers when trying again cannot help: the job fails whatever retries are left. */
public class NonRetryableException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /**
     * By its words.
     *
     * @param message for people
     */
    public NonRetryableException(String message) {
        super(message);
    }

    /**
     * By its words and cause.
     *
     * @param message for people
     * @param cause what happened
     */
    public NonRetryableException(String message, Throwable cause) {
        super(message, cause);
    }
}
