//! Incidents: get, search, resolve.

use axum::http::Method;
use axum::response::Response;
use engine::IncidentKey;
use store::log::Command;
use store::query::{Entity, Field, Filter, IncidentView};
use store::words::incident_kind_word;

use super::call::Call;
use super::describe::Kind;
use super::layout::{Cell, Layout, column, optional};
use super::operation::{Input, Operation, Output};
use super::search::{self, Operators, Table, Value, filterable, sortable};
use super::shape::{Shape, field};
use crate::error::Failure;

const NOUN: &str = "Incident";
const STATES: &[&str] = &["ACTIVE", "MIGRATED", "PENDING", "RESOLVED", "UNKNOWN"];
const ERROR_TYPES: &[&str] = &[
    "AD_HOC_SUB_PROCESS_NO_RETRIES",
    "CALLED_DECISION_ERROR",
    "CALLED_ELEMENT_ERROR",
    "CONDITION_ERROR",
    "DECISION_EVALUATION_ERROR",
    "EXECUTION_LISTENER_NO_RETRIES",
    "EXTRACT_VALUE_ERROR",
    "FORM_NOT_FOUND",
    "IO_MAPPING_ERROR",
    "JOB_NO_RETRIES",
    "MESSAGE_SIZE_EXCEEDED",
    "RESOURCE_NOT_FOUND",
    "TASK_LISTENER_NO_RETRIES",
    "UNHANDLED_ERROR_EVENT",
    "UNKNOWN",
    "UNSPECIFIED",
];

pub(super) static OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::POST,
        path: "/v2/incidents/search",
        id: "searchIncidents",
        summary: "Search incidents",
        input: Input::Search(&TABLE),
        query: &[],
        output: Output::Page(&LAYOUT),
        failures: &[],
        run: |call| Box::pin(async move { search::run(&call, &TABLE).await }),
    },
    Operation {
        method: Method::GET,
        path: "/v2/incidents/{incidentKey}",
        id: "getIncident",
        summary: "An incident, active or resolved",
        input: Input::None,
        query: &[],
        output: Output::Object(&LAYOUT),
        failures: &[404],
        run: |call| Box::pin(async move { search::get(&call, Entity::Incidents, NOUN).await }),
    },
    Operation {
        method: Method::POST,
        path: "/v2/incidents/{incidentKey}/resolution",
        id: "resolveIncident",
        summary: "Try again what raised an incident",
        input: Input::Optional(&RESOLUTION),
        query: &[],
        output: Output::NoContent,
        failures: &[404, 409, 504],
        run: |call| Box::pin(resolve(call)),
    },
];

static RESOLUTION: Shape = Shape {
    name: "IncidentResolutionRequest",
    fields: &[field("operationReference", Kind::Int64, "A number of the caller's own; it means nothing to the server")],
};

async fn resolve(call: Call) -> Result<Response, Failure> {
    let incident = IncidentKey(call.existing_key()?);
    call.optional(&RESOLUTION)?;
    call.perform("RESOLVE", Command::ResolveIncident { incident }).await
}

/// A search among these incidents.
pub(super) async fn search_within(call: &Call, within: Filter) -> Result<Response, Failure> {
    search::run_within(call, &TABLE, Some(within), |_| ()).await
}

pub(super) static TABLE: Table = Table {
    name: "Incident",
    entity: Entity::Incidents,
    filters: &[
        filterable("processDefinitionId", Field::ProcessId, Value::Text, Operators::Like),
        filterable("errorType", Field::IncidentKind, Value::Word(ERROR_TYPES), Operators::Like),
        filterable("errorMessage", Field::ErrorMessage, Value::Text, Operators::Like),
        filterable("elementId", Field::ElementId, Value::Text, Operators::Like),
        filterable("creationTime", Field::Created, Value::Time, Operators::Ordered),
        filterable("state", Field::IncidentState, Value::Word(STATES), Operators::Like),
        filterable("tenantId", Field::Tenant, Value::Text, Operators::Like),
        filterable("incidentKey", Field::IncidentKey, Value::Key, Operators::Basic),
        filterable("processDefinitionKey", Field::DefinitionKey, Value::Key, Operators::Basic),
        filterable("processInstanceKey", Field::InstanceKey, Value::Key, Operators::Basic),
        filterable("elementInstanceKey", Field::ElementKey, Value::Key, Operators::Basic),
        filterable("jobKey", Field::JobKey, Value::Key, Operators::Basic),
    ],
    sorts: &[
        sortable("incidentKey", Field::IncidentKey, Value::Key),
        sortable("processDefinitionKey", Field::DefinitionKey, Value::Key),
        sortable("processDefinitionId", Field::ProcessId, Value::Text),
        sortable("processInstanceKey", Field::InstanceKey, Value::Key),
        sortable("errorType", Field::IncidentKind, Value::Text),
        sortable("elementId", Field::ElementId, Value::Text),
        sortable("elementInstanceKey", Field::ElementKey, Value::Key),
        sortable("creationTime", Field::Created, Value::Time),
        sortable("state", Field::IncidentState, Value::Text),
        sortable("jobKey", Field::JobKey, Value::Key),
        sortable("tenantId", Field::Tenant, Value::Text),
    ],
};

pub(super) static LAYOUT: Layout<IncidentView> = Layout {
    name: "IncidentResult",
    columns: &[
        column("processDefinitionId", Kind::Text, |view| Cell::Text(&view.process_id)),
        column("errorType", Kind::Word(ERROR_TYPES), |view| Cell::Text(error_type(view))),
        column("errorMessage", Kind::Text, |view| Cell::Text(&view.message)),
        column("elementId", Kind::Text, |view| Cell::Text(&view.element_id)),
        column("creationTime", Kind::Time, |view| Cell::Time(view.created)),
        column("state", Kind::Word(STATES), |view| Cell::Text(if view.resolved.is_some() { "RESOLVED" } else { "ACTIVE" })),
        column("tenantId", Kind::Text, |view| Cell::Text(&view.tenant)),
        column("incidentKey", Kind::Key, |view| Cell::Key(view.key.0)),
        column("processDefinitionKey", Kind::Key, |view| Cell::Key(view.definition.0)),
        column("processInstanceKey", Kind::Key, |view| Cell::Key(view.instance.0)),
        optional("rootProcessInstanceKey", Kind::Key, |view| Cell::Key(view.root.0)),
        column("elementInstanceKey", Kind::Key, |view| Cell::Key(view.element_instance.0)),
        optional("jobKey", Kind::Key, |view| Cell::maybe(view.job, |job| Cell::Key(job.0))),
    ],
};

/// Strict clients know no other words.
fn error_type(view: &IncidentView) -> &'static str {
    let word = incident_kind_word(view.kind);
    if ERROR_TYPES.contains(&word) { word } else { "UNKNOWN" }
}
