//! DeployResource, DeployProcess (the old way to say it) and DeleteResource.

use std::sync::Arc;

use bytes::Bytes;
use store::log::{
    Answer, Command, Deploy, DeployResource, Deployed, DeployedDecision, DeployedForm, DeployedProcess, DeployedRequirements,
};
use tonic::{Response, Status};

use super::call::{Call, key};
use super::refusal::unexpected;
use super::wire;
use super::wire::deployment::Metadata;

pub(super) async fn deploy_resource(
    call: Call<'_>,
    request: wire::DeployResourceRequest,
) -> Result<Response<wire::DeployResourceResponse>, Status> {
    let tenant = call.tenant("DeployResource", &request.tenant_id)?;
    let resources = request.resources.into_iter().map(|file| resource(file.name, &file.content)).collect();
    let deployed = deploy(&call, Deploy { tenant, resources }).await?;
    let deployments = metadata_of(&deployed).into_iter().map(|metadata| wire::Deployment { metadata: Some(metadata) }).collect();
    Ok(Response::new(wire::DeployResourceResponse {
        key: deployed.key as i64,
        deployments,
        tenant_id: deployed.tenant.as_ref().to_owned(),
    }))
}

pub(super) async fn deploy_process(
    call: Call<'_>,
    request: wire::DeployProcessRequest,
) -> Result<Response<wire::DeployProcessResponse>, Status> {
    let resources = request.processes.into_iter().map(|file| resource(file.name, &file.definition)).collect();
    let deployed = deploy(&call, Deploy { tenant: call.caller.home(), resources }).await?;
    let processes = deployed.processes.iter().map(|process| process_metadata(process, &deployed.tenant));
    Ok(Response::new(wire::DeployProcessResponse { key: deployed.key as i64, processes: processes.collect() }))
}

pub(super) async fn delete(
    call: Call<'_>,
    request: wire::DeleteResourceRequest,
) -> Result<Response<wire::DeleteResourceResponse>, Status> {
    if request.delete_history == Some(true) {
        return Err(Status::unimplemented("DeleteResource cannot delete history yet: leave deleteHistory out"));
    }
    let command = Command::DeleteResource { key: key(request.resource_key) };
    match call.submit("DELETE", command).await? {
        Answer::ResourceDeleted { key } => {
            Ok(Response::new(wire::DeleteResourceResponse { resource_key: key.to_string(), batch_operation: None }))
        }
        other => Err(unexpected(&other)),
    }
}

fn resource(name: String, content: &Bytes) -> DeployResource {
    DeployResource { name: name.into(), content: Arc::from(content.as_ref()) }
}

async fn deploy(call: &Call<'_>, deploy: Deploy) -> Result<Deployed, Status> {
    match call.submit("CREATE", Command::Deploy(deploy)).await? {
        Answer::Deployed(deployed) => Ok(deployed),
        other => Err(unexpected(&other)),
    }
}

/// Decisions before the files they came in, as clients expect.
fn metadata_of(deployed: &Deployed) -> Vec<Metadata> {
    let tenant = &deployed.tenant;
    let mut all: Vec<Metadata> =
        deployed.processes.iter().map(|process| Metadata::Process(process_metadata(process, tenant))).collect();
    for requirements in &deployed.requirements {
        let decisions = requirements.decisions.iter();
        all.extend(decisions.map(|decision| Metadata::Decision(decision_metadata(requirements, decision, tenant))));
    }
    let requirements = deployed.requirements.iter();
    all.extend(requirements.map(|requirements| Metadata::DecisionRequirements(requirements_metadata(requirements, tenant))));
    all.extend(deployed.forms.iter().map(|form| Metadata::Form(form_metadata(form, tenant))));
    all
}

fn decision_metadata(
    requirements: &DeployedRequirements,
    decision: &DeployedDecision,
    tenant: &Arc<str>,
) -> wire::DecisionMetadata {
    wire::DecisionMetadata {
        dmn_decision_id: decision.id.as_ref().to_owned(),
        dmn_decision_name: decision.name.as_ref().to_owned(),
        version: decision.version,
        decision_key: decision.key.0 as i64,
        dmn_decision_requirements_id: requirements.id.as_ref().to_owned(),
        decision_requirements_key: requirements.key.0 as i64,
        tenant_id: tenant.as_ref().to_owned(),
    }
}

fn requirements_metadata(requirements: &DeployedRequirements, tenant: &Arc<str>) -> wire::DecisionRequirementsMetadata {
    wire::DecisionRequirementsMetadata {
        dmn_decision_requirements_id: requirements.id.as_ref().to_owned(),
        dmn_decision_requirements_name: requirements.name.as_ref().to_owned(),
        version: requirements.version,
        decision_requirements_key: requirements.key.0 as i64,
        resource_name: requirements.resource_name.as_ref().to_owned(),
        tenant_id: tenant.as_ref().to_owned(),
    }
}

fn form_metadata(form: &DeployedForm, tenant: &Arc<str>) -> wire::FormMetadata {
    wire::FormMetadata {
        form_id: form.id.as_ref().to_owned(),
        version: form.version,
        form_key: form.key.0 as i64,
        resource_name: form.resource_name.as_ref().to_owned(),
        tenant_id: tenant.as_ref().to_owned(),
    }
}

fn process_metadata(process: &DeployedProcess, tenant: &Arc<str>) -> wire::ProcessMetadata {
    wire::ProcessMetadata {
        bpmn_process_id: process.process_id.as_ref().to_owned(),
        version: process.version,
        process_definition_key: process.definition.0 as i64,
        resource_name: process.resource_name.as_ref().to_owned(),
        tenant_id: tenant.as_ref().to_owned(),
    }
}
