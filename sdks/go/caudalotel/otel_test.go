package caudalotel_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	caudal "caudal.dev/client"
	"caudal.dev/client/caudalotel"
)

const (
	traceID = "0af7651916cd43dd8448eb211c80319c"
	spanID  = "b7ad6b7169203331"
)

var fromElsewhere = map[string]string{"traceparent": "00-" + traceID + "-" + spanID + "-01"}

// observed runs a handler with a job, and gives what was seen.
func observed(t *testing.T, traced map[string]string, handle func(*caudal.JobContext, map[string]any) (any, error)) (sdktrace.ReadOnlySpan, map[string]metricdata.Aggregation) {
	t.Helper()
	spans, reader := tracetest.NewSpanRecorder(), metric.NewManualReader()
	around := caudalotel.Around(
		caudalotel.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))),
		caudalotel.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(reader))),
	)
	var registry caudal.Registry
	caudal.Handle(&registry, "work", handle)
	job := &caudal.Job{
		ID: "1", Type: "work", InstanceID: "7", Variables: json.RawMessage("{}"),
		TraceContext: traced,
	}
	ctx, program := sdktrace.NewTracerProvider().Tracer("test").Start(t.Context(), "program")
	defer program.End()
	around(caudal.NewJobContext(ctx, job, nil), registry.Run)
	var read metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &read); err != nil {
		t.Fatal(err)
	}
	seen := map[string]metricdata.Aggregation{}
	for _, one := range read.ScopeMetrics[0].Metrics {
		seen[one.Name] = one.Data
	}
	return spans.Ended()[0], seen
}

func TestAJobIsASpanBelowTheOneThatStartedIt(t *testing.T) {
	var inside trace.SpanContext
	span, metrics := observed(t, fromElsewhere, func(ctx *caudal.JobContext, _ map[string]any) (any, error) {
		inside = trace.SpanContextFromContext(ctx)
		return nil, nil
	})
	if span.Parent().TraceID().String() != traceID || span.Parent().SpanID().String() != spanID {
		t.Fatal(span.Parent())
	}
	if span.Name() != "process work" || !inside.Equal(span.SpanContext()) {
		t.Fatal(span.Name(), inside)
	}
	jobs := metrics["caudal.worker.jobs"].(metricdata.Sum[int64]).DataPoints
	if word, _ := jobs[0].Attributes.Value("caudal.outcome"); jobs[0].Value != 1 || word.AsString() != "completed" {
		t.Fatal(jobs)
	}
	if count := metrics["caudal.worker.job.duration"].(metricdata.Histogram[float64]).DataPoints[0].Count; count != 1 {
		t.Fatal(count)
	}
	if running := metrics["caudal.worker.jobs.running"].(metricdata.Sum[int64]).DataPoints[0].Value; running != 0 {
		t.Fatal(running)
	}
}

func TestAFailureIsAnError(t *testing.T) {
	span, _ := observed(t, nil, func(*caudal.JobContext, map[string]any) (any, error) { return nil, errors.New("no luck") })
	if span.Parent().IsValid() {
		t.Fatal("a job that was not traced belongs to nobody's trace")
	}
	if span.Status() != (sdktrace.Status{Code: codes.Error, Description: "no luck"}) {
		t.Fatal(span.Status())
	}
}

func TestAClientSendsTheCurrentSpan(t *testing.T) {
	sent := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent <- r.Header.Get("traceparent")
		_, _ = w.Write([]byte(`{"processInstanceKey": "1"}`))
	}))
	defer server.Close()
	ctx, span := sdktrace.NewTracerProvider().Tracer("test").Start(context.Background(), "order")
	if _, err := caudal.NewClient(server.URL, caudalotel.Propagate()).Start(ctx, caudal.Start{DefinitionID: "a"}); err != nil {
		t.Fatal(err)
	}
	is := span.SpanContext()
	if seen, expected := <-sent, "00-"+is.TraceID().String()+"-"+is.SpanID().String()+"-01"; seen != expected {
		t.Fatal(seen, expected)
	}
}
