//! PublishMessage, BroadcastSignal and EvaluateConditional.

use engine::DefinitionKey;
use store::log::{Answer, Command, EvaluateConditions, Publish};
use tonic::{Response, Status};

use super::call::{Call, key};
use super::refusal::unexpected;
use super::wire;

pub(super) async fn publish(
    call: Call<'_>,
    request: wire::PublishMessageRequest,
) -> Result<Response<wire::PublishMessageResponse>, Status> {
    let command = Command::Publish(Publish {
        tenant: call.tenant("PublishMessage", &request.tenant_id)?,
        variables: call.variables(&request.variables)?,
        name: request.name.into(),
        correlation_key: request.correlation_key.into(),
        id: request.message_id.into(),
        time_to_live: request.time_to_live,
    });
    match call.submit("PUBLISH", command).await? {
        Answer::Published { key, tenant } => {
            Ok(Response::new(wire::PublishMessageResponse { key: key as i64, tenant_id: tenant.to_string() }))
        }
        other => Err(unexpected(&other)),
    }
}

pub(super) async fn broadcast(
    call: Call<'_>,
    request: wire::BroadcastSignalRequest,
) -> Result<Response<wire::BroadcastSignalResponse>, Status> {
    let command = Command::Broadcast {
        tenant: call.tenant("BroadcastSignal", &request.tenant_id)?,
        variables: call.variables(&request.variables)?,
        name: request.signal_name.into(),
    };
    match call.submit("BROADCAST", command).await? {
        Answer::Published { key, tenant } => {
            Ok(Response::new(wire::BroadcastSignalResponse { key: key as i64, tenant_id: tenant.to_string() }))
        }
        other => Err(unexpected(&other)),
    }
}

pub(super) async fn evaluate(
    call: Call<'_>,
    request: wire::EvaluateConditionalRequest,
) -> Result<Response<wire::EvaluateConditionalResponse>, Status> {
    let command = Command::EvaluateConditions(EvaluateConditions {
        tenant: call.tenant("EvaluateConditional", &request.tenant_id)?,
        definition: request.process_definition_key.map(|given| DefinitionKey(key(given))),
        variables: call.variables(&request.variables)?,
    });
    match call.submit("EVALUATE", command).await? {
        Answer::Started { key, tenant, instances } => {
            let reference = |(definition, instance): &(DefinitionKey, engine::InstanceKey)| wire::ProcessInstanceReference {
                process_definition_key: definition.0 as i64,
                process_instance_key: instance.0 as i64,
            };
            Ok(Response::new(wire::EvaluateConditionalResponse {
                process_instances: instances.iter().map(reference).collect(),
                conditional_evaluation_key: key as i64,
                tenant_id: tenant.to_string(),
            }))
        }
        other => Err(unexpected(&other)),
    }
}
