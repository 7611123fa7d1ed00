//! Deployments: files in, definitions out.

use std::sync::Arc;

use axum::http::Method;
use axum::response::Response;
use store::log::{Answer, Command, Deploy, DeployResource, Deployed, DeployedProcess};

use super::call::Call;
use super::describe::Kind;
use super::layout::{Cell, Layout, column, empty, optional};
use super::operation::{Input, Operation, Output};
use super::{answer, media, multipart};
use crate::error::Failure;

/// The name of a file that came without one.
const FILE_NAME_DEFAULT: &str = "blob";

pub(super) static OPERATIONS: &[Operation] = &[Operation {
    method: Method::POST,
    path: "/v2/deployments",
    id: "createDeployment",
    summary: "Deploy files: all of them or none",
    input: Input::Files,
    query: &[],
    output: Output::Object(&DEPLOYED),
    failures: &[],
    run: |call| Box::pin(deploy(call)),
}];

pub(super) static DEPLOYED: Layout<Deployed> = Layout {
    name: "DeploymentResult",
    columns: &[
        column("deploymentKey", Kind::Key, |deployed| Cell::Key(deployed.key)),
        column("tenantId", Kind::Text, |deployed| Cell::Text(&deployed.tenant)),
        column("deployments", Kind::NestedList(&DEPLOYMENT), |deployed| {
            Cell::Nested(Box::new(|out| DEPLOYMENT.write_list(out, &of_tenant(deployed))))
        }),
    ],
};

struct OfTenant {
    process: DeployedProcess,
    tenant: Arc<str>,
}

fn of_tenant(deployed: &Deployed) -> Vec<OfTenant> {
    let with_tenant = |process: &DeployedProcess| OfTenant { process: process.clone(), tenant: deployed.tenant.clone() };
    deployed.processes.iter().map(with_tenant).collect()
}

static DEPLOYMENT: Layout<OfTenant> = Layout {
    name: "DeploymentMetadataResult",
    columns: &[
        optional("processDefinition", Kind::Nested(&PROCESS), |deployed| {
            Cell::Nested(Box::new(|out| PROCESS.write(out, deployed)))
        }),
        empty("decisionDefinition", Kind::Object),
        empty("decisionRequirements", Kind::Object),
        empty("form", Kind::Object),
        empty("resource", Kind::Object),
    ],
};

static PROCESS: Layout<OfTenant> = Layout {
    name: "DeploymentProcessResult",
    columns: &[
        column("processDefinitionId", Kind::Text, |deployed| Cell::Text(&deployed.process.process_id)),
        column("processDefinitionVersion", Kind::Int32, |deployed| Cell::Number(deployed.process.version.into())),
        column("resourceName", Kind::Text, |deployed| Cell::Text(&deployed.process.resource_name)),
        column("tenantId", Kind::Text, |deployed| Cell::Text(&deployed.tenant)),
        column("processDefinitionKey", Kind::Key, |deployed| Cell::Key(deployed.process.definition.0)),
    ],
};

async fn deploy(call: Call) -> Result<Response, Failure> {
    let content_type = media::content_type(&call.headers).unwrap_or_default();
    let parts = multipart::parse(content_type, &call.body)
        .map_err(|error| Failure::unreadable(format!("Failed to read request: {error}")))?;
    let (mut resources, mut tenant) = (Vec::<DeployResource>::new(), None);
    for part in parts {
        match part.name.as_str() {
            "resources" => {
                let name = part.file_name.filter(|name| !name.is_empty()).unwrap_or_else(|| FILE_NAME_DEFAULT.to_owned());
                put(&mut resources, DeployResource { name: checked(name)?, content: Arc::from(&part.content[..]) });
            }
            "tenantId" => tenant = Some(String::from_utf8_lossy(&part.content).into_owned()),
            _ => {}
        }
    }
    if resources.is_empty() {
        return Err(Failure::unreadable("Required part 'resources' is not present."));
    }
    let tenant = call.tenant(tenant.as_deref(), "Deploy Resources")?;
    let command = Command::Deploy(Deploy { tenant, resources });
    call.submit("CREATE", command, |answer| match answer {
        Answer::Deployed(deployed) => Some(answer::ok(DEPLOYED.to_vec(deployed))),
        _ => None,
    })
    .await
}

fn checked(name: String) -> Result<Arc<str>, Failure> {
    match name.contains('\0') {
        true => Err(Failure::unreadable("A file name holds the character U+0000")),
        false => Ok(name.into()),
    }
}

/// Of two files with one name the last wins.
fn put(resources: &mut Vec<DeployResource>, resource: DeployResource) {
    match resources.iter_mut().find(|known| known.name == resource.name) {
        Some(known) => *known = resource,
        None => resources.push(resource),
    }
}
