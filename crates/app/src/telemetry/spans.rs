//! From spans and events of `tracing` to spans of the protocol.

use std::collections::hash_map::RandomState;
use std::fmt::Debug;
use std::hash::BuildHasher as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use store::log::Trace;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use super::{Span, attribute, nanos, put};

/// As the protocol numbers them.
const KIND_INTERNAL: u8 = 1;
const KIND_SERVER: u8 = 2;

pub(crate) struct Tracer {
    queue: SyncSender<Span>,
    percent: u8,
    dropped: AtomicU64,
}

/// Where a span belongs: whose trace, below which span.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    trace: String,
    parent: Option<String>,
    id: String,
}

/// A request that is under way.
struct Open {
    place: Place,
    name: String,
    began: SystemTime,
    attributes: Vec<(&'static str, String)>,
}

impl Tracer {
    pub(super) fn new(queue: SyncSender<Span>, percent: u8) -> Self {
        Self { queue, percent, dropped: AtomicU64::new(0) }
    }

    /// What a caller says of its own trace decides; without one, chance does.
    fn place(&self, traceparent: Option<&str>) -> Option<Place> {
        match traceparent.and_then(|parent| Trace::parse(parent, None)) {
            Some(theirs) if !theirs.is_sampled() => None,
            Some(theirs) => {
                Some(Place { trace: theirs.trace_id().to_owned(), parent: Some(theirs.span_id().to_owned()), id: id() })
            }
            None if u64::from(self.percent) <= random() % 100 => None,
            None => Some(Place { trace: id() + &id(), parent: None, id: id() }),
        }
    }

    fn end(&self, span: Span) {
        // Every thousandth is worth a line; the collector sees gaps by itself.
        if !put(&self.queue, span) && self.dropped.fetch_add(1, Ordering::Relaxed).is_multiple_of(1_000) {
            tracing::warn!("spans are dropped: more come than can be sent; see otlp_traces_percent");
        }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Tracer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let Some(place) = self.place(fields.take("traceparent").as_deref()) else { return };
        let name = fields.take("name").unwrap_or_else(|| attributes.metadata().name().to_owned());
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(Open { place, name, began: SystemTime::now(), attributes: fields.0 });
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        values.record(&mut fields);
        if let Some(span) = context.span(id)
            && let Some(open) = span.extensions_mut().get_mut::<Open>()
        {
            open.attributes.append(&mut fields.0);
        }
    }

    /// A tick that did what the request asked for has landed.
    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let Some(span) = context.event_span(event) else { return };
        let extensions = span.extensions();
        let Some(request) = extensions.get::<Open>() else { return };
        let mut fields = Fields::default();
        event.record(&mut fields);
        fields.take("message");
        let mut micros = |name| fields.take(name).and_then(|text| text.parse().ok()).map(Duration::from_micros);
        let (Some(tick_took), Some(commit_took)) = (micros("tick_micros"), micros("commit_micros")) else { return };
        let links: Vec<Value> = fields.take("follows").and_then(|headers| link(&headers)).into_iter().collect();
        let now = SystemTime::now();
        let below = |parent: &str| Place { parent: Some(parent.to_owned()), id: id(), ..request.place.clone() };
        let tick = below(&request.place.id);
        let commit = below(&tick.id);
        self.end(written(&commit, "commit", KIND_INTERNAL, (now - commit_took, now), &[]));
        let mut written_tick = written(&tick, "tick", KIND_INTERNAL, (now - tick_took, now), &fields.0);
        if !links.is_empty() {
            written_tick["links"] = json!(links);
        }
        self.end(written_tick);
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        let Some(open) = span.extensions_mut().remove::<Open>() else { return };
        self.end(written(&open.place, &open.name, KIND_SERVER, (open.began, SystemTime::now()), &open.attributes));
    }
}

fn written(
    place: &Place,
    name: &str,
    kind: u8,
    (began, ended): (SystemTime, SystemTime),
    fields: &[(&'static str, String)],
) -> Span {
    let attributes: Vec<Value> = fields.iter().map(|(key, value)| attribute(key, value)).collect();
    let mut span = json!({
        "traceId": place.trace,
        "spanId": place.id,
        "name": name,
        "kind": kind,
        "startTimeUnixNano": nanos(began).to_string(),
        "endTimeUnixNano": nanos(ended).to_string(),
        "attributes": attributes,
    });
    if let Some(parent) = &place.parent {
        span["parentSpanId"] = json!(parent);
    }
    span
}

/// A link to the span that an instance was started from, by the headers that said so.
fn link(headers: &str) -> Option<Value> {
    let headers: Value = serde_json::from_str(headers).ok()?;
    let trace = Trace::parse(headers["traceparent"].as_str()?, headers["tracestate"].as_str())?;
    Some(json!({ "traceId": trace.trace_id(), "spanId": trace.span_id(), "traceState": trace.state.as_deref().unwrap_or("") }))
}

fn id() -> String {
    format!("{:016x}", random().max(1))
}

/// Nobody guesses it, and no two are alike.
fn random() -> u64 {
    static KEY: OnceLock<RandomState> = OnceLock::new();
    static COUNT: AtomicU64 = AtomicU64::new(0);
    KEY.get_or_init(RandomState::new).hash_one(COUNT.fetch_add(1, Ordering::Relaxed))
}

#[derive(Default)]
struct Fields(Vec<(&'static str, String)>);

impl Fields {
    fn take(&mut self, name: &str) -> Option<String> {
        let at = self.0.iter().position(|(known, _)| *known == name)?;
        Some(self.0.swap_remove(at).1)
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.push((field.name(), format!("{value:?}")));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.push((field.name(), value.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_callers_trace_is_followed_or_left_alone() {
        let (trace, span) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
        let tracer = Tracer::new(std::sync::mpsc::sync_channel(1).0, 0);
        assert_eq!(tracer.place(None), None, "none of a hundred");
        assert_eq!(tracer.place(Some(&format!("00-{trace}-{span}-00"))), None, "its owner does not record it");
        let followed = tracer.place(Some(&format!("00-{trace}-{span}-01"))).unwrap();
        assert_eq!((&*followed.trace, followed.parent.as_deref()), (trace, Some(span)));
    }
}
