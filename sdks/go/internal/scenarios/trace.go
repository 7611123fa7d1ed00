package main

import (
	"sync"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	caudal "caudal.dev/client"
	"caudal.dev/client/caudalotel"
)

func traceContext(w world) {
	spans := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	var registry caudal.Registry
	var seen sync.Map
	caudal.Handle(&registry, "work", func(ctx *caudal.JobContext, _ anything) (none, error) {
		seen.Store(trace.SpanFromContext(ctx).SpanContext().SpanID(), true)
		return none{}, nil
	})
	defer w.work(&caudal.Runner{Registry: &registry, Around: caudalotel.Around(caudalotel.WithTracerProvider(provider))})()
	w.client = caudal.NewClient(w.REST, caudalotel.Propagate())
	ctx, order := provider.Tracer("scenarios").Start(w.ctx, "order")
	w.ctx = ctx
	instance := w.startWork(nil)
	execution := must(w.client.Submit(w.ctx, "work", "", caudal.Submit{}))[0]
	order.End()
	must(w.client.Wait(w.ctx, instance))
	must(w.client.WaitExecution(w.ctx, execution))
	below := 0
	for _, span := range spans.Ended() {
		if span.Parent().SpanID() != order.SpanContext().SpanID() {
			continue
		}
		below++
		_, was := seen.Load(span.SpanContext().SpanID())
		equal([]any{span.Name(), span.SpanContext().TraceID(), was}, []any{"process work", order.SpanContext().TraceID(), true})
	}
	equal(below, 2)
}
