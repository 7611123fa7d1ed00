//! ResolveIncident.

use engine::IncidentKey;
use store::log::Command;
use tonic::{Response, Status};

use super::call::{Call, key};
use super::wire;

pub(super) async fn resolve(
    call: Call<'_>,
    request: wire::ResolveIncidentRequest,
) -> Result<Response<wire::ResolveIncidentResponse>, Status> {
    let command = Command::ResolveIncident { incident: IncidentKey(key(request.incident_key)) };
    call.submit("RESOLVE", command).await?;
    Ok(Response::new(wire::ResolveIncidentResponse {}))
}
