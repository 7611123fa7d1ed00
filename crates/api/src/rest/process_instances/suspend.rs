//! Suspending a process instance, and letting it go on.

use axum::response::Response;
use engine::InstanceKey;
use store::log::Command;

use super::super::call::Call;
use super::super::describe::Kind;
use super::super::shape::{Shape, field};
use super::check_reference;
use crate::error::Failure;

pub(super) static SUSPENSION: Shape = Shape {
    name: "SuspendProcessInstanceRequest",
    fields: &[field(
        "operationReference",
        Kind::Int64,
        "A number of the caller's own, 1 or more; it means nothing to the server",
    )],
};

pub(super) static RESUMPTION: Shape = Shape {
    name: "ResumeProcessInstanceRequest",
    fields: &[field(
        "operationReference",
        Kind::Int64,
        "A number of the caller's own, 1 or more; it means nothing to the server",
    )],
};

pub(super) async fn suspend(call: Call) -> Result<Response, Failure> {
    let instance = InstanceKey(call.existing_key()?);
    check_reference(call.optional(&SUSPENSION)?.number("operationReference"))?;
    call.perform("SUSPEND", Command::Suspend { instance }).await
}

pub(super) async fn resume(call: Call) -> Result<Response, Failure> {
    let instance = InstanceKey(call.existing_key()?);
    check_reference(call.optional(&RESUMPTION)?.number("operationReference"))?;
    call.perform("RESUME", Command::Resume { instance }).await
}
