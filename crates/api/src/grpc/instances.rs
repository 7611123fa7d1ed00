//! CreateProcessInstance, with and without waiting for its result, and CancelProcessInstance.

use std::sync::Arc;
use std::time::Duration;

use engine::{DefinitionKey, InstanceKey};
use store::log::{Answer, Command, Create, Created, ProcessRef};
use tonic::{Response, Status};

use super::call::{Call, key};
use super::refusal::{failed, refused, unexpected};
use super::{wire, worker};
use crate::{document, label};

const CREATE: &str = "CREATE";
const CREATE_AND_AWAIT: &str = "CREATE_WITH_AWAITING_RESULT";

/// A caller that asks for longer is told after this that it was too long.
const RESULT_WAIT_MAX: Duration = Duration::from_secs(60 * 60);

pub(super) async fn create(
    call: Call<'_>,
    request: wire::CreateProcessInstanceRequest,
) -> Result<Response<wire::CreateProcessInstanceResponse>, Status> {
    let command = command(&call, CREATE, "CreateProcessInstance", request)?;
    match call.submit(CREATE, command).await? {
        Answer::Created(created) => Ok(Response::new(response(created))),
        other => Err(unexpected(&other)),
    }
}

pub(super) async fn create_with_result(
    call: Call<'_>,
    request: wire::CreateProcessInstanceWithResultRequest,
) -> Result<Response<wire::CreateProcessInstanceWithResultResponse>, Status> {
    let inner = request.request.unwrap_or_default();
    let command = command(&call, CREATE_AND_AWAIT, "CreateProcessInstanceWithResult", inner)?;
    let command = call.request(command)?;
    let wait = match request.request_timeout {
        ..1 => call.gateway.config.result_wait,
        1.. => Duration::from_millis(request.request_timeout.unsigned_abs()).min(RESULT_WAIT_MAX),
    };
    let fetch = worker::names(request.fetch_variables);
    let awaited = call.host().create_and_await(command, fetch, wait).await;
    let awaited = awaited.map_err(|error| failed(CREATE_AND_AWAIT, error))?;
    let created = response(awaited.created);
    if !awaited.completed {
        // Not a failed precondition, by which clients understand that the process cannot be started.
        let key = created.process_instance_key;
        return Err(Status::aborted(format!("the process instance with key '{key}' was terminated before it had a result")));
    }
    Ok(Response::new(wire::CreateProcessInstanceWithResultResponse {
        process_definition_key: created.process_definition_key,
        bpmn_process_id: created.bpmn_process_id,
        version: created.version,
        process_instance_key: created.process_instance_key,
        variables: document::to_json(&awaited.variables),
        tenant_id: created.tenant_id,
        tags: created.tags,
        // Camunda always sends it with a result, and without one only when it is there.
        business_id: Some(created.business_id.unwrap_or_default()),
    }))
}

pub(super) async fn cancel(
    call: Call<'_>,
    request: wire::CancelProcessInstanceRequest,
) -> Result<Response<wire::CancelProcessInstanceResponse>, Status> {
    let command = Command::Cancel { instance: InstanceKey(key(request.process_instance_key)) };
    call.submit("CANCEL", command).await?;
    Ok(Response::new(wire::CancelProcessInstanceResponse {}))
}

fn command(
    call: &Call<'_>,
    intent: &'static str,
    name: &'static str,
    request: wire::CreateProcessInstanceRequest,
) -> Result<Command, Status> {
    let start = request.start_instructions.into_iter().map(|instruction| instruction.element_id.into()).collect();
    let end_after = request.runtime_instructions.into_iter().map(|instruction| end_after(intent, instruction));
    let end_after = end_after.collect::<Result<_, _>>()?;
    let create = Create {
        tenant: call.tenant(name, &request.tenant_id)?,
        variables: call.variables(&request.variables)?,
        tags: tags(request.tags).map_err(|reason| refused(intent, reason))?,
        business_id: label::business_id(request.business_id.map(Arc::from)).map_err(|reason| refused(intent, reason))?,
        process: process(request.process_definition_key, request.bpmn_process_id, request.version),
    };
    Ok(Command::creating(create, start, end_after))
}

fn end_after(intent: &'static str, instruction: wire::ProcessInstanceCreationRuntimeInstruction) -> Result<Arc<str>, Status> {
    use wire::process_instance_creation_runtime_instruction::Instruction;
    match instruction.instruction {
        Some(Instruction::Terminate(terminate)) => Ok(terminate.after_element_id.into()),
        None => Err(refused(intent, "a runtime instruction says nothing that is known here".to_owned())),
    }
}

/// By id where there is one; a negative version is the latest.
fn process(definition: i64, id: String, version: i32) -> ProcessRef {
    if id.is_empty() {
        return ProcessRef::Key(DefinitionKey(key(definition)));
    }
    ProcessRef::Id { id: id.into(), version: (0 <= version).then_some(version) }
}

fn tags(given: Vec<String>) -> Result<Vec<Arc<str>>, String> {
    let tags = worker::names(given);
    label::check_tags(&tags)?;
    Ok(tags)
}

fn response(created: Created) -> wire::CreateProcessInstanceResponse {
    wire::CreateProcessInstanceResponse {
        process_definition_key: created.definition.0 as i64,
        bpmn_process_id: created.process_id.as_ref().to_owned(),
        version: created.version,
        process_instance_key: created.instance.0 as i64,
        tenant_id: created.tenant.as_ref().to_owned(),
        tags: created.tags.iter().map(|tag| tag.as_ref().to_owned()).collect(),
        business_id: created.business_id.map(|id| id.as_ref().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_goes_by_its_id_before_its_key() {
        let latest = ProcessRef::Id { id: "bake".into(), version: None };
        assert_eq!(process(7, "bake".to_owned(), -1), latest);
        assert_eq!(process(0, "bake".to_owned(), 0), ProcessRef::Id { id: "bake".into(), version: Some(0) });
        assert_eq!(process(7, String::new(), 0), ProcessRef::Key(DefinitionKey(7)));
        assert_eq!(process(-7, String::new(), 0), ProcessRef::Key(DefinitionKey(0)));
    }
}
