package io.caudal.client;

/** A request that the server refused. */
public class ApiException extends CaudalException {
    private static final long serialVersionUID = 1;

    /** The status of HTTP. */
    private final int status;
    /** What went wrong, for programs. */
    private final String code;

    /**
     * As the server said it.
     *
     * @param status of HTTP, also over gRPC
     * @param code for programs
     * @param message for people
     */
    public ApiException(int status, String code, String message) {
        super(message + " (" + code + ", " + status + ")", null);
        this.status = status;
        this.code = code;
    }

    /**
     * The status of HTTP, also over gRPC.
     *
     * @return such as 409
     */
    public int status() {
        return status;
    }

    /**
     * What went wrong, for programs.
     *
     * @return such as {@code NOT_FOUND}
     */
    public String code() {
        return code;
    }

    /**
     * Whether there is no such thing.
     *
     * @return true for the status 404
     */
    public boolean isNotFound() {
        return status == 404;
    }

    /**
     * Whether it is there, but in a state in which this cannot be done.
     *
     * @return true for the status 409
     */
    public boolean isConflict() {
        return status == 409;
    }
}
