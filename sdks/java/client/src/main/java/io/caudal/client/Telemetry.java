package io.caudal.client;

import java.util.Map;
import java.util.function.Supplier;

/**
 * What is told of jobs, and what goes along with what a client starts. {@code caudal-client-opentelemetry} has the one for
 * OpenTelemetry.
 */
public interface Telemetry {
    /** Nothing is told. */
    Telemetry NONE = new Telemetry() {
        @Override
        public Map<String, String> headers() {
            return Map.of();
        }

        @Override
        public Outcome observe(Job job, Supplier<Outcome> handler) {
            return handler.get();
        }
    };

    /**
     * The headers that carry the current span to whoever does the work.
     *
     * @return none if nothing is traced
     */
    Map<String, String> headers();

    /**
     * Runs a handler, seen.
     *
     * @param job whose
     * @param handler must be run once, in this thread
     * @return what it gave
     */
    Outcome observe(Job job, Supplier<Outcome> handler);
}
