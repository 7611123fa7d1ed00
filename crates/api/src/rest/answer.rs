//! Answers on the wire.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use http_body::{Frame, SizeHint};

use super::layout::Layout;
use crate::budget::Held;
use crate::error::Failure;
use crate::json;

/// When a piece of an answer is long enough; a long value makes it longer.
const PIECE_BYTES: usize = 64 * 1024;
const PIECE_BYTES_FIRST: usize = 1024;

pub(super) fn ok(json: Vec<u8>) -> Response {
    respond(StatusCode::OK, "application/json", json)
}

/// Something new.
pub(super) fn created(json: Vec<u8>) -> Response {
    respond(StatusCode::CREATED, "application/json", json)
}

/// A command done with nothing to tell.
pub(super) fn no_content() -> Response {
    respond(StatusCode::NO_CONTENT, "application/json", Vec::new())
}

/// The command is in the log; what becomes of it can be asked for.
pub(super) fn accepted(position: u64) -> Response {
    respond(StatusCode::ACCEPTED, "application/json", format!("{{\"commandPosition\":\"{position}\"}}").into_bytes())
}

/// As it is, of this media type.
pub(super) fn content(media: &'static str, content: impl Into<Body>) -> Response {
    respond(StatusCode::OK, media, content)
}

/// JSON as it is being written, piece by piece: each piece counts as held from the time it is written until the client has taken it.
pub(super) struct Writing {
    held: Held,
    pieces: VecDeque<Bytes>,
    out: Vec<u8>,
}

impl Writing {
    /// Into what is held already, and more if need be.
    pub(super) fn new(held: Held) -> Self {
        Self { held, pieces: VecDeque::new(), out: Vec::with_capacity(PIECE_BYTES_FIRST) }
    }

    pub(super) fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// A list. What has been written is dropped at once, so that hardly anything is there twice.
    pub(super) fn list<T>(&mut self, layout: &Layout<T>, values: Vec<T>) -> Result<(), Failure> {
        self.out.push(b'[');
        for (index, value) in values.into_iter().enumerate() {
            if 0 < index {
                self.out.push(b',');
            }
            layout.write(&mut self.out, &value);
            if PIECE_BYTES <= self.out.len() {
                self.settle()?;
                self.out.reserve(PIECE_BYTES);
            }
        }
        self.out.push(b']');
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Response, Failure> {
        self.settle()?;
        Ok(respond(StatusCode::OK, "application/json", Body::new(Pieces(self.pieces))))
    }

    /// What is not written yet keeps its room.
    fn settle(&mut self) -> Result<(), Failure> {
        let mut piece = std::mem::take(&mut self.out);
        piece.shrink_to_fit();
        let held = self.held.split(piece.capacity())?;
        self.pieces.push_back(held.keep(piece));
        Ok(())
    }
}

struct Pieces(VecDeque<Bytes>);

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.iter().map(|piece| piece.len() as u64).sum())
    }
}

/// `application/problem+json` after RFC 9457.
pub(super) fn problem(failure: &Failure, instance: &str) -> Response {
    let status = failure.reason.http_status();
    if super::workflows::owns(instance) {
        return contract(failure, status);
    }
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

/// As the contract of JSON workflows has it: clients in the field read `message` or `reason`.
fn contract(failure: &Failure, status: u16) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut out = format!("{{\"error\":\"{}\"", word(status)).into_bytes();
    for name in ["message", "reason"] {
        out.extend_from_slice(format!(",\"{name}\":").as_bytes());
        json::write_text(&mut out, &failure.detail);
    }
    out.push(b'}');
    respond(status, "application/json", out)
}

/// What callers of it branch on.
fn word(status: StatusCode) -> String {
    status.canonical_reason().unwrap_or("Error").to_uppercase().replace([' ', '-'], "_")
}

fn respond(status: StatusCode, media: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every status of the table of titles has its word in that of JSON workflows.
    #[test]
    fn the_page_of_errors_has_every_word_of_a_status() {
        let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors.md")).unwrap();
        let rows = page.lines().filter(|line| line.starts_with("| `"));
        let statuses = rows.filter_map(|row| row.split(" | ").nth(1)).flat_map(|cell| cell.split([',', ' ']));
        let statuses: Vec<StatusCode> = statuses.filter_map(|word| word.parse().ok()).collect();
        assert!(17 < statuses.len(), "{statuses:?}");
        for status in statuses {
            let row = format!("| {} | `{}` |", status.as_u16(), word(status));
            assert!(page.lines().any(|line| line == row), "there is no row '{row}'");
        }
    }
}
