package io.caudal.client;

/** Whatever goes wrong between this program and a server. */
public class CaudalException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /**
     * By its words.
     *
     * @param message for people
     * @param cause or null
     */
    public CaudalException(String message, Throwable cause) {
        super(message, cause);
    }
}
