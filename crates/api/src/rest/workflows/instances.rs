//! Instances: started, shown, cancelled, tried again; their steps told to go on.

use std::sync::Arc;

use axum::response::Response;

use super::{commanding, given, page, usual_page, workflows};
use crate::document;
use crate::error::Failure;
use crate::rest::answer::{self, Writing};
use crate::rest::call::Call;
use crate::rest::describe::Kind;
use crate::rest::layout::{Cell, Layout, column, optional};
use crate::rest::path;
use crate::rest::shape::{Shape, field};
use crate::workflow::{Execution, Instance, ListInstances, Listed, Start, Status, Told};

pub(super) const STATUSES: &[&str] = &["ACTIVE", "WAITING", "COMPLETED", "FAILED", "CANCELLED"];
const EXECUTION_STATUSES: &[&str] = &["RUNNING", "COMPLETED", "FAILED", "SKIPPED"];
const HISTORY_SIZE_DEFAULT: u32 = 1_000;
const HISTORY_SIZE_MAX: u32 = 10_000;

pub(super) static START: Shape = Shape {
    name: "WorkflowStart",
    fields: &[
        field("definitionId", Kind::Text, "The workflow").required(),
        field("definitionVersion", Kind::Int32, "Which version; the latest if left out"),
        field("variables", Kind::Object, "Variables to begin with"),
        field("businessKey", Kind::Text, "The caller's own name for it, up to 256 characters"),
    ],
};

pub(super) static COMPLETION: Shape = Shape {
    name: "WorkflowUserTaskCompletion",
    fields: &[field("completedBy", Kind::Text, "Who has done it"), field("result", Kind::Object, "Merged into the variables")],
};

pub(super) static LAYOUT: Layout<Instance> = Layout {
    name: "WorkflowInstanceResult",
    columns: &[
        column("id", Kind::Text, |instance| Cell::Key(instance.key.0)),
        column("definitionId", Kind::Text, |instance| Cell::Text(&instance.definition_id)),
        column("definitionVersion", Kind::Int32, |instance| Cell::Number(instance.version.into())),
        column("status", Kind::Word(STATUSES), |instance| Cell::Text(instance.status.word())),
        column("currentStepIds", Kind::Texts, |instance| Cell::Strings(&instance.current_steps)),
        column("variables", Kind::Object, |instance| Cell::Nested(Box::new(|out| document::write(out, &instance.variables)))),
        column("startedAt", Kind::Time, |instance| Cell::Time(instance.started)),
        optional("completedAt", Kind::Time, |instance| Cell::maybe(instance.completed, Cell::Time)),
        optional("failureReason", Kind::Text, |instance| Cell::maybe_text(instance.failure.as_deref())),
        optional("businessKey", Kind::Text, |instance| Cell::maybe_text(instance.business_key.as_deref())),
        optional("previousInstanceId", Kind::Text, |instance| Cell::maybe_text(instance.previous.as_deref())),
    ],
};

pub(super) static LISTED: Layout<Listed<Instance>> = Layout {
    name: "WorkflowInstancePage",
    columns: &[
        column("items", Kind::NestedList(&LAYOUT), |page| Cell::Nested(Box::new(|out| LAYOUT.write_list(out, &page.items)))),
        column("total", Kind::Int64, |page| Cell::Number(page.total as i64)),
    ],
};

static EXECUTION: Layout<Execution> = Layout {
    name: "WorkflowStepExecution",
    columns: &[
        column("id", Kind::Text, |execution| Cell::Text(&execution.id)),
        column("instanceId", Kind::Text, |execution| Cell::Key(execution.instance.0)),
        column("stepId", Kind::Text, |execution| Cell::Text(&execution.step)),
        column("stepType", Kind::Text, |execution| Cell::Text(&execution.step_type)),
        column("attemptNumber", Kind::Int32, |execution| Cell::Number(execution.attempt.into())),
        column("status", Kind::Word(EXECUTION_STATUSES), |execution| Cell::Text(execution.status.word())),
        column("startedAt", Kind::Time, |execution| Cell::Time(execution.started)),
        optional("endedAt", Kind::Time, |execution| Cell::maybe(execution.ended, Cell::Time)),
        optional("failureReason", Kind::Text, |execution| Cell::maybe_text(execution.failure.as_deref())),
        optional("workerId", Kind::Text, |execution| Cell::maybe_text(execution.worker.as_deref())),
    ],
};

