//! Process instances: create, get, search, cancel, modify, migrate, suspend, resume, the incidents in them.

mod create;
mod flows;
pub(super) mod hierarchy;
mod migrate;
mod modify;
mod suspend;

use axum::http::Method;
use axum::response::Response;
use engine::InstanceKey;
use store::log::Command;
use store::query::{Entity, Field, InstanceView};

use super::call::Call;
use super::describe::Kind;
use super::incidents;
use super::layout::{Cell, Layout, column, optional};
use super::operation::{Input, Operation, Output};
use super::search::{self, By, Filterable, Operators, Table, Value, filterable, related, sortable};
use super::shape::{Shape, field};
use crate::error::Failure;

pub(super) use create::{CREATED, Outcome};
pub(super) use migrate::{MAPPING, mapping};

const NOUN: &str = "Process Instance";
/// Of instances and of the elements in them.
pub(super) const STATES: &[&str] = &["ACTIVE", "COMPLETED", "TERMINATED"];
/// Elements of a suspended instance are active.
pub(super) const INSTANCE_STATES: &[&str] = &["ACTIVE", "SUSPENDED", "COMPLETED", "TERMINATED"];

pub(super) static OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::POST,
        path: "/v2/process-instances",
        id: "createProcessInstance",
        summary: "Start an instance of a process; with `awaitCompletion` the answer comes when it has ended",
        input: Input::Required(&create::CREATION),
        query: &[],
        output: Output::Object(&CREATED),
        failures: &[404, 409, 504],
        run: |call| Box::pin(create::create(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/process-instances/search",
        id: "searchProcessInstances",
        summary: "Search process instances",
        input: Input::Search(&TABLE),
        query: &[],
        output: Output::Page(&LAYOUT),
        failures: &[],
        run: |call| Box::pin(async move { search::run(&call, &TABLE).await }),
    },
    Operation {
        method: Method::GET,
        path: "/v2/process-instances/{processInstanceKey}",
        id: "getProcessInstance",
        summary: "A process instance, running or ended",
        input: Input::None,
        query: &[],
        output: Output::Object(&LAYOUT),
        failures: &[404],
        run: |call| Box::pin(async move { search::get(&call, Entity::Instances, NOUN).await }),
    },
    Operation {
        method: Method::GET,
        path: "/v2/process-instances/{processInstanceKey}/call-hierarchy",
        id: "getProcessInstanceCallHierarchy",
        summary: "The instances through which a process instance was called, from the first on; none if nobody called it",
        input: Input::None,
        query: &[],
        output: Output::List(&hierarchy::ENTRY),
        failures: &[404],
        run: |call| Box::pin(hierarchy::chain(call)),
    },
    Operation {
        method: Method::GET,
        path: "/v2/process-instances/{processInstanceKey}/sequence-flows",
        id: "getProcessInstanceSequenceFlows",
        summary: "The flows a process instance has gone along, each once",
        input: Input::None,
        query: &[],
        output: Output::Object(&flows::LISTED),
        failures: &[],
        run: |call| Box::pin(flows::taken(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/process-instances/{processInstanceKey}/cancellation",
        id: "cancelProcessInstance",
        summary: "Cancel a running process instance",
        input: Input::Optional(&CANCELLATION),
        query: &[],
        output: Output::NoContent,
        failures: &[404, 409, 504],
        run: |call| Box::pin(cancel(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/process-instances/{processInstanceKey}/modification",
        id: "modifyProcessInstance",
        summary: "Enter elements of a running process instance, end element instances, move between them: all of it or nothing",
        input: Input::Required(&modify::MODIFICATION),
        query: &[],
        output: Output::NoContent,
        failures: &[404, 504],
        run: |call| Box::pin(modify::modify(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/process-instances/{processInstanceKey}/migration",
        id: "migrateProcessInstance",
        summary: "Let a running process instance go on as one of another process definition",
        input: Input::Required(&migrate::MIGRATION),
        query: &[],
        output: Output::NoContent,
        failures: &[404, 409, 504],
        run: |call| Box::pin(migrate::migrate(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/process-instances/{processInstanceKey}/deletion",
        id: "deleteProcessInstance",
        summary: "Delete a finished process instance with those it called: nothing of them is left",
        input: Input::Optional(&DELETION),
        query: &[],
        output: Output::NoContent,
        failures: &[404, 409, 504],
        run: |call| Box::pin(delete(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/process-instances/{processInstanceKey}/suspension",
        id: "suspendProcessInstance",
        summary: "Suspend a running process instance with those it called: they keep their waits, and nothing comes to them",
        input: Input::Optional(&suspend::SUSPENSION),
        query: &[],
        output: Output::NoContent,
        failures: &[404, 409, 504],
        run: |call| Box::pin(suspend::suspend(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/process-instances/{processInstanceKey}/resumption",
        id: "resumeProcessInstance",
        summary: "Let a suspended process instance go on, with those it called",
        input: Input::Optional(&suspend::RESUMPTION),
        query: &[],
        output: Output::NoContent,
        failures: &[404, 409, 504],
        run: |call| Box::pin(suspend::resume(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/process-instances/{processInstanceKey}/incidents/search",
        id: "searchProcessInstanceIncidents",
        summary: "Search the incidents in a process instance and in those it called",
        input: Input::Search(&incidents::TABLE),
        query: &[],
        output: Output::Page(&incidents::LAYOUT),
        failures: &[404],
        run: |call| {
            Box::pin(async move {
                search::found(&call, Entity::Instances, NOUN).await?;
                let all = hierarchy::with_called(&call, vec![InstanceKey(call.existing_key()?)]).await?;
                let keys: Vec<u64> = all.iter().map(|key| key.0).collect();
                incidents::search_within(&call, hierarchy::one_of(Field::InstanceKey, &keys)).await
            })
        },
    },
];

static CANCELLATION: Shape = Shape {
    name: "CancelProcessInstanceRequest",
    fields: &[field(
        "operationReference",
        Kind::Int64,
        "A number of the caller's own, 1 or more; it means nothing to the server",
    )],
};

async fn cancel(call: Call) -> Result<Response, Failure> {
    let instance = InstanceKey(call.existing_key()?);
    check_reference(call.optional(&CANCELLATION)?.number("operationReference"))?;
    call.perform("CANCEL", Command::Cancel { instance }).await
}

static DELETION: Shape = Shape {
    name: "DeleteProcessInstanceRequest",
    fields: &[field(
        "operationReference",
        Kind::Int64,
        "A number of the caller's own, 1 or more; it means nothing to the server",
    )],
};

async fn delete(call: Call) -> Result<Response, Failure> {
    let instance = InstanceKey(call.existing_key()?);
    check_reference(call.optional(&DELETION)?.number("operationReference"))?;
    call.perform("DELETE", Command::DeleteInstance { instance }).await
}

/// References are the caller's own and mean nothing to us, but must be positive where Camunda checks them: not for jobs, incidents and
/// decision instances.
pub(super) fn check_reference(reference: Option<i64>) -> Result<(), Failure> {
    match reference {
        Some(number) if number < 1 => {
            Err(Failure::invalid(format!("The value for operationReference is '{number}' but must be > 0.")))
        }
        _ => Ok(()),
    }
}

pub(super) static TABLE: Table = Table {
    name: "ProcessInstance",
    entity: Entity::Instances,
    filters: &[
        filterable("startDate", Field::Started, Value::Time, Operators::Ordered),
        filterable("endDate", Field::Ended, Value::Time, Operators::Ordered),
        filterable("state", Field::InstanceState, Value::Word(INSTANCE_STATES), Operators::Like),
        filterable("hasIncident", Field::HasIncident, Value::Boolean, Operators::None),
        filterable("tenantId", Field::Tenant, Value::Text, Operators::Like),
        Filterable { name: "variables", by: By::Variables, value: Value::Text, operators: Operators::Like },
        filterable("processInstanceKey", Field::InstanceKey, Value::Key, Operators::Basic),
        filterable("parentProcessInstanceKey", Field::ParentInstanceKey, Value::Key, Operators::Basic),
        filterable("parentElementInstanceKey", Field::ParentElementKey, Value::Key, Operators::Basic),
        related("batchOperationId", (Entity::BatchItems, Field::BatchKey), Value::Key, Operators::Like),
        related("batchOperationKey", (Entity::BatchItems, Field::BatchKey), Value::Key, Operators::Like),
        related("errorMessage", (Entity::Incidents, Field::ErrorMessage), Value::Text, Operators::Like),
        related("hasRetriesLeft", (Entity::Jobs, Field::FailedWithRetriesLeft), Value::Boolean, Operators::None),
        related("elementInstanceState", (Entity::Elements, Field::ElementState), Value::Word(STATES), Operators::Like),
        related("elementId", (Entity::Elements, Field::ElementId), Value::Text, Operators::Like),
        related("hasElementInstanceIncident", (Entity::Elements, Field::HasIncident), Value::Boolean, Operators::None),
        related("incidentErrorHashCode", (Entity::Incidents, Field::MessageHash), Value::Int32, Operators::Ordered),
        Filterable { name: "tags", by: By::Tags, value: Value::Text, operators: Operators::None },
        filterable("businessId", Field::BusinessId, Value::Text, Operators::Like),
        filterable("processDefinitionId", Field::ProcessId, Value::Text, Operators::Like),
        filterable("processDefinitionName", Field::DefinitionName, Value::Text, Operators::Like),
        filterable("processDefinitionVersion", Field::Version, Value::Int32, Operators::Ordered),
        filterable("processDefinitionVersionTag", Field::VersionTag, Value::Text, Operators::Like),
        filterable("processDefinitionKey", Field::DefinitionKey, Value::Key, Operators::Basic),
        Filterable { name: "$or", by: By::Any, value: Value::Text, operators: Operators::None },
    ],
    sorts: &[
        sortable("processInstanceKey", Field::InstanceKey, Value::Key),
        sortable("processDefinitionId", Field::ProcessId, Value::Text),
        sortable("processDefinitionName", Field::DefinitionName, Value::Text),
        sortable("processDefinitionVersion", Field::Version, Value::Int32),
        sortable("processDefinitionVersionTag", Field::VersionTag, Value::Text),
        sortable("processDefinitionKey", Field::DefinitionKey, Value::Key),
        sortable("parentProcessInstanceKey", Field::ParentInstanceKey, Value::Key),
        sortable("parentElementInstanceKey", Field::ParentElementKey, Value::Key),
        sortable("startDate", Field::Started, Value::Time),
        sortable("endDate", Field::Ended, Value::Time),
        sortable("state", Field::InstanceState, Value::Word(INSTANCE_STATES)),
        sortable("hasIncident", Field::HasIncident, Value::Boolean),
        sortable("tenantId", Field::Tenant, Value::Text),
        sortable("businessId", Field::BusinessId, Value::Text),
    ],
};

pub(super) static LAYOUT: Layout<InstanceView> = Layout {
    name: "ProcessInstanceResult",
    columns: &[
        column("processDefinitionId", Kind::Text, |view| Cell::Text(&view.process_id)),
        optional("processDefinitionName", Kind::Text, |view| Cell::maybe_text(view.name.as_deref())),
        column("processDefinitionVersion", Kind::Int32, |view| Cell::Number(view.version.into())),
        optional("processDefinitionVersionTag", Kind::Text, |view| Cell::maybe_text(view.version_tag.as_deref())),
        column("startDate", Kind::Time, |view| Cell::Time(view.started)),
        optional("endDate", Kind::Time, |view| Cell::maybe(view.ended, Cell::Time)),
        column("state", Kind::Word(INSTANCE_STATES), |view| Cell::Text(view.state.word())),
        column("hasIncident", Kind::Boolean, |view| Cell::Boolean(view.has_incident)),
        column("tenantId", Kind::Text, |view| Cell::Text(&view.tenant)),
        column("processInstanceKey", Kind::Key, |view| Cell::Key(view.key.0)),
        column("processDefinitionKey", Kind::Key, |view| Cell::Key(view.definition.0)),
        optional("parentProcessInstanceKey", Kind::Key, |view| Cell::maybe(view.parent_instance, |parent| Cell::Key(parent.0))),
        optional("parentElementInstanceKey", Kind::Key, |view| Cell::maybe(view.parent_element, |parent| Cell::Key(parent.0))),
        optional("rootProcessInstanceKey", Kind::Key, |view| Cell::Key(view.root.0)),
        column("tags", Kind::Texts, |view| Cell::Strings(&view.tags)),
        optional("businessId", Kind::Text, |view| Cell::maybe_text(view.business_id.as_deref())),
        optional("suspendedDate", Kind::Time, |view| Cell::maybe(view.suspended, Cell::Time)),
    ],
};
