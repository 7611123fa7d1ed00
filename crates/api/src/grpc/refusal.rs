//! What a caller is told instead of an answer.

use store::log::{Answer, Code, Rejection};
use tonic::Status;

use crate::error::{Failure, rejected};

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