pub(super) static HISTORY: Layout<Listed<Execution>> = Layout {
    name: "WorkflowHistory",
    columns: &[
        column("items", Kind::NestedList(&EXECUTION), |page| {
            Cell::Nested(Box::new(|out| EXECUTION.write_list(out, &page.items)))
        }),
        column("total", Kind::Int64, |page| Cell::Number(page.total as i64)),
    ],
};

pub(super) async fn start(call: Call) -> Result<Response, Failure> {
    let mut fields = call.required(&START)?;
    let definition_id = fields.shared("definitionId").filter(|id| !id.is_empty());
    let definition_id = definition_id.ok_or_else(|| Failure::invalid("definitionId is needed"))?;
    // 0 is the latest for those who speak gRPC as well.
    let version = fields.int32("definitionVersion").filter(|version| *version != 0);
    let (variables, business_key) = (fields.document("variables"), fields.shared("businessKey"));
    let instance = commanding(&call)?.start(Start { definition_id, version, variables, business_key }).await?;
    Ok(answer::created(LAYOUT.to_vec(&instance)))
}

pub(super) async fn list(call: Call) -> Result<Response, Failure> {
    let parameters = call.parameters()?;
    let (page, page_size) = usual_page(&parameters)?;
    let status =
        given(&parameters, "status").map(|word| Status::parse(word).ok_or_else(|| path::no_such_word(word, "status", STATUSES)));
    let list = ListInstances {
        definition_id: given(&parameters, "definitionId").map(str::to_owned),
        status: status.transpose()?,
        business_key: given(&parameters, "businessKey").map(str::to_owned),
        page,
        page_size,
    };
    let room = call.room(call.config().page_bytes_max).await?;
    let listed = workflows(&call).instances(&list).await?;
    let mut writing = Writing::new(room);
    LISTED.write(writing.out(), &listed);
    writing.finish()
}

pub(super) async fn get(call: Call) -> Result<Response, Failure> {
    let id = call.parameter("instanceId")?;
    let room = call.room(call.config().page_bytes_max).await?;
    let instance = workflows(&call).instance(&id).await?;
    let mut writing = Writing::new(room);
    LAYOUT.write(writing.out(), &instance);
    writing.finish()
}

pub(super) async fn history(call: Call) -> Result<Response, Failure> {
    let id = call.parameter("instanceId")?;
    let (page, page_size) = page(&call.parameters()?, HISTORY_SIZE_DEFAULT, HISTORY_SIZE_MAX)?;
    let room = call.room(call.config().page_bytes_max).await?;
    let listed = workflows(&call).history(&id, page, page_size).await?;
    let mut writing = Writing::new(room);
    HISTORY.write(writing.out(), &listed);
    writing.finish()
}

pub(super) async fn cancel(call: Call) -> Result<Response, Failure> {
    let instance = commanding(&call)?.cancel(&call.parameter("instanceId")?).await?;
    Ok(answer::ok(LAYOUT.to_vec(&instance)))
}

pub(super) async fn retry(call: Call) -> Result<Response, Failure> {
    let instance = commanding(&call)?.retry(&call.parameter("instanceId")?).await?;
    Ok(answer::ok(LAYOUT.to_vec(&instance)))
}

pub(super) async fn complete_user_task(call: Call) -> Result<Response, Failure> {
    let mut fields = call.optional(&COMPLETION)?;
    let (by, variables) = (fields.shared("completedBy").filter(|by| !by.is_empty()), fields.document("result"));
    tell(&call, |step, buffer| Told { step, is_task: true, by, variables, buffer }).await
}

pub(super) async fn signal(call: Call) -> Result<Response, Failure> {
    let variables = document::parse(call.text()?, call.host().limits())?;
    tell(&call, |step, buffer| Told { step, is_task: false, by: None, variables, buffer }).await
}

async fn tell(call: &Call, told: impl FnOnce(Arc<str>, bool) -> Told) -> Result<Response, Failure> {
    call.parameters()?;
    let buffer = call.flag("buffer")?.unwrap_or(false);
    let (instance, step) = (call.parameter("instanceId")?, call.parameter("stepId")?);
    commanding(call)?.tell(&instance, told(step.into(), buffer)).await?;
    Ok(answer::no_content())
}
