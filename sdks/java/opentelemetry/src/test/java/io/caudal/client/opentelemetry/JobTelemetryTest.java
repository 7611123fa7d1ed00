package io.caudal.client.opentelemetry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.caudal.client.Job;
import io.caudal.client.Json;
import io.caudal.client.Outcome;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.metrics.data.LongPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.testing.junit5.OpenTelemetryExtension;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class JobTelemetryTest {
    private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
    private static final String SPAN = "b7ad6b7169203331";

    @RegisterExtension
    static final OpenTelemetryExtension SEEN = OpenTelemetryExtension.create();

    private static Job job() {
        Map<String, String> trace = Map.of("traceparent", "00-" + TRACE + "-" + SPAN + "-01");
        return new Job("1", "work", "7", "", "", 3, Json.mapper().createObjectNode(), Instant.MAX, 1, null, trace);
    }

    private static List<Long> points(String name, String outcome) {
        AttributeKey<String> key = AttributeKey.stringKey("caudal.outcome");
        MetricData metric = SEEN.getMetrics().stream()
                .filter(one -> one.getName().equals(name))
                .findFirst()
                .orElseThrow();
        return metric.getLongSumData().getPoints().stream()
                .filter(point ->
                        outcome == null || outcome.equals(point.getAttributes().get(key)))
                .map(LongPointData::getValue)
                .toList();
    }

    @Test
    void aJobIsASpanBelowTheOneThatStartedIt() {
        JobTelemetry telemetry = JobTelemetry.of(SEEN.getOpenTelemetry());
        String[] inside = new String[1];
        telemetry.observe(job(), () -> {
            inside[0] = Span.current().getSpanContext().getSpanId();
            return new Outcome.Completed(Json.mapper().createObjectNode());
        });
        telemetry.observe(job(), () -> new Outcome.Failed("no luck", true, null));
        List<SpanData> spans = SEEN.getSpans();
        for (SpanData span : spans) {
            assertEquals("process work", span.getName());
            assertEquals(List.of(TRACE, SPAN), List.of(span.getTraceId(), span.getParentSpanId()));
        }
        assertEquals(inside[0], spans.get(0).getSpanId());
        assertEquals(
                StatusData.create(io.opentelemetry.api.trace.StatusCode.ERROR, "no luck"),
                spans.get(1).getStatus());
        assertEquals(List.of(1L), points("caudal.worker.jobs", "completed"));
        assertEquals(List.of(1L), points("caudal.worker.jobs", "failed"));
        assertEquals(List.of(0L), points("caudal.worker.jobs.running", null));
    }

    @Test
    void theCurrentSpanIsSent() {
        JobTelemetry telemetry = JobTelemetry.of(SEEN.getOpenTelemetry());
        assertEquals(Map.of(), telemetry.headers());
        Span order =
                SEEN.getOpenTelemetry().getTracer("test").spanBuilder("order").startSpan();
        try (Scope scope = order.makeCurrent()) {
            String id = order.getSpanContext().getTraceId() + "-"
                    + order.getSpanContext().getSpanId();
            assertEquals(
                    Map.of(
                            "traceparent",
                            "00-" + id + "-"
                                    + order.getSpanContext().getTraceFlags().asHex()),
                    telemetry.headers());
        } finally {
            order.end();
        }
    }
}
