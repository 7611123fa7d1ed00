//! Element instances: get, search, set variables, the incidents below one.

use axum::http::Method;
use axum::response::Response;
use engine::ElementKey;
use store::log::Command;
use store::query::{ElementView, Entity, Field};

use super::call::Call;
use super::describe::Kind;
use super::incidents;
use super::layout::{Cell, Layout, column, optional};
use super::operation::{Input, Operation, Output};
use super::process_instances::{STATES, check_reference};
use super::search::{self, Operators, Table, Value, filterable, sortable};
use super::shape::{Shape, field};
use crate::error::Failure;

const NOUN: &str = "Element Instance";
const TYPES: &[&str] = &[
    "UNSPECIFIED",
    "PROCESS",
    "SUB_PROCESS",
    "EVENT_SUB_PROCESS",
    "AD_HOC_SUB_PROCESS",
    "AD_HOC_SUB_PROCESS_INNER_INSTANCE",
    "START_EVENT",
    "INTERMEDIATE_CATCH_EVENT",
    "INTERMEDIATE_THROW_EVENT",
    "BOUNDARY_EVENT",
    "END_EVENT",
    "SERVICE_TASK",
    "RECEIVE_TASK",
    "USER_TASK",
    "MANUAL_TASK",
    "TASK",
    "EXCLUSIVE_GATEWAY",
    "INCLUSIVE_GATEWAY",
    "PARALLEL_GATEWAY",
    "EVENT_BASED_GATEWAY",
    "SEQUENCE_FLOW",
    "MULTI_INSTANCE_BODY",
    "CALL_ACTIVITY",
    "BUSINESS_RULE_TASK",
    "SCRIPT_TASK",
    "SEND_TASK",
    "UNKNOWN",
];

