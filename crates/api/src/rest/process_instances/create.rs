//! Creates instances.

use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;
use bytes::Bytes;
use engine::{DefinitionKey, Document};
use store::log::{Answer, Command, Create, Created, ProcessRef};

use crate::error::{Failure, Reason};
use crate::rest::answer;
use crate::rest::call::Call;
use crate::rest::describe::Kind;
use crate::rest::layout::{Cell, Layout, column, optional};
use crate::rest::shape::{Fields, Shape, field};
use crate::{document, label};

pub(super) static CREATION: Shape = Shape {
    name: "ProcessInstanceCreationInstruction",
    fields: &[
        field("processDefinitionId", Kind::Text, "The process; this or the key must be given, not both"),
        field("processDefinitionKey", Kind::Key, "One version of a process"),
        field("processDefinitionVersion", Kind::Int32, "With the id: which version; -1 or nothing for the latest"),
        field("variables", Kind::Object, "Variables to begin with"),
        field("tenantId", Kind::Text, "The tenant; the caller's own if left out"),
        field("operationReference", Kind::Int64, "A number of the caller's own, 1 or more; it means nothing to the server"),
        field("startInstructions", Kind::FieldsList(&START), "Elements to begin at, instead of the start event"),
        field("runtimeInstructions", Kind::FieldsList(&RUNTIME), "What is to happen on the way"),
        field(
            "awaitCompletion",
            Kind::Boolean,
            "Whether to answer when the instance has ended, with its variables; false if left out",
        ),
        field("fetchVariables", Kind::Texts, "Names of the variables wanted in the answer; all if empty"),
        field(
            "requestTimeout",
            Kind::Int64,
            "How many milliseconds to wait for the end; as long as the server is set to if left out or 0",
        ),
        field("tags", Kind::Texts, "Up to 10 words by which to find the instance"),
        field("businessId", Kind::Text, "The caller's own name for it, up to 256 characters"),
    ],
};

static START: Shape = Shape {
    name: "ProcessInstanceCreationStartInstruction",
    fields: &[field("elementId", Kind::Text, "The element; not inside anything that is repeated").required()],
};

static RUNTIME: Shape = Shape {
    name: "ProcessInstanceCreationRuntimeInstruction",
    fields: &[
        field("type", Kind::Text, "TERMINATE_PROCESS_INSTANCE"),
        field("afterElementId", Kind::Text, "When this element is completed or terminated").required(),
    ],
};

/// A new instance; with its variables if its end was awaited.
pub(in crate::rest) struct Outcome {
    pub(in crate::rest) created: Created,
    pub(in crate::rest) variables: Document,
}

pub(in crate::rest) static CREATED: Layout<Outcome> = Layout {
    name: "CreateProcessInstanceResult",
    columns: &[
        column("processDefinitionId", Kind::Text, |outcome| Cell::Text(&outcome.created.process_id)),
        column("processDefinitionVersion", Kind::Int32, |outcome| Cell::Number(outcome.created.version.into())),
        column("tenantId", Kind::Text, |outcome| Cell::Text(&outcome.created.tenant)),
        column("variables", Kind::Object, |outcome| {
            if outcome.variables.is_empty() {
                return Cell::Json("{}");
            }
            Cell::Nested(Box::new(|out| document::write(out, &outcome.variables)))
        }),
        column("processDefinitionKey", Kind::Key, |outcome| Cell::Key(outcome.created.definition.0)),
        column("processInstanceKey", Kind::Key, |outcome| Cell::Key(outcome.created.instance.0)),
        column("tags", Kind::Texts, |outcome| Cell::Texts(&outcome.created.tags)),
        optional("businessId", Kind::Text, |outcome| Cell::maybe_text(outcome.created.business_id.as_deref())),
    ],
};

