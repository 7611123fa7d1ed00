package io.caudal.client.opentelemetry;

import io.caudal.client.Job;
import io.caudal.client.Outcome;
import io.caudal.client.Telemetry;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.DoubleHistogram;
import io.opentelemetry.api.metrics.LongCounter;
import io.opentelemetry.api.metrics.LongUpDownCounter;
import io.opentelemetry.api.metrics.Meter;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.context.propagation.TextMapGetter;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Traces and metrics of jobs. A job's span is a child of the span that started it: the server carries it from there to the
 * job. Where spans and metrics go is for the program to say, with OpenTelemetry's own SDK.
 */
public final class JobTelemetry implements Telemetry {
    private static final String SCOPE = "io.caudal.client";
    private static final AttributeKey<String> SYSTEM = AttributeKey.stringKey("messaging.system");
    private static final AttributeKey<String> TYPE = AttributeKey.stringKey("messaging.destination.name");
    private static final AttributeKey<String> OPERATION = AttributeKey.stringKey("messaging.operation.name");
    private static final AttributeKey<String> ID = AttributeKey.stringKey("messaging.message.id");
    private static final AttributeKey<String> INSTANCE = AttributeKey.stringKey("messaging.message.conversation_id");
    private static final AttributeKey<String> OUTCOME = AttributeKey.stringKey("caudal.outcome");
    private static final TextMapGetter<Map<String, String>> GETTER = new TextMapGetter<>() {
        @Override
        public String get(Map<String, String> carrier, String key) {
            return carrier.get(key);
        }
    };

    /** What the server carries, whatever else the program propagates. */
    private final W3CTraceContextPropagator propagator = W3CTraceContextPropagator.getInstance();

    private final Tracer tracer;
    private final LongCounter jobs;
    private final DoubleHistogram duration;
    private final LongUpDownCounter running;

    private JobTelemetry(OpenTelemetry openTelemetry) {
        tracer = openTelemetry.getTracer(SCOPE);
        Meter meter = openTelemetry.getMeter(SCOPE);
        jobs = meter.counterBuilder("caudal.worker.jobs")
                .setUnit("{job}")
                .setDescription("Jobs whose handler has ended")
                .build();
        duration = meter.histogramBuilder("caudal.worker.job.duration")
                .setUnit("s")
                .setDescription("How long handlers take")
                .build();
        running = meter.upDownCounterBuilder("caudal.worker.jobs.running")
                .setUnit("{job}")
                .setDescription("Handlers that run now")
                .build();
    }

    /**
     * For an endpoint or a runner.
     *
     * @param openTelemetry where spans and metrics go
     * @return may be shared
     */
    public static JobTelemetry of(OpenTelemetry openTelemetry) {
        return new JobTelemetry(openTelemetry);
    }

    @Override
    public Map<String, String> headers() {
        Map<String, String> headers = new HashMap<>();
        propagator.inject(Context.current(), headers, Map::put);
        return headers;
    }

    @Override
    public Outcome observe(Job job, Supplier<Outcome> handler) {
        Attributes about = Attributes.of(SYSTEM, "caudal", TYPE, job.type());
        Span span = tracer.spanBuilder("process " + job.type())
                .setParent(propagator.extract(Context.root(), job.traceContext(), GETTER))
                .setSpanKind(SpanKind.CONSUMER)
                .setAllAttributes(about)
                .setAttribute(OPERATION, "process")
                .setAttribute(ID, job.id())
                .setAttribute(INSTANCE, job.instanceId())
                .startSpan();
        long begun = System.nanoTime();
        running.add(1, about);
        try (Scope scope = span.makeCurrent()) {
            Outcome outcome = handler.get();
            String word = outcome.getClass().getSimpleName().toLowerCase(Locale.ROOT);
            span.setAttribute(OUTCOME, word);
            if (outcome instanceof Outcome.Failed failed) {
                span.setStatus(StatusCode.ERROR, failed.message());
            }
            Attributes ended = about.toBuilder().put(OUTCOME, word).build();
            jobs.add(1, ended);
            duration.record((System.nanoTime() - begun) / (double) TimeUnit.SECONDS.toNanos(1), ended);
            return outcome;
        } finally {
            running.add(-1, about);
            span.end();
        }
    }
}
