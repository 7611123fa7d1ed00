//! Forms: what a person is shown to do a task.

use axum::http::Method;
use axum::response::Response;
use engine::{FormKey, PartitionId};
use store::row::{Definition, Form};

use super::answer;
use super::call::Call;
use super::describe::Kind;
use super::layout::{Cell, Layout, column};
use super::operation::{Input, Operation, Output};
use super::resources;
use super::shape::existing;
use crate::error::Failure;

pub(super) static OPERATIONS: &[Operation] = &[Operation {
    method: Method::GET,
    path: "/v2/forms/{formKey}",
    id: "getFormByKey",
    summary: "A form, deleted or not",
    input: Input::None,
    query: &[],
    output: Output::Object(&LAYOUT),
    failures: &[404],
    run: |call| Box::pin(get(call)),
}];

/// A form with its content.
pub(super) struct Shown {
    form: Form,
    schema: String,
}

pub(super) static LAYOUT: Layout<Shown> = Layout {
    name: "FormResult",
    columns: &[
        column("tenantId", Kind::Text, |shown| Cell::Text(&shown.form.tenant)),
        column("formId", Kind::Text, |shown| Cell::Text(&shown.form.id)),
        column("schema", Kind::Text, |shown| Cell::Text(&shown.schema)),
        column("version", Kind::Int64, |shown| Cell::Number(shown.form.version.into())),
        column("formKey", Kind::Key, |shown| Cell::Key(shown.form.key.0)),
    ],
};

async fn get(call: Call) -> Result<Response, Failure> {
    let key = call.key()?;
    let found = answered(&call, FormKey(existing(key))).await?;
    found.ok_or_else(|| Failure::not_found(format!("Form with key '{key}' not found")))
}

/// Answers with the form that a person is shown who starts the process.
pub(super) async fn of_start(call: &Call, definition: &Definition) -> Result<Option<Response>, Failure> {
    let Some(form) = &definition.start_form else { return Ok(None) };
    let Ok(partition) = u16::try_from(PartitionId::of(definition.key.0)) else { return Ok(None) };
    let versions = call.host().store().forms_named(PartitionId(partition), &form.id, &definition.tenant).await?;
    match definition.start_form_among(&versions) {
        Some(form) => answered(call, form.key).await,
        None => Ok(None),
    }
}

/// Answers with a form, if there is one that the caller may see.
pub(super) async fn answered(call: &Call, key: FormKey) -> Result<Option<Response>, Failure> {
    let form = call.host().store().form(key).await?.filter(|form| call.caller.sees(&form.tenant));
    let Some(form) = form else { return Ok(None) };
    let Some((resource, _room)) = resources::read(call, form.resource).await? else { return Ok(None) };
    let schema = String::from_utf8_lossy(&resource.content).into_owned();
    Ok(Some(answer::ok(LAYOUT.to_vec(&Shown { form, schema }))))
}
