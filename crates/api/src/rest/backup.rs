//! A backup of a running server.

use std::fs::File;
use std::io::Read as _;

use axum::body::Body;
use axum::http::{HeaderValue, Method, header};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;

use super::answer;
use super::call::Call;
use super::operation::{Input, Operation, Output};
use crate::error::{Failure, Reason};

/// Read and sent at a time.
const PIECE_BYTES: u64 = 256 * 1024;

pub(super) static OPERATIONS: &[Operation] = &[Operation {
    method: Method::POST,
    path: "/v1/backup",
    id: "createBackup",
    summary: "A copy of everything in the embedded store, as of now: one SQLite file",
    input: Input::None,
    query: &[],
    output: Output::Text("application/octet-stream"),
    failures: &[409],
    run: |call| Box::pin(backup(call)),
}];

async fn backup(call: Call) -> Result<Response, Failure> {
    let copy = call.host().store().backup().await.map_err(told)?.ok_or_else(|| {
        let why =
            "Only the embedded store is backed up by the server. Back PostgreSQL up with its own tools, such as pg_basebackup";
        Failure::new(Reason::InvalidState, why)
    })?;
    let length = copy.metadata().map(|found| found.len()).unwrap_or_default();
    let mut response = answer::content("application/octet-stream", Body::from_stream(pieces(copy)));
    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    Ok(response)
}

/// It is copied beside the store before it is sent.
fn told(error: store::Error) -> Failure {
    match error {
        store::Error::Full { .. } => Failure::new(
            Reason::Exhausted,
            "The disk of the store is full: a backup is first copied beside the store, and needs as much room there as the store takes",
        ),
        other => other.into(),
    }
}

fn pieces(file: File) -> impl stream::Stream<Item = std::io::Result<Bytes>> {
    stream::try_unfold(file, async |file| {
        let read = tokio::task::spawn_blocking(move || {
            let mut piece = Vec::new();
            (&file).take(PIECE_BYTES).read_to_end(&mut piece)?;
            std::io::Result::Ok((piece, file))
        });
        let (piece, file) = read.await.map_err(std::io::Error::other)??;
        Ok((!piece.is_empty()).then(|| (Bytes::from(piece), file)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Else those who back up onto another disk look for room there.
    #[test]
    fn a_full_disk_is_said_to_be_that_of_the_store() {
        let failure = told(store::Error::full("database or disk is full"));
        assert!(failure.detail.contains("copied beside the store"), "{failure:?}");
        let other = told(store::Error::unavailable("gone"));
        assert!(!other.detail.contains("copied"), "{other:?}");
    }
}
