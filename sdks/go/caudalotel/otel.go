// Package caudalotel has traces and metrics of workers through OpenTelemetry's API.
//
// A job's span is a child of the span that started it: the server carries it from there to the job. Where spans and metrics go is for the program to say,
// with OpenTelemetry's own SDK.
//
//	runner := caudal.Runner{Registry: &registry, Engine: engine, Around: caudalotel.Around()}
//	client := caudal.NewClient(address, caudalotel.Propagate())
package caudalotel

import (
	"context"
	"net/http"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	caudal "caudal.dev/client"
)

const scope = "caudal.dev/client"

// What the server carries, whatever else the program propagates.
var propagator = propagation.TraceContext{}

// Option is a way to tell of jobs.
type Option func(*providers)

type providers struct {
	traces  trace.TracerProvider
	metrics metric.MeterProvider
}

// WithTracerProvider is instead of the global one.
func WithTracerProvider(provider trace.TracerProvider) Option {
	return func(p *providers) { p.traces = provider }
}

// WithMeterProvider is instead of the global one.
func WithMeterProvider(provider metric.MeterProvider) Option {
	return func(p *providers) { p.metrics = provider }
}

// Propagate lets a [caudal.Client] send the span of each call's context: what it starts belongs to that trace.
func Propagate() caudal.Option {
	return caudal.WithHeadersOf(func(ctx context.Context, header http.Header) {
		propagator.Inject(ctx, propagation.HeaderCarrier(header))
	})
}

type telemetry struct {
	tracer   trace.Tracer
	jobs     metric.Int64Counter
	duration metric.Float64Histogram
	running  metric.Int64UpDownCounter
}

// Around is for the field of that name of a [caudal.Runner].
func Around(options ...Option) func(*caudal.JobContext, func(*caudal.JobContext) caudal.Outcome) caudal.Outcome {
	chosen := providers{otel.GetTracerProvider(), otel.GetMeterProvider()}
	for _, option := range options {
		option(&chosen)
	}
	t := telemetry{tracer: chosen.traces.Tracer(scope)}
	if err := t.instruments(chosen.metrics.Meter(scope)); err != nil {
		otel.Handle(err)
		// None of the names is wrong there.
		_ = t.instruments(noop.NewMeterProvider().Meter(scope))
	}
	return t.around
}

func (t *telemetry) instruments(meter metric.Meter) (err error) {
	if t.jobs, err = meter.Int64Counter("caudal.worker.jobs", metric.WithUnit("{job}"), metric.WithDescription("Jobs whose handler has ended")); err != nil {
		return err
	}
	t.duration, err = meter.Float64Histogram("caudal.worker.job.duration", metric.WithUnit("s"), metric.WithDescription("How long handlers take"))
	if err != nil {
		return err
	}
	t.running, err = meter.Int64UpDownCounter("caudal.worker.jobs.running", metric.WithUnit("{job}"), metric.WithDescription("Handlers that run now"))
	return err
}

func (t *telemetry) around(job *caudal.JobContext, run func(*caudal.JobContext) caudal.Outcome) caudal.Outcome {
	system, jobType := attribute.String("messaging.system", "caudal"), attribute.String("messaging.destination.name", job.Job.Type)
	// What the runner itself is part of has not started the job.
	outside := trace.ContextWithSpanContext(job.Context, trace.SpanContext{})
	ctx, span := t.tracer.Start(
		propagator.Extract(outside, propagation.MapCarrier(job.Job.TraceContext)),
		"process "+job.Job.Type,
		trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithAttributes(
			system, jobType,
			attribute.String("messaging.operation.name", "process"),
			attribute.String("messaging.message.id", job.Job.ID),
			attribute.String("messaging.message.conversation_id", job.Job.InstanceID),
		),
	)
	defer span.End()
	begun, about := time.Now(), metric.WithAttributes(system, jobType)
	t.running.Add(ctx, 1, about)
	defer t.running.Add(ctx, -1, about)
	outcome := run(job.With(ctx))
	word := attribute.String("caudal.outcome", word(outcome))
	span.SetAttributes(word)
	if outcome.Failed != nil {
		span.SetStatus(codes.Error, outcome.Failed.Message)
	}
	ended := metric.WithAttributes(system, jobType, word)
	t.jobs.Add(ctx, 1, ended)
	t.duration.Record(ctx, time.Since(begun).Seconds(), ended)
	return outcome
}

func word(outcome caudal.Outcome) string {
	switch {
	case outcome.Failed != nil:
		return "failed"
	case outcome.Thrown != nil:
		return "thrown"
	case outcome.Snoozed != nil:
		return "snoozed"
	case outcome.Abandoned != nil:
		return "abandoned"
	default:
		return "completed"
	}
}
