//! A worker throws a BPMN error.

use axum::response::Response;
use engine::JobKey;
use store::log::{Command, ThrowError};

use crate::error::Failure;
use crate::rest::call::Call;
use crate::rest::describe::Kind;
use crate::rest::shape::{Shape, field};

pub(super) static ERROR: Shape = Shape {
    name: "JobErrorRequest",
    fields: &[
        field("errorCode", Kind::Text, "The code by which it is caught").required(),
        field("errorMessage", Kind::Text, "Why"),
        field("variables", Kind::Object, "Variables for whoever catches it"),
    ],
};

pub(super) async fn throw(call: Call) -> Result<Response, Failure> {
    let job = JobKey(call.existing_key()?);
    let mut fields = call.required(&ERROR)?;
    let code = fields.shared("errorCode").filter(|code| !code.is_empty());
    let code = code.ok_or_else(|| Failure::invalid("No errorCode provided."))?;
    let message = fields.shared("errorMessage").unwrap_or_default();
    let variables = fields.document("variables");
    call.perform("THROW_ERROR", Command::ThrowError(ThrowError { job, code, message, variables })).await
}
