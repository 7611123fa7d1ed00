//! A worker could not do a job this time.

use axum::response::Response;
use engine::JobKey;
use store::log::{Command, FailJob};

use crate::error::Failure;
use crate::rest::call::Call;
use crate::rest::describe::Kind;
use crate::rest::shape::{Shape, field};

pub(super) static FAILURE: Shape = Shape {
    name: "JobFailRequest",
    fields: &[
        field("retries", Kind::Int32, "How many tries are left; 0 if left out, which raises an incident"),
        field("errorMessage", Kind::Text, "Why it failed"),
        field("retryBackOff", Kind::Int64, "How many milliseconds to wait before the next try; 0 if left out"),
        field("variables", Kind::Object, "Variables for the task alone"),
    ],
};

pub(super) async fn fail(call: Call) -> Result<Response, Failure> {
    let job = JobKey(call.existing_key()?);
    let mut fields = call.optional(&FAILURE)?;
    let command = Command::FailJob(FailJob {
        job,
        retries: fields.int32("retries").unwrap_or_default(),
        message: fields.shared("errorMessage").unwrap_or_default(),
        backoff: fields.number("retryBackOff").unwrap_or_default().max(0),
        variables: fields.document("variables"),
    });
    call.perform("FAIL", command).await
}
