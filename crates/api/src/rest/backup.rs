//! A backup of a running server.

use std::fs::File;
use std::io::Read as _;
use std::time::Instant;

use axum::body::Body;
use axum::http::{HeaderValue, Method, header};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use store::backup::{Brake, Copied, Rate};

use super::answer;
use super::call::Call;
use super::describe::Kind;
use super::layout::{Cell, Layout, column, optional};
use super::operation::{Input, Operation, Output};
use super::shape::field;
use crate::error::{Failure, Reason};

/// Read and sent at a time.
const PIECE_BYTES: u64 = 256 * 1024;

const BYTES_PER_SECOND: &str = "bytesPerSecond";

pub(super) static OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::POST,
        path: "/v1/backup",
        id: "createBackup",
        summary: "A copy of everything in the embedded store, as of now: one SQLite file",
        input: Input::None,
        query: &[field(
            BYTES_PER_SECOND,
            Kind::Int64,
            "How fast it is copied, and sent, at most; 1000000 or more, or 0 for no limit; 50000000 if left out",
        )],
        output: Output::Text("application/octet-stream"),
        failures: &[409],
        run: |call| Box::pin(backup(call)),
    },
    Operation {
        method: Method::GET,
        path: "/v1/backup",
        id: "getBackupProgress",
        summary: "How far the copy is that a backup in the making is sent from",
        input: Input::None,
        query: &[],
        output: Output::Object(&PROGRESS),
        failures: &[],
        run: |call| Box::pin(progress(call)),
    },
];

static PROGRESS: Layout<Option<Copied>> = Layout {
    name: "BackupProgress",
    columns: &[
        column("isCopying", Kind::Boolean, |copied| Cell::Boolean(copied.is_some())),
        optional("copiedBytes", Kind::Int64, |copied| Cell::maybe(*copied, |copied| Cell::Number(copied.bytes as i64))),
        optional("totalBytes", Kind::Int64, |copied| Cell::maybe(*copied, |copied| Cell::Number(copied.total as i64))),
    ],
};

async fn progress(call: Call) -> Result<Response, Failure> {
    Ok(answer::ok(PROGRESS.to_vec(&call.host().store().backup_copied())))
}

async fn backup(call: Call) -> Result<Response, Failure> {
    let rate = rate(&call)?;
    let copy = call.host().store().backup(rate).await.map_err(told)?.ok_or_else(|| {
        let why =
            "Only the embedded store is backed up by the server. Back PostgreSQL up with its own tools, such as pg_basebackup";
        Failure::new(Reason::InvalidState, why)
    })?;
    let length = copy.metadata().map(|found| found.len()).unwrap_or_default();
    let mut response = answer::content("application/octet-stream", Body::from_stream(pieces(copy, rate)));
    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    Ok(response)
}

fn rate(call: &Call) -> Result<Rate, Failure> {
    let Some((_, text)) = call.parameters()?.into_iter().find(|(name, _)| name == BYTES_PER_SECOND) else {
        return Ok(Rate::DEFAULT);
    };
    let unreadable = |_| Failure::unreadable(format!("Failed to convert '{BYTES_PER_SECOND}' with value: '{text}'"));
    match text.parse::<u64>().map_err(unreadable)? {
        0 => Ok(Rate::UNLIMITED),
        bytes => Rate::of(bytes).ok_or_else(|| {
            let least = Rate::BYTES_MIN;
            Failure::invalid(format!(
                "The value for {BYTES_PER_SECOND} is '{bytes}' but must be {least} or more, or 0 for no limit."
            ))
        }),
    }
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

/// Whoever takes it may be on the same disk.
fn pieces(file: File, rate: Rate) -> impl stream::Stream<Item = std::io::Result<Bytes>> {
    let brake = Brake::new(rate, Instant::now());
    stream::try_unfold((file, brake), async |(file, mut brake)| {
        let read = tokio::task::spawn_blocking(move || {
            let mut piece = Vec::new();
            (&file).take(PIECE_BYTES).read_to_end(&mut piece)?;
            std::io::Result::Ok((piece, file))
        });
        let (piece, file) = read.await.map_err(std::io::Error::other)??;
        tokio::time::sleep(brake.passed(piece.len() as u64, Instant::now())).await;
        Ok((!piece.is_empty()).then(|| (Bytes::from(piece), (file, brake))))
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