pub(super) async fn create(call: Call) -> Result<Response, Failure> {
    let mut fields = call.required(&CREATION)?;
    let process = process(&mut fields)?;
    super::check_reference(fields.number("operationReference"))?;
    let (start, end_after) = (start(&mut fields), end_after(&mut fields)?);
    let tenant = call.tenant(fields.text("tenantId").as_deref(), "Create Process Instance")?;
    let (tags, business_id) = (tags(&mut fields)?, label::business_id(fields.shared("businessId")).map_err(Failure::invalid)?);
    let variables = fields.document("variables");
    let awaits = fields.boolean("awaitCompletion") == Some(true);
    let timeout = timeout(&call, fields.number("requestTimeout"));
    let fetch = fields.texts("fetchVariables");
    let command = Command::creating(Create { process, tenant, variables, tags, business_id }, start, end_after);
    if awaits && !call.wants_no_answer() {
        return create_and_await(call, command, fetch, timeout).await;
    }
    call.submit("CREATE", command, |answer| match answer {
        Answer::Created(created) => {
            let outcome = Outcome { created: created.clone(), variables: Document::new() };
            Some(answer::ok(CREATED.to_vec(&outcome)))
        }
        _ => None,
    })
    .await
}

async fn create_and_await(
    mut call: Call,
    command: Command,
    fetch: Vec<Arc<str>>,
    timeout: Duration,
) -> Result<Response, Failure> {
    let request = call.request(command)?;
    call.body = Bytes::new();
    let awaited = call.host().create_and_await(request, fetch, timeout).await;
    let awaited = awaited.map_err(|error| Failure::of_command("CREATE", error))?;
    if !awaited.completed {
        let key = awaited.created.instance;
        return Err(Failure::new(
            Reason::InvalidState,
            format!("Expected process instance '{key}' to complete, but it was terminated"),
        ));
    }
    Ok(answer::ok(CREATED.to_vec(&Outcome { created: awaited.created, variables: awaited.variables })))
}

fn process(fields: &mut Fields<'_>) -> Result<ProcessRef, Failure> {
    let version = fields.int32("processDefinitionVersion");
    match (fields.text("processDefinitionId"), fields.key("processDefinitionKey")?) {
        (None, None) => Err(Failure::unreadable("At least one of [processDefinitionId, processDefinitionKey] is required")),
        (Some(_), Some(_)) => Err(Failure::unreadable("Only one of [processDefinitionId, processDefinitionKey] is allowed")),
        (None, Some(key)) => Ok(ProcessRef::Key(DefinitionKey(key))),
        (Some(id), None) => Ok(ProcessRef::Id {
            id: label::process_id(&id).map_err(Failure::invalid)?,
            version: version.filter(|version| *version != -1),
        }),
    }
}

fn start(fields: &mut Fields<'_>) -> Vec<Arc<str>> {
    let instructions = fields.objects("startInstructions").into_iter();
    instructions.filter_map(|mut instruction| instruction.shared("elementId")).collect()
}

fn end_after(fields: &mut Fields<'_>) -> Result<Vec<Arc<str>>, Failure> {
    let mut elements = Vec::new();
    for mut instruction in fields.objects("runtimeInstructions") {
        match instruction.text("type").as_deref() {
            Some("TERMINATE_PROCESS_INSTANCE") | None => elements.extend(instruction.shared("afterElementId")),
            Some(other) => {
                let reason = format!("The runtime instruction '{other}' is not known: only TERMINATE_PROCESS_INSTANCE is");
                return Err(Failure::invalid(reason));
            }
        }
    }
    Ok(elements)
}

fn tags(fields: &mut Fields<'_>) -> Result<Vec<Arc<str>>, Failure> {
    let tags = fields.texts("tags");
    label::check_tags(&tags).map_err(Failure::invalid)?;
    Ok(tags)
}

fn timeout(call: &Call, millis: Option<i64>) -> Duration {
    match millis.map(u64::try_from) {
        Some(Ok(millis)) if 0 < millis => Duration::from_millis(millis).min(call.config().await_timeout_max),
        _ => call.config().await_timeout_default,
    }
}
