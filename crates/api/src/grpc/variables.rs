//! SetVariables.

use engine::ElementKey;
use store::log::{Answer, Command};
use tonic::{Response, Status};

use super::call::{Call, key};
use super::refusal::unexpected;
use super::wire;

pub(super) async fn set(
    call: Call<'_>,
    request: wire::SetVariablesRequest,
) -> Result<Response<wire::SetVariablesResponse>, Status> {
    let command = Command::SetVariables {
        scope: ElementKey(key(request.element_instance_key)),
        variables: call.variables(&request.variables)?,
        local: request.local,
    };
    match call.submit("UPDATE", command).await? {
        Answer::VariablesSet { key } => Ok(Response::new(wire::SetVariablesResponse { key: key as i64 })),
        other => Err(unexpected(&other)),
    }
}
