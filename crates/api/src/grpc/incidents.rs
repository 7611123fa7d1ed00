//! ResolveIncident.

use engine::IncidentKey;
use store::log::Command;
use tonic::{Request, Response, Status};

use super::gateway::Gateway;
use super::submit::{key, submit};
use super::wire;

pub(super) async fn resolve(
    gateway: &Gateway,
    request: Request<wire::ResolveIncidentRequest>,
) -> Result<Response<wire::ResolveIncidentResponse>, Status> {
    let (metadata, _, request) = request.into_parts();
    let command = Command::ResolveIncident { incident: IncidentKey(key(request.incident_key)) };
    submit(gateway, &metadata, "RESOLVE", command).await?;
    Ok(Response::new(wire::ResolveIncidentResponse {}))
}
