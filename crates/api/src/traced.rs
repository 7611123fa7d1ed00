//! The trace a request is asked from, and the span of the request, for those who trace: below the caller's, if it names one.

use axum::http::{HeaderMap, Method};
use store::log::Trace;
use tracing::{Level, Span};

const PARENT: &str = "traceparent";
const STATE: &str = "tracestate";

/// What a caller says of its own trace, by header or metadata.
pub(crate) fn context<'a>(said: impl Fn(&'static str) -> Option<&'a str>) -> Option<Box<Trace>> {
    Trace::parse(said(PARENT)?, said(STATE)).map(Box::new)
}

pub(crate) fn of_headers(headers: &HeaderMap) -> Option<Box<Trace>> {
    context(|name| headers.get(name).and_then(|value| value.to_str().ok()))
}

pub(crate) fn request(method: &Method, path: &str, headers: &HeaderMap) -> Span {
    if !tracing::enabled!(target: host::TRACED, Level::DEBUG) {
        return Span::none();
    }
    let traceparent = headers.get(PARENT).and_then(|value| value.to_str().ok());
    let name = format!("{method} {path}");
    tracing::debug_span!(target: host::TRACED, "request", name, traceparent, status = tracing::field::Empty)
}
