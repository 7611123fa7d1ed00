//! The span of a request, for those who trace: below the caller's, if it names one.

use axum::http::{HeaderMap, Method};
use tracing::{Level, Span};

pub(crate) fn request(method: &Method, path: &str, headers: &HeaderMap) -> Span {
    if !tracing::enabled!(target: host::TRACED, Level::DEBUG) {
        return Span::none();
    }
    let traceparent = headers.get("traceparent").and_then(|value| value.to_str().ok());
    let name = format!("{method} {path}");
    tracing::debug_span!(target: host::TRACED, "request", name, traceparent, status = tracing::field::Empty)
}
