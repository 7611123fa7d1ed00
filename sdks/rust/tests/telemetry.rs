//! Spans and metrics of a runner, with exporters in memory.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test that cannot go on has failed")]

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use caudal_client::testing::fake_job;
use caudal_client::{Beat, EngineClient, Error, Failure, Job, JobContext, Poll, Raw, Registry, Runner, Standing};
use opentelemetry::trace::{SpanKind, Status, TraceContextExt as _};
use opentelemetry::{Context, Value as Attribute, global};
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, SdkMeterProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const SPAN: &str = "b7ad6b7169203331";

/// Hands out its jobs once, and says when one is over.
struct Engine {
    jobs: Mutex<Vec<Job>>,
    over: mpsc::UnboundedSender<()>,
}

#[async_trait]
impl EngineClient for Engine {
    async fn poll(&self, _: Poll<'_>) -> Result<Vec<Job>, Error> {
        let jobs = std::mem::take(&mut *self.jobs.lock().unwrap());
        if jobs.is_empty() { std::future::pending().await } else { Ok(jobs) }
    }
    async fn complete(&self, _: &str, _: &Job, _: &Raw) -> Result<(), Error> {
        self.over.send(()).unwrap();
        Ok(())
    }
    async fn fail(&self, _: &str, _: &Job, _: &str, _: bool, _: Option<Duration>) -> Result<(), Error> {
        self.over.send(()).unwrap();
        Ok(())
    }
    async fn throw_error(&self, _: &str, _: &Job, _: &str, _: &str, _: &Raw) -> Result<(), Error> {
        unreachable!("no handler throws")
    }
    async fn heartbeat(&self, _: &str, _: Duration, beats: &[Beat<'_>]) -> Result<Vec<Standing>, Error> {
        Ok(vec![Standing::Held; beats.len()])
    }
    async fn release(&self, _: &str, _: &Job, _: Option<Duration>) -> Result<(), Error> {
        unreachable!("nothing is given back")
    }
}

fn traced(job_type: &str) -> Job {
    let mut job = fake_job(job_type, &json!({})).unwrap();
    job.trace_context.insert("traceparent".to_owned(), format!("00-{TRACE}-{SPAN}-01"));
    job
}

#[tokio::test]
async fn a_job_is_a_span_below_the_one_that_started_it() {
    let (spans, metrics) = (InMemorySpanExporter::default(), InMemoryMetricExporter::default());
    global::set_tracer_provider(SdkTracerProvider::builder().with_simple_exporter(spans.clone()).build());
    let meters = SdkMeterProvider::builder().with_periodic_exporter(metrics.clone()).build();
    global::set_meter_provider(meters.clone());

    let (inside, mut seen) = mpsc::unbounded_channel();
    let registry = Registry::new()
        .handle("good", move |_: JobContext, _: Map<String, Value>| {
            inside.send(Context::current().span().span_context().span_id()).unwrap();
            async { Ok::<_, Failure>(()) }
        })
        .handle("bad", |_: JobContext, _: Map<String, Value>| async { Err::<(), _>(Failure::non_retryable("no luck")) });
    let (over, mut ended) = mpsc::unbounded_channel();
    let engine = Engine { jobs: Mutex::new(vec![traced("good"), traced("bad")]), over };
    let both = async move {
        ended.recv().await.unwrap();
        ended.recv().await.unwrap();
    };
    Runner::new(registry, engine).run(both).await.unwrap();

    let spans = spans.get_finished_spans().unwrap();
    let find = |name: &str| spans.iter().find(|span| span.name == name).unwrap();
    let (good, bad) = (find("process good"), find("process bad"));
    for span in [good, bad] {
        assert_eq!((span.span_context.trace_id().to_string(), span.parent_span_id.to_string()), (TRACE.into(), SPAN.into()));
        assert_eq!(span.span_kind, SpanKind::Consumer);
    }
    assert_eq!(seen.recv().await, Some(good.span_context.span_id()));
    assert_eq!(bad.status, Status::error("no luck"));

    meters.force_flush().unwrap();
    let read = metrics.get_finished_metrics().unwrap();
    let mut counted = Vec::new();
    for metric in read.iter().flat_map(|one| one.scope_metrics()).flat_map(|scope| scope.metrics()) {
        if let ("caudal.worker.jobs", AggregatedMetrics::U64(MetricData::Sum(sum))) = (metric.name(), metric.data()) {
            for point in sum.data_points() {
                let word = point.attributes().find(|one| one.key.as_str() == "caudal.outcome").map(|one| one.value.clone());
                counted.push((word, point.value()));
            }
        }
    }
    counted.sort_by_key(|(word, _)| format!("{word:?}"));
    assert_eq!(counted, ["completed", "failed"].map(|word| (Some(Attribute::from(word)), 1)));
}
