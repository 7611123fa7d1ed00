package io.caudal.scenarios;

import static io.caudal.scenarios.World.alone;
import static io.caudal.scenarios.World.equal;
import static io.caudal.scenarios.World.file;

import io.caudal.client.Client;
import io.caudal.client.Endpoint;
import io.caudal.client.Registry;
import io.caudal.client.Runner;
import io.caudal.client.opentelemetry.JobTelemetry;
import io.caudal.scenarios.Main.Scenario;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Traces go from who starts something to who does it. */
final class Traces {
    static final List<Scenario> ALL = List.of(new Scenario("trace", alone(Traces::trace)));

    private Traces() {}

    private static void trace(World world) throws Exception {
        InMemorySpanExporter spans = InMemorySpanExporter.create();
        SdkTracerProvider traces = SdkTracerProvider.builder()
                .addSpanProcessor(SimpleSpanProcessor.create(spans))
                .build();
        JobTelemetry telemetry = JobTelemetry.of(
                OpenTelemetrySdk.builder().setTracerProvider(traces).build());
        Set<String> seen = ConcurrentHashMap.newKeySet();
        Registry registry = new Registry().handle("work", (variables, context) -> {
            seen.add(Span.current().getSpanContext().getSpanId());
            return null;
        });
        Client client = new Client(Endpoint.of(world.server.rest()).withTelemetry(telemetry));
        Span order = traces.get("scenarios").spanBuilder("order").startSpan();
        try (Runner runner = World.work(world.runner(registry).telemetry(telemetry))) {
            String instance;
            String execution;
            try (Scope scope = order.makeCurrent()) {
                client.deploy(file("work.json"));
                instance = client.start("work", World.none()).id();
                execution = client.submit("work", World.none());
            }
            client.await(instance, World.WITHIN);
            client.awaitExecution(execution, World.WITHIN);
        }
        order.end();
        List<SpanData> below = spans.getFinishedSpanItems().stream()
                .filter(span ->
                        span.getParentSpanId().equals(order.getSpanContext().getSpanId()))
                .toList();
        equal(below.size(), 2);
        for (SpanData span : below) {
            equal(span.getName(), "process work");
            equal(span.getTraceId(), order.getSpanContext().getTraceId());
            equal(seen.contains(span.getSpanId()), true);
        }
    }
}
