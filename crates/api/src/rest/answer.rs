//! Answers on the wire.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;

use crate::error::Failure;
use crate::json;

pub(super) fn ok(json: Vec<u8>) -> Response {
    respond(StatusCode::OK, "application/json", json)
}

/// A command done with nothing to tell.
pub(super) fn no_content() -> Response {
    respond(StatusCode::NO_CONTENT, "application/json", Vec::new())
}

/// The command is in the log; what becomes of it can be asked for.
pub(super) fn accepted(position: u64) -> Response {
    respond(StatusCode::ACCEPTED, "application/json", format!("{{\"commandPosition\":\"{position}\"}}").into_bytes())
}

pub(super) fn text(media: &'static str, text: impl Into<Body>) -> Response {
    respond(StatusCode::OK, media, text)
}

/// `application/problem+json` after RFC 9457.
pub(super) fn problem(failure: &Failure, instance: &str) -> Response {
    let status = failure.reason.http_status();
    let mut out = Vec::with_capacity(256);
    out.extend_from_slice(b"{\"type\":\"about:blank\",\"title\":\"");
    out.extend_from_slice(failure.reason.title().as_bytes());
    out.extend_from_slice(format!("\",\"status\":{status},\"detail\":").as_bytes());
    json::write_text(&mut out, &failure.detail);
    out.extend_from_slice(b",\"instance\":");
    json::write_text(&mut out, instance);
    out.push(b'}');
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    respond(status, "application/problem+json", out)
}

fn respond(status: StatusCode, media: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
    response
}
