//! Traces and metrics for whoever collects them: OTLP over HTTP, as JSON, sent from a thread of its own every few seconds.
//!
//! A trace is a request, with its tick and its commit below it. Edges and host only name what happens, by spans and events of `tracing` with
//! a target of their own; where nobody collects, those cost a comparison each. The JSON form of the protocol needs no library.

mod measured;
mod spans;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use prometheus_client::registry::Registry;
use serde_json::{Value, json};

use crate::settings::without_password;
use crate::trust;

pub(crate) use spans::Tracer;

/// Spans that wait to be sent; what goes beyond is dropped and counted.
const WAITING_MAX: usize = 10_000;
const EVERY: Duration = Duration::from_secs(2);
/// A metric is sent every so many times.
const METRICS_EVERY: u32 = 8;
const PATIENCE: Duration = Duration::from_secs(10);

/// Where to, how much of it, and who says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Collector {
    /// Such as `http://127.0.0.1:4318`.
    pub(crate) url: String,
    /// Of a hundred requests without a trace of their own, so many are traced.
    pub(crate) traces_percent: u8,
    pub(crate) node: String,
}

/// What collects spans, and what sends them once there is something to measure.
pub(crate) fn start(collector: Collector) -> (Tracer, Sender) {
    let (queue, waiting) = sync_channel(WAITING_MAX);
    (Tracer::new(queue, collector.traces_percent), Sender { collector, waiting })
}

/// A span that has ended, as the protocol writes it.
type Span = Value;

/// True if there was room.
fn put(queue: &SyncSender<Span>, span: Span) -> bool {
    !matches!(queue.try_send(span), Err(TrySendError::Full(_)))
}

pub(crate) struct Sender {
    collector: Collector,
    waiting: Receiver<Span>,
}

impl Sender {
    /// Sends until the process ends; a server that ends leaves the last few seconds unsent.
    pub(crate) fn run(self, registry: Arc<Registry>) -> Result<(), String> {
        let agent = trust::agent(&self.collector.url, PATIENCE)?;
        let started = nanos(SystemTime::now());
        let send = move || {
            let mut failing = false;
            for round in 0_u32.. {
                let (spans, is_over) = gather(&self.waiting);
                let mut sent = Ok(());
                if !spans.is_empty() {
                    sent = post(&agent, &self.collector.url, "traces", &traces(&self.collector, &spans));
                }
                if round.is_multiple_of(METRICS_EVERY) {
                    let metrics = measured::metrics(&registry, started, nanos(SystemTime::now()));
                    sent = sent.and(post(
                        &agent,
                        &self.collector.url,
                        "metrics",
                        &of_resource(&self.collector, "Metrics", &metrics),
                    ));
                }
                match &sent {
                    Err(error) if !failing => tracing::warn!(error, "traces and metrics cannot be sent"),
                    Ok(()) if failing => tracing::info!("traces and metrics are sent again"),
                    Err(_) | Ok(()) => {}
                }
                failing = sent.is_err();
                if is_over {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("otlp".to_owned()).spawn(send);
        thread.map(drop).map_err(|error| format!("cannot start: {error}"))
    }
}

/// What has come within one interval; true if nothing will any more.
fn gather(waiting: &Receiver<Span>) -> (Vec<Span>, bool) {
    let until = Instant::now() + EVERY;
    let mut spans = Vec::new();
    while spans.len() < WAITING_MAX {
        match waiting.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(span) => spans.push(span),
            Err(RecvTimeoutError::Timeout) => break,
            Err(RecvTimeoutError::Disconnected) => return (spans, true),
        }
    }
    (spans, false)
}

fn traces(collector: &Collector, spans: &[Span]) -> Value {
    of_resource(collector, "Spans", &json!(spans))
}

fn of_resource(collector: &Collector, kind: &str, items: &Value) -> Value {
    let resource = json!({ "attributes": [
        attribute("service.name", "caudal"),
        attribute("service.version", env!("CARGO_PKG_VERSION")),
        attribute("service.instance.id", &collector.node),
    ] });
    let name = kind.to_lowercase();
    let scope = json!({ "scope": { "name": "caudal" }, name: items });
    json!({ format!("resource{kind}"): [{ "resource": resource, format!("scope{kind}"): [scope] }] })
}

fn attribute(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

fn nanos(time: SystemTime) -> u128 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()
}

fn post(agent: &ureq::Agent, url: &str, what: &str, body: &Value) -> Result<(), String> {
    let to = format!("{}/v1/{what}", url.trim_end_matches('/'));
    let sent = agent.post(&to).header("content-type", "application/json").send(body.to_string());
    sent.map(drop).map_err(|error| format!("{}: {error}", without_password(&to)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_the_collector_is_told_we_are_stays_out_of_the_log() {
        // Nobody listens there.
        let url = "http://me:secret@127.0.0.1:1/";
        let agent = trust::agent(url, PATIENCE).unwrap();
        let failed = post(&agent, url, "traces", &json!({})).unwrap_err();
        assert!(failed.starts_with("http://127.0.0.1:1/v1/traces: ") && !failed.contains("secret"), "{failed}");
    }
}