pub(super) static OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::POST,
        path: "/v2/element-instances/search",
        id: "searchElementInstances",
        summary: "Search element instances",
        input: Input::Search(&TABLE),
        query: &[],
        output: Output::Page(&LAYOUT),
        failures: &[],
        run: |call| Box::pin(async move { search::run(&call, &TABLE).await }),
    },
    Operation {
        method: Method::GET,
        path: "/v2/element-instances/{elementInstanceKey}",
        id: "getElementInstance",
        summary: "An element instance, active or ended",
        input: Input::None,
        query: &[],
        output: Output::Object(&LAYOUT),
        failures: &[404],
        run: |call| Box::pin(async move { search::get(&call, Entity::Elements, NOUN).await }),
    },
    Operation {
        method: Method::PUT,
        path: "/v2/element-instances/{elementInstanceKey}/variables",
        id: "createElementInstanceVariables",
        summary: "Set variables, seen from an element instance or a process instance",
        input: Input::Required(&VARIABLES),
        query: &[],
        output: Output::NoContent,
        failures: &[404, 409, 504],
        run: |call| Box::pin(set_variables(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/element-instances/{elementInstanceKey}/incidents/search",
        id: "searchElementInstanceIncidents",
        summary: "Search the incidents of an element instance",
        input: Input::Search(&incidents::TABLE),
        query: &[],
        output: Output::Page(&incidents::LAYOUT),
        failures: &[404],
        run: |call| {
            Box::pin(async move {
                search::found(&call, Entity::Elements, NOUN).await?;
                incidents::search_within(&call, Field::ElementKey).await
            })
        },
    },
];

static VARIABLES: Shape = Shape {
    name: "SetVariableRequest",
    fields: &[
        field("variables", Kind::Object, "What to set").required(),
        field("local", Kind::Boolean, "In this scope alone, rather than where each variable exists"),
        field("operationReference", Kind::Int64, "A number of the caller's own, 1 or more"),
    ],
};

async fn set_variables(call: Call) -> Result<Response, Failure> {
    let scope = ElementKey(call.existing_key()?);
    let mut fields = call.required(&VARIABLES)?;
    let variables = fields.document("variables");
    if variables.is_empty() {
        return Err(Failure::invalid("No variables provided."));
    }
    check_reference(fields.number("operationReference"))?;
    let local = fields.boolean("local") == Some(true);
    call.perform("UPDATE", Command::SetVariables { scope, variables, local }).await
}

static TABLE: Table = Table {
    name: "ElementInstance",
    entity: Entity::Elements,
    filters: &[
        filterable("processDefinitionId", Field::ProcessId, Value::Text, Operators::None),
        filterable("state", Field::ElementState, Value::Word(STATES), Operators::Like),
        filterable("type", Field::ElementKind, Value::Word(TYPES), Operators::None),
        filterable("elementId", Field::ElementId, Value::Text, Operators::None),
        filterable("elementName", Field::ElementName, Value::Text, Operators::None),
        filterable("hasIncident", Field::HasIncident, Value::Boolean, Operators::None),
        filterable("tenantId", Field::Tenant, Value::Text, Operators::None),
        filterable("elementInstanceKey", Field::ElementKey, Value::Key, Operators::None),
        filterable("processInstanceKey", Field::InstanceKey, Value::Key, Operators::None),
        filterable("processDefinitionKey", Field::DefinitionKey, Value::Key, Operators::None),
        filterable("incidentKey", Field::IncidentKey, Value::Key, Operators::None),
        filterable("startDate", Field::Started, Value::Time, Operators::Ordered),
        filterable("endDate", Field::Ended, Value::Time, Operators::Ordered),
        filterable("elementInstanceScopeKey", Field::ScopeKey, Value::Key, Operators::None),
    ],
    sorts: &[
        sortable("elementInstanceKey", Field::ElementKey, Value::Key),
        sortable("processInstanceKey", Field::InstanceKey, Value::Key),
        sortable("processDefinitionKey", Field::DefinitionKey, Value::Key),
        sortable("processDefinitionId", Field::ProcessId, Value::Text),
        sortable("startDate", Field::Started, Value::Time),
        sortable("endDate", Field::Ended, Value::Time),
        sortable("elementId", Field::ElementId, Value::Text),
        sortable("elementName", Field::ElementName, Value::Text),
        sortable("type", Field::ElementKind, Value::Text),
        sortable("state", Field::ElementState, Value::Text),
        sortable("incidentKey", Field::IncidentKey, Value::Key),
        sortable("tenantId", Field::Tenant, Value::Text),
    ],
};

pub(super) static LAYOUT: Layout<ElementView> = Layout {
    name: "ElementInstanceResult",
    columns: &[
        column("processDefinitionId", Kind::Text, |view| Cell::Text(&view.process_id)),
        column("startDate", Kind::Time, |view| Cell::Time(view.started)),
        optional("endDate", Kind::Time, |view| Cell::maybe(view.ended, Cell::Time)),
        column("elementId", Kind::Text, |view| Cell::Text(&view.element_id)),
        // An element without a name goes by its id.
        column("elementName", Kind::Text, |view| Cell::Text(view.element_name.as_deref().unwrap_or(&view.element_id))),
        column("type", Kind::Word(TYPES), |view| Cell::Text(&view.kind)),
        column("state", Kind::Word(STATES), |view| Cell::Text(view.state.word())),
        column("hasIncident", Kind::Boolean, |view| Cell::Boolean(view.incident.is_some())),
        column("tenantId", Kind::Text, |view| Cell::Text(&view.tenant)),
        column("elementInstanceKey", Kind::Key, |view| Cell::Key(view.key.0)),
        column("processInstanceKey", Kind::Key, |view| Cell::Key(view.instance.0)),
        optional("rootProcessInstanceKey", Kind::Key, |view| Cell::Key(view.root.0)),
        column("processDefinitionKey", Kind::Key, |view| Cell::Key(view.definition.0)),
        optional("incidentKey", Kind::Key, |view| Cell::maybe(view.incident, |incident| Cell::Key(incident.0))),
    ],
};
