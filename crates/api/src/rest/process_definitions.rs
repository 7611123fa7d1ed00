//! Process definitions: get, search, the XML they came from.

use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use engine::DefinitionKey;
use store::query::{DefinitionView, Entity, Field, Items};

use super::call::Call;
use super::describe::Kind;
use super::layout::{Cell, Layout, column, optional};
use super::operation::{Input, Operation, Output};
use super::search::{self, By, Filterable, Operators, Table, Value, filterable, sortable};
use super::shape::existing;
use super::{forms, resources};
use crate::error::Failure;

const NOUN: &str = "Process Definition";
const STATES: &[&str] = &["ACTIVE", "DELETED"];

pub(super) static OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::POST,
        path: "/v2/process-definitions/search",
        id: "searchProcessDefinitions",
        summary: "Search process definitions",
        input: Input::Search(&TABLE),
        query: &[],
        output: Output::Page(&LAYOUT),
        failures: &[],
        run: |call| Box::pin(async move { search::run(&call, &TABLE).await }),
    },
    Operation {
        method: Method::GET,
        path: "/v2/process-definitions/{processDefinitionKey}",
        id: "getProcessDefinition",
        summary: "A process definition, deleted ones too",
        input: Input::None,
        query: &[],
        output: Output::Object(&LAYOUT),
        failures: &[404],
        run: |call| Box::pin(async move { search::get(&call, Entity::Definitions, NOUN).await }),
    },
    Operation {
        method: Method::GET,
        path: "/v2/process-definitions/{processDefinitionKey}/xml",
        id: "getProcessDefinitionXML",
        summary: "The BPMN file a process definition came in",
        input: Input::None,
        query: &[],
        output: Output::Text("text/xml"),
        failures: &[404],
        run: |call| Box::pin(xml(call)),
    },
    Operation {
        method: Method::GET,
        path: "/v2/process-definitions/{processDefinitionKey}/form",
        id: "getStartProcessForm",
        summary: "The form to start a process with; no content where it has none",
        input: Input::None,
        query: &[],
        output: Output::ObjectOrNothing(&forms::LAYOUT),
        failures: &[404],
        run: |call| Box::pin(start_form(call)),
    },
];

pub(super) static TABLE: Table = Table {
    name: "ProcessDefinition",
    entity: Entity::Definitions,
    filters: &[
        filterable("name", Field::DefinitionName, Value::Text, Operators::Like),
        Filterable { name: "isLatestVersion", by: By::LatestVersion, value: Value::Boolean, operators: Operators::None },
        filterable("resourceName", Field::ResourceName, Value::Text, Operators::None),
        filterable("version", Field::Version, Value::Int32, Operators::None),
        filterable("versionTag", Field::VersionTag, Value::Text, Operators::None),
        filterable("processDefinitionId", Field::ProcessId, Value::Text, Operators::Like),
        filterable("tenantId", Field::Tenant, Value::Text, Operators::None),
        filterable("processDefinitionKey", Field::DefinitionKey, Value::Key, Operators::None),
        filterable("hasStartForm", Field::HasStartForm, Value::Boolean, Operators::None),
        filterable("state", Field::DefinitionState, Value::Word(STATES), Operators::None),
    ],
    sorts: &[
        sortable("processDefinitionKey", Field::DefinitionKey, Value::Key),
        sortable("name", Field::DefinitionName, Value::Text),
        sortable("resourceName", Field::ResourceName, Value::Text),
        sortable("version", Field::Version, Value::Int32),
        sortable("versionTag", Field::VersionTag, Value::Text),
        sortable("processDefinitionId", Field::ProcessId, Value::Text),
        sortable("tenantId", Field::Tenant, Value::Text),
    ],
};

pub(super) static LAYOUT: Layout<DefinitionView> = Layout {
    name: "ProcessDefinitionResult",
    columns: &[
        optional("name", Kind::Text, |view| Cell::maybe_text(view.name.as_deref())),
        column("resourceName", Kind::Text, |view| Cell::Text(&view.resource_name)),
        column("version", Kind::Int32, |view| Cell::Number(view.version.into())),
        optional("versionTag", Kind::Text, |view| Cell::maybe_text(view.version_tag.as_deref())),
        column("processDefinitionId", Kind::Text, |view| Cell::Text(&view.process_id)),
        column("tenantId", Kind::Text, |view| Cell::Text(&view.tenant)),
        column("processDefinitionKey", Kind::Key, |view| Cell::Key(view.key.0)),
        column("hasStartForm", Kind::Boolean, |view| Cell::Boolean(view.has_start_form)),
        column("state", Kind::Word(STATES), |view| Cell::Text(if view.deleted { "DELETED" } else { "ACTIVE" })),
    ],
};

async fn start_form(call: Call) -> Result<Response, Failure> {
    let key = call.key()?;
    let definition = call.host().store().definition(DefinitionKey(existing(key))).await?;
    let definition = definition.filter(|definition| call.caller.sees(&definition.tenant));
    let definition = definition.ok_or_else(|| Failure::not_found(format!("{NOUN} with key '{key}' not found")))?;
    let shown = forms::of_start(&call, &definition).await?;
    Ok(shown.unwrap_or_else(|| StatusCode::NO_CONTENT.into_response()))
}

async fn xml(call: Call) -> Result<Response, Failure> {
    let found = match search::found(&call, Entity::Definitions, NOUN).await?.items {
        // A JSON workflow is no XML.
        Items::Definitions(views) => {
            views.first().filter(|view| !view.resource_name.ends_with(".json")).map(|view| view.resource)
        }
        _ => None,
    };
    resources::xml(&call, found).await
}
