//! From a call to the host and back: one command, one answer.

use engine::Document;
use store::log::{Answer, Code, Command, Rejection};
use tonic::Status;
use tonic::metadata::MetadataMap;

use super::gateway::Gateway;
use super::idempotency;
use crate::document;
use crate::error::{Failure, rejected};

/// Submits a command. `intent` is the word for it that clients look for when it is refused.
pub(super) async fn submit(
    gateway: &Gateway,
    metadata: &MetadataMap,
    intent: &'static str,
    command: Command,
) -> Result<Answer, Status> {
    let request = idempotency::request(metadata, command)?;
    gateway.host.submit(request).await.map_err(|error| failed(intent, error))
}

pub(super) fn failed(intent: &'static str, error: host::Error) -> Status {
    Failure::of_command(intent, error).into()
}

/// Refused here, in the words in which the host refuses.
pub(super) fn refused(intent: &'static str, reason: String) -> Status {
    rejected(intent, &Rejection { code: Code::InvalidArgument, reason }).into()
}

/// An answer of another kind than its command's.
pub(super) fn unexpected(answer: &Answer) -> Status {
    tracing::error!(?answer, "the host gave the answer of another command");
    Status::internal("the server failed to handle the request; its log says why")
}

/// Variables as text; none may be written as nothing or as `null`.
pub(super) fn variables(gateway: &Gateway, text: &str) -> Result<Document, Status> {
    if text.is_empty() || text.trim() == "null" {
        return Ok(Document::new());
    }
    let document = document::parse(text, gateway.host.limits());
    document.map_err(|error| Failure::from(error).into())
}

/// A key as clients write it. No key is negative or 0: neither names anything.
pub(super) fn key(given: i64) -> u64 {
    u64::try_from(given).unwrap_or(0)
}
