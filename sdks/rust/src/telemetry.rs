//! Traces and metrics through OpenTelemetry's API, with the feature `opentelemetry`; nothing otherwise. A job's span is a child of the span that started it:
//! the server carries `traceparent` from there to the job.

#[cfg(feature = "opentelemetry")]
pub(crate) use real::{Telemetry, current, within};
#[cfg(not(feature = "opentelemetry"))]
pub(crate) use without::{Telemetry, current, within};

#[cfg(feature = "opentelemetry")]
mod real {
    use std::future::Future;
    use std::time::Instant;

    use opentelemetry::context::FutureExt as _;
    use opentelemetry::metrics::{Counter, Histogram, UpDownCounter};
    use opentelemetry::trace::{
        SpanContext, SpanId, SpanKind, Status, TraceContextExt as _, TraceFlags, TraceId, TraceState, Tracer as _,
    };
    use opentelemetry::{Context, KeyValue, global};

    use crate::{Job, Outcome};

    const SCOPE: &str = "caudal-client";

    /// The headers that carry the current span to whoever does the work: what the server carries, whatever else the program propagates.
    pub(crate) fn current() -> Vec<(&'static str, String)> {
        let context = Context::current();
        let (span, mut headers) = (context.span().span_context().clone(), Vec::new());
        if span.is_valid() {
            let flags = span.trace_flags() & TraceFlags::SAMPLED;
            headers.push(("traceparent", format!("00-{}-{}-{flags:02x}", span.trace_id(), span.span_id())));
            let state = span.trace_state().header();
            if !state.is_empty() {
                headers.push(("tracestate", state));
            }
        }
        headers
    }

    /// What this task is part of goes along into another one.
    pub(crate) fn within<F: Future>(task: F) -> impl Future<Output = F::Output> {
        task.with_current_context()
    }

    /// What a runner tells of the jobs it does.
    pub(crate) struct Telemetry {
        jobs: Counter<u64>,
        duration: Histogram<f64>,
        running: UpDownCounter<i64>,
    }

    impl Telemetry {
        pub(crate) fn new() -> Telemetry {
            let meter = global::meter(SCOPE);
            let jobs = meter.u64_counter("caudal.worker.jobs").with_description("Jobs whose handler has ended");
            let duration = meter.f64_histogram("caudal.worker.job.duration").with_description("How long handlers take");
            let running = meter.i64_up_down_counter("caudal.worker.jobs.running").with_description("Handlers that run now");
            Telemetry {
                jobs: jobs.with_unit("{job}").build(),
                duration: duration.with_unit("s").build(),
                running: running.with_unit("{job}").build(),
            }
        }

        /// Runs a handler, seen.
        pub(crate) async fn observe(&self, job: &Job, run: impl Future<Output = Outcome>) -> Outcome {
            let about =
                [KeyValue::new("messaging.system", "caudal"), KeyValue::new("messaging.destination.name", job.job_type.clone())];
            let ids = [
                KeyValue::new("messaging.operation.name", "process"),
                KeyValue::new("messaging.message.id", job.id.clone()),
                KeyValue::new("messaging.message.conversation_id", job.instance_id.clone()),
            ];
            let tracer = global::tracer(SCOPE);
            let span = tracer
                .span_builder(format!("process {}", job.job_type))
                .with_kind(SpanKind::Consumer)
                .with_attributes(about.iter().cloned().chain(ids));
            let context = Context::new().with_span(tracer.build_with_context(span, &parent(job)));
            let begun = Instant::now();
            self.running.add(1, &about);
            let outcome = run.with_context(context.clone()).await;
            self.running.add(-1, &about);
            let word = KeyValue::new("caudal.outcome", word(&outcome));
            context.span().set_attribute(word.clone());
            if let Outcome::Failed { message, .. } = &outcome {
                context.span().set_status(Status::error(message.clone()));
            }
            context.span().end();
            let [system, job_type] = about;
            let ended = [system, job_type, word];
            self.jobs.add(1, &ended);
            self.duration.record(begun.elapsed().as_secs_f64(), &ended);
            outcome
        }
    }

    /// The span that started the job, if it was traced.
    fn parent(job: &Job) -> Context {
        job.trace_context
            .get("traceparent")
            .and_then(|text| read(job, text))
            .map_or_else(Context::new, |span| Context::new().with_remote_span_context(span))
    }

    fn read(job: &Job, traceparent: &str) -> Option<SpanContext> {
        let mut parts = traceparent.split('-');
        let ("00", trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?) else { return None };
        let flags = TraceFlags::new(u8::from_str_radix(flags, 16).ok()?) & TraceFlags::SAMPLED;
        let state = job.trace_context.get("tracestate").and_then(|text| text.parse::<TraceState>().ok()).unwrap_or_default();
        let span = SpanContext::new(TraceId::from_hex(trace).ok()?, SpanId::from_hex(span).ok()?, flags, true, state);
        span.is_valid().then_some(span)
    }

    fn word(outcome: &Outcome) -> &'static str {
        match outcome {
            Outcome::Completed(_) => "completed",
            Outcome::Failed { .. } => "failed",
            Outcome::Thrown { .. } => "thrown",
            Outcome::Snoozed(_) => "snoozed",
            Outcome::Abandoned(_) => "abandoned",
        }
    }
}

#[cfg(not(feature = "opentelemetry"))]
mod without {
    use std::future::Future;

    use crate::{Job, Outcome};

    pub(crate) fn current() -> Vec<(&'static str, String)> {
        Vec::new()
    }

    pub(crate) fn within<F: Future>(task: F) -> F {
        task
    }

    pub(crate) struct Telemetry;

    impl Telemetry {
        pub(crate) fn new() -> Telemetry {
            Telemetry
        }

        pub(crate) async fn observe(&self, _: &Job, run: impl Future<Output = Outcome>) -> Outcome {
            run.await
        }
    }
}
