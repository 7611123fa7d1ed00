//! Element instances: get, search, set variables, start activities of ad-hoc sub-processes, the incidents below one.

use axum::http::Method;
use axum::response::Response;
use engine::ElementKey;
use store::log::{Command, StartAdHoc};
use store::query::{ElementView, Entity, Field, Filter, Items, LIST_MAX, Page, Query};

use super::call::Call;
use super::describe::Kind;
use super::incidents;
use super::layout::{Cell, Layout, column, optional};
use super::operation::{Input, Operation, Output};
use super::process_instances::{STATES, check_reference, hierarchy};
use super::search::{self, Operators, Table, Value, filterable, sortable};
use super::shape::{Shape, field};
use crate::error::Failure;

const NOUN: &str = "Element Instance";
/// How many element instances inside another are looked at.
const INNER_MAX: usize = 10_000;
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
        path: "/v2/element-instances/ad-hoc-activities/{adHocSubProcessInstanceKey}/activation",
        id: "activateAdHocSubProcessActivities",
        summary: "Start activities of an ad-hoc sub-process",
        input: Input::Required(&ACTIVATION),
        query: &[],
        output: Output::NoContent,
        failures: &[404, 409, 504],
        run: |call| Box::pin(start_ad_hoc(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/element-instances/{elementInstanceKey}/incidents/search",
        id: "searchElementInstanceIncidents",
        summary: "Search the incidents of an element instance, of those inside it, and of the process instances they called",
        input: Input::Search(&incidents::TABLE),
        query: &[],
        output: Output::Page(&incidents::LAYOUT),
        failures: &[404],
        run: |call| Box::pin(search_incidents(call)),
    },
];

async fn search_incidents(call: Call) -> Result<Response, Failure> {
    let outer = match search::found(&call, Entity::Elements, NOUN).await?.items {
        Items::Elements(views) => views.into_iter().next(),
        _ => None,
    };
    let Some(outer) = outer else { return Err(Failure::not_found(format!("{NOUN} not found"))) };
    let elements = with_inner(&call, &outer).await?;
    let called = hierarchy::called_by(&call, outer.instance, &elements).await?;
    let instances: Vec<u64> = hierarchy::with_called(&call, called).await?.iter().map(|key| key.0).collect();
    let elements: Vec<u64> = elements.iter().map(|key| key.0).collect();
    let of_elements = hierarchy::one_of(Field::ElementKey, &elements);
    let of_called = hierarchy::one_of(Field::InstanceKey, &instances);
    incidents::search_within(&call, Filter::Any(vec![of_elements, of_called])).await
}

/// An element instance with all inside it.
async fn with_inner(call: &Call, outer: &ElementView) -> Result<Vec<ElementKey>, Failure> {
    let within = hierarchy::one_of(Field::InstanceKey, &[outer.instance.0]);
    let mut all = vec![outer.key];
    let mut asked = 0;
    while asked < all.len() {
        let scopes: Vec<u64> = all[asked..].iter().take(LIST_MAX).map(|key| key.0).collect();
        asked += scopes.len();
        let filter = Filter::All(vec![within.clone(), hierarchy::one_of(Field::ScopeKey, &scopes)]);
        let page = Page::From { from: 0, limit: INNER_MAX as u32 + 1 };
        let query = Query { filter, page, ..Query::of(Entity::Elements, call.caller.tenants()) };
        if let Items::Elements(views) = call.host().store().search(&query).await?.items {
            all.extend(views.iter().map(|view| view.key));
        }
        if INNER_MAX < all.len() {
            return Err(Failure::invalid(format!("There are more than {INNER_MAX} element instances inside: search for less")));
        }
    }
    Ok(all)
}

static VARIABLES: Shape = Shape {
    name: "SetVariableRequest",
    fields: &[
        field("variables", Kind::Object, "What to set").required(),
        field("local", Kind::Boolean, "In this scope alone, rather than where each variable exists; false if left out"),
        field("operationReference", Kind::Int64, "A number of the caller's own, 1 or more; it means nothing to the server"),
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

static ACTIVATION: Shape = Shape {
    name: "AdHocSubProcessActivateActivitiesInstruction",
    fields: &[
        field("elements", Kind::FieldsList(&ACTIVITY), "What to start").required(),
        field("cancelRemainingInstances", Kind::Boolean, "Drop what runs in it first; false if left out"),
    ],
};

static ACTIVITY: Shape = Shape {
    name: "AdHocSubProcessActivateActivityReference",
    fields: &[
        field("elementId", Kind::Text, "Id of an activity that no flow leads to").required(),
        field("variables", Kind::Object, "Variables of its run"),
    ],
};

async fn start_ad_hoc(call: Call) -> Result<Response, Failure> {
    let element = ElementKey(call.existing_key()?);
    let mut fields = call.required(&ACTIVATION)?;
    let mut activities = Vec::new();
    for mut activity in fields.objects("elements") {
        let id = activity.shared("elementId").ok_or_else(|| Failure::invalid("No elementId provided."))?;
        activities.push((id, activity.document("variables")));
    }
    if activities.is_empty() {
        return Err(Failure::invalid("No elements provided."));
    }
    let drop_rest = fields.boolean("cancelRemainingInstances") == Some(true);
    call.perform("ACTIVATE", Command::StartAdHoc(StartAdHoc { element, activities, drop_rest })).await
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
        column("hasIncident", Kind::Boolean, |view| Cell::Boolean(view.has_incident)),
        column("tenantId", Kind::Text, |view| Cell::Text(&view.tenant)),
        column("elementInstanceKey", Kind::Key, |view| Cell::Key(view.key.0)),
        column("processInstanceKey", Kind::Key, |view| Cell::Key(view.instance.0)),
        optional("rootProcessInstanceKey", Kind::Key, |view| Cell::Key(view.root.0)),
        column("processDefinitionKey", Kind::Key, |view| Cell::Key(view.definition.0)),
        optional("incidentKey", Kind::Key, |view| Cell::maybe(view.incident, |incident| Cell::Key(incident.0))),
    ],
};
