//! Changes the retries or the lease of a job.

use axum::response::Response;
use engine::JobKey;
use store::log::{Command, UpdateJob};

use crate::error::Failure;
use crate::rest::call::Call;
use crate::rest::describe::Kind;
use crate::rest::shape::{Shape, field};

pub(super) static UPDATE: Shape = Shape {
    name: "JobUpdateRequest",
    fields: &[
        field("changeset", Kind::Fields(&CHANGES), "What to change").required(),
        field("operationReference", Kind::Int64, "A number of the caller's own; it means nothing to the server"),
    ],
};

static CHANGES: Shape = Shape {
    name: "JobChangeset",
    fields: &[
        field("retries", Kind::Int32, "How many tries are left, 1 or more"),
        field("timeout", Kind::Int64, "For how many milliseconds from now the worker keeps it"),
    ],
};

pub(super) async fn update(call: Call) -> Result<Response, Failure> {
    let job = JobKey(call.existing_key()?);
    let mut fields = call.required(&UPDATE)?;
    let mut changes = fields.object("changeset").ok_or_else(|| Failure::invalid("No changeset provided."))?;
    let (retries, timeout) = (changes.int32("retries"), changes.number("timeout"));
    if retries.is_none() && timeout.is_none() {
        return Err(Failure::invalid("At least one of [retries, timeout] is required."));
    }
    call.perform("UPDATE", Command::UpdateJob(UpdateJob { job, retries, timeout })).await
}
