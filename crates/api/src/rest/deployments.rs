//! Deployments: files in, definitions out.

use std::sync::Arc;

use axum::http::Method;
use axum::response::Response;
use store::log::{
    Answer, Command, Deploy, DeployResource, Deployed, DeployedDecision, DeployedForm, DeployedProcess, DeployedRequirements,
};

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
            Cell::Nested(Box::new(|out| DEPLOYMENT.write_list(out, &items(deployed))))
        }),
    ],
};

struct OfTenant<T> {
    what: T,
    tenant: Arc<str>,
}

/// One thing that was deployed.
enum Item {
    Process(OfTenant<DeployedProcess>),
    Decision(OfTenant<(DeployedRequirements, DeployedDecision)>),
    Requirements(OfTenant<DeployedRequirements>),
    Form(OfTenant<DeployedForm>),
}

/// Decisions before the files they came in, as clients expect.
fn items(deployed: &Deployed) -> Vec<Item> {
    let tenant = &deployed.tenant;
    let mut items = Vec::new();
    for process in &deployed.processes {
        items.push(Item::Process(OfTenant { what: process.clone(), tenant: tenant.clone() }));
    }
    for requirements in &deployed.requirements {
        for decision in &requirements.decisions {
            let what = (DeployedRequirements { decisions: Vec::new(), ..requirements.clone() }, decision.clone());
            items.push(Item::Decision(OfTenant { what, tenant: tenant.clone() }));
        }
    }
    for requirements in &deployed.requirements {
        items.push(Item::Requirements(OfTenant { what: requirements.clone(), tenant: tenant.clone() }));
    }
    for form in &deployed.forms {
        items.push(Item::Form(OfTenant { what: form.clone(), tenant: tenant.clone() }));
    }
    items
}

static DEPLOYMENT: Layout<Item> = Layout {
    name: "DeploymentMetadataResult",
    columns: &[
        optional("processDefinition", Kind::Nested(&PROCESS), |item| match item {
            Item::Process(process) => Cell::Nested(Box::new(|out| PROCESS.write(out, process))),
            Item::Decision(_) | Item::Requirements(_) | Item::Form(_) => Cell::Null,
        }),
        optional("decisionDefinition", Kind::Nested(&DECISION), |item| match item {
            Item::Decision(decision) => Cell::Nested(Box::new(|out| DECISION.write(out, decision))),
            Item::Process(_) | Item::Requirements(_) | Item::Form(_) => Cell::Null,
        }),
        optional("decisionRequirements", Kind::Nested(&REQUIREMENTS), |item| match item {
            Item::Requirements(requirements) => Cell::Nested(Box::new(|out| REQUIREMENTS.write(out, requirements))),
            Item::Process(_) | Item::Decision(_) | Item::Form(_) => Cell::Null,
        }),
        optional("form", Kind::Nested(&FORM), |item| match item {
            Item::Form(form) => Cell::Nested(Box::new(|out| FORM.write(out, form))),
            Item::Process(_) | Item::Decision(_) | Item::Requirements(_) => Cell::Null,
        }),
        empty("resource", Kind::Object),
    ],
};

static PROCESS: Layout<OfTenant<DeployedProcess>> = Layout {
    name: "DeploymentProcessResult",
    columns: &[
        column("processDefinitionId", Kind::Text, |process| Cell::Text(&process.what.process_id)),
        column("processDefinitionVersion", Kind::Int32, |process| Cell::Number(process.what.version.into())),
        column("resourceName", Kind::Text, |process| Cell::Text(&process.what.resource_name)),
        column("tenantId", Kind::Text, |process| Cell::Text(&process.tenant)),
        column("processDefinitionKey", Kind::Key, |process| Cell::Key(process.what.definition.0)),
    ],
};

static DECISION: Layout<OfTenant<(DeployedRequirements, DeployedDecision)>> = Layout {
    name: "DeploymentDecisionResult",
    columns: &[
        column("decisionDefinitionId", Kind::Text, |decision| Cell::Text(&decision.what.1.id)),
        column("version", Kind::Int32, |decision| Cell::Number(decision.what.1.version.into())),
        column("name", Kind::Text, |decision| Cell::Text(&decision.what.1.name)),
        column("tenantId", Kind::Text, |decision| Cell::Text(&decision.tenant)),
        column("decisionRequirementsId", Kind::Text, |decision| Cell::Text(&decision.what.0.id)),
        column("decisionDefinitionKey", Kind::Key, |decision| Cell::Key(decision.what.1.key.0)),
        column("decisionRequirementsKey", Kind::Key, |decision| Cell::Key(decision.what.0.key.0)),
    ],
};

static REQUIREMENTS: Layout<OfTenant<DeployedRequirements>> = Layout {
    name: "DeploymentDecisionRequirementsResult",
    columns: &[
        column("decisionRequirementsId", Kind::Text, |requirements| Cell::Text(&requirements.what.id)),
        column("decisionRequirementsName", Kind::Text, |requirements| Cell::Text(&requirements.what.name)),
        column("version", Kind::Int32, |requirements| Cell::Number(requirements.what.version.into())),
        column("resourceName", Kind::Text, |requirements| Cell::Text(&requirements.what.resource_name)),
        column("tenantId", Kind::Text, |requirements| Cell::Text(&requirements.tenant)),
        column("decisionRequirementsKey", Kind::Key, |requirements| Cell::Key(requirements.what.key.0)),
    ],
};

static FORM: Layout<OfTenant<DeployedForm>> = Layout {
    name: "DeploymentFormResult",
    columns: &[
        column("formId", Kind::Text, |form| Cell::Text(&form.what.id)),
        column("version", Kind::Int32, |form| Cell::Number(form.what.version.into())),
        column("resourceName", Kind::Text, |form| Cell::Text(&form.what.resource_name)),
        column("tenantId", Kind::Text, |form| Cell::Text(&form.tenant)),
        column("formKey", Kind::Key, |form| Cell::Key(form.what.key.0)),
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
