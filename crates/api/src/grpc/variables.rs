//! SetVariables.

use engine::ElementKey;
use store::log::{Answer, Command};
use tonic::{Request, Response, Status};

use super::gateway::Gateway;
use super::submit::{key, submit, unexpected, variables};
use super::wire;

pub(super) async fn set(
    gateway: &Gateway,
    request: Request<wire::SetVariablesRequest>,
) -> Result<Response<wire::SetVariablesResponse>, Status> {
    let (metadata, _, request) = request.into_parts();
    let command = Command::SetVariables {
        scope: ElementKey(key(request.element_instance_key)),
        variables: variables(gateway, &request.variables)?,
        local: request.local,
    };
    match submit(gateway, &metadata, "UPDATE", command).await? {
        Answer::VariablesSet { key } => Ok(Response::new(wire::SetVariablesResponse { key: key as i64 })),
        other => Err(unexpected(&other)),
    }
}
