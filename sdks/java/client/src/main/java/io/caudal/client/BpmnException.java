package io.caudal.client;

import java.util.Map;

/** Thrown by handlers: an error that the BPMN process may catch. */
public class BpmnException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** What the process may catch. */
    private final String code;

    private final transient Object variables;

    /**
     * Without variables.
     *
     * @param code what the process may catch
     * @param message for people
     */
    public BpmnException(String code, String message) {
        this(code, message, Map.of());
    }

    /**
     * With variables.
     *
     * @param code what the process may catch
     * @param message for people
     * @param variables anything that is written as a JSON object
     */
    public BpmnException(String code, String message, Object variables) {
        super(message);
        this.code = code;
        this.variables = variables;
    }

    /**
     * What the process may catch.
     *
     * @return as it was given
     */
    public String code() {
        return code;
    }

    /**
     * What comes with it.
     *
     * @return as it was given
     */
    public Object variables() {
        return variables;
    }
}
