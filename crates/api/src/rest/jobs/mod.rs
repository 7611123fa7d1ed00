//! Jobs: hand out, complete, fail, throw, change, search.

mod activate;
mod complete;
mod fail;
mod throw;
mod update;

pub(super) use activate::hand_out;
use axum::http::Method;
use store::query::{Entity, Field, JobView};
use store::row::JobState;

use super::describe::Kind;
use super::layout::{Cell, Layout, column, empty, optional};
use super::operation::{Input, Operation, Output};
use super::search::{self, Operators, Table, Value, filterable, sortable};

const STATES: &[&str] =
    &["CANCELED", "COMPLETED", "CREATED", "ERROR_THROWN", "FAILED", "MIGRATED", "RETRIES_UPDATED", "TIMED_OUT"];
const KINDS: &[&str] = &["BPMN_ELEMENT", "EXECUTION_LISTENER", "TASK_LISTENER", "AD_HOC_SUB_PROCESS"];
const LISTENER_EVENTS: &[&str] = &["ASSIGNING", "CANCELING", "COMPLETING", "CREATING", "END", "START", "UNSPECIFIED", "UPDATING"];

pub(super) static OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::POST,
        path: "/v2/jobs/activation",
        id: "activateJobs",
        summary: "Lease jobs of a type to a worker, waiting for one if there is none",
        input: Input::Required(&activate::ACTIVATION),
        query: &[],
        output: Output::Object(&activate::ACTIVATED),
        failures: &[504],
        run: |call| Box::pin(activate::activate(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/jobs/search",
        id: "searchJobs",
        summary: "Search jobs",
        input: Input::Search(&TABLE),
        query: &[],
        output: Output::Page(&LAYOUT),
        failures: &[],
        run: |call| Box::pin(async move { search::run(&call, &TABLE).await }),
    },
    Operation {
        method: Method::POST,
        path: "/v2/jobs/{jobKey}/completion",
        id: "completeJob",
        summary: "A job is done",
        input: Input::Optional(&complete::COMPLETION),
        query: &[],
        output: Output::NoContent,
        failures: &[404, 409, 504],
        run: |call| Box::pin(complete::complete(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/jobs/{jobKey}/failure",
        id: "failJob",
        summary: "A job could not be done this time",
        input: Input::Optional(&fail::FAILURE),
        query: &[],
        output: Output::NoContent,
        failures: &[404, 409, 504],
        run: |call| Box::pin(fail::fail(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/jobs/{jobKey}/error",
        id: "throwJobError",
        summary: "Throw a BPMN error from a job",
        input: Input::Required(&throw::ERROR),
        query: &[],
        output: Output::NoContent,
        failures: &[404, 409, 504],
        run: |call| Box::pin(throw::throw(call)),
    },
    Operation {
        method: Method::PATCH,
        path: "/v2/jobs/{jobKey}",
        id: "updateJob",
        summary: "Change the retries or the lease of a job",
        input: Input::Required(&update::UPDATE),
        query: &[],
        output: Output::NoContent,
        failures: &[404, 409, 504],
        run: |call| Box::pin(update::update(call)),
    },
];

static TABLE: Table = Table {
    name: "Job",
    entity: Entity::Jobs,
    filters: &[
        filterable("deadline", Field::Deadline, Value::Time, Operators::Ordered),
        filterable("deniedReason", Field::DeniedReason, Value::Text, Operators::Like),
        filterable("elementId", Field::ElementId, Value::Text, Operators::Like),
        filterable("elementInstanceKey", Field::ElementKey, Value::Key, Operators::Basic),
        filterable("endTime", Field::Ended, Value::Time, Operators::Ordered),
        filterable("errorCode", Field::ErrorCode, Value::Text, Operators::Like),
        filterable("errorMessage", Field::ErrorMessage, Value::Text, Operators::Like),
        filterable("hasFailedWithRetriesLeft", Field::FailedWithRetriesLeft, Value::Boolean, Operators::None),
        filterable("isDenied", Field::IsDenied, Value::Boolean, Operators::None),
        filterable("jobKey", Field::JobKey, Value::Key, Operators::Basic),
        filterable("kind", Field::JobKind, Value::Word(KINDS), Operators::Like),
        filterable("listenerEventType", Field::ListenerEvent, Value::Word(LISTENER_EVENTS), Operators::Like),
        filterable("processDefinitionId", Field::ProcessId, Value::Text, Operators::Like),
        filterable("processDefinitionKey", Field::DefinitionKey, Value::Key, Operators::Basic),
        filterable("processInstanceKey", Field::InstanceKey, Value::Key, Operators::Basic),
        filterable("retries", Field::Retries, Value::Int32, Operators::Ordered),
        filterable("state", Field::JobState, Value::Word(STATES), Operators::Like),
        filterable("tenantId", Field::Tenant, Value::Text, Operators::Like),
        filterable("type", Field::JobType, Value::Text, Operators::Like),
        filterable("worker", Field::Worker, Value::Text, Operators::Like),
        filterable("creationTime", Field::Created, Value::Time, Operators::Ordered),
        filterable("lastUpdateTime", Field::Updated, Value::Time, Operators::Ordered),
    ],
    sorts: &[
        sortable("deadline", Field::Deadline, Value::Time),
        sortable("deniedReason", Field::DeniedReason, Value::Text),
        sortable("elementId", Field::ElementId, Value::Text),
        sortable("elementInstanceKey", Field::ElementKey, Value::Key),
        sortable("endTime", Field::Ended, Value::Time),
        sortable("errorCode", Field::ErrorCode, Value::Text),
        sortable("errorMessage", Field::ErrorMessage, Value::Text),
        sortable("hasFailedWithRetriesLeft", Field::FailedWithRetriesLeft, Value::Boolean),
        sortable("isDenied", Field::IsDenied, Value::Boolean),
        sortable("jobKey", Field::JobKey, Value::Key),
        sortable("kind", Field::JobKind, Value::Text),
        sortable("listenerEventType", Field::ListenerEvent, Value::Text),
        sortable("processDefinitionId", Field::ProcessId, Value::Text),
        sortable("processDefinitionKey", Field::DefinitionKey, Value::Key),
        sortable("processInstanceKey", Field::InstanceKey, Value::Key),
        sortable("retries", Field::Retries, Value::Int32),
        sortable("state", Field::JobState, Value::Text),
        sortable("tenantId", Field::Tenant, Value::Text),
        sortable("type", Field::JobType, Value::Text),
        sortable("worker", Field::Worker, Value::Text),
    ],
};

pub(super) static LAYOUT: Layout<JobView> = Layout {
    name: "JobSearchResult",
    columns: &[
        column("customHeaders", Kind::Object, |view| Cell::Json(&view.headers)),
        optional("deadline", Kind::Time, |view| Cell::maybe(view.deadline, Cell::Time)),
        optional("deniedReason", Kind::Text, |view| {
            Cell::maybe(is_completed(view).then(|| view.denied.as_deref().unwrap_or_default()), Cell::Text)
        }),
        optional("elementId", Kind::Text, |view| Cell::Text(&view.element_id)),
        column("elementInstanceKey", Kind::Key, |view| Cell::Key(view.element_instance.0)),
        optional("endTime", Kind::Time, |view| Cell::maybe(view.ended, Cell::Time)),
        optional("errorCode", Kind::Text, |view| Cell::Text(&view.error_code)),
        optional("errorMessage", Kind::Text, |view| Cell::Text(&view.error_message)),
        column("hasFailedWithRetriesLeft", Kind::Boolean, |view| Cell::Boolean(view.failed_with_retries_left)),
        optional("isDenied", Kind::Boolean, |view| {
            Cell::maybe(is_completed(view).then_some(view.denied.is_some()), Cell::Boolean)
        }),
        column("jobKey", Kind::Key, |view| Cell::Key(view.key.0)),
        column("kind", Kind::Word(KINDS), |view| Cell::Text(view.kind.word())),
        column("listenerEventType", Kind::Word(LISTENER_EVENTS), |view| Cell::Text(view.kind.event_word())),
        column("processDefinitionId", Kind::Text, |view| Cell::Text(&view.process_id)),
        column("processDefinitionKey", Kind::Key, |view| Cell::Key(view.definition.0)),
        column("processInstanceKey", Kind::Key, |view| Cell::Key(view.instance.0)),
        optional("rootProcessInstanceKey", Kind::Key, |view| Cell::Key(view.root.0)),
        column("retries", Kind::Int32, |view| Cell::Number(view.retries.into())),
        column("state", Kind::Word(STATES), |view| Cell::Text(view.state.word())),
        column("tenantId", Kind::Text, |view| Cell::Text(&view.tenant)),
        column("type", Kind::Text, |view| Cell::Text(&view.job_type)),
        column("worker", Kind::Text, |view| Cell::Text(&view.worker)),
        optional("creationTime", Kind::Time, |view| Cell::Time(view.created)),
        optional("lastUpdateTime", Kind::Time, |view| Cell::Time(view.updated)),
        empty("businessId", Kind::Text),
        // There are no priorities yet; clients expect a number.
        column("priority", Kind::Int32, |_| Cell::Number(0)),
    ],
};

fn is_completed(view: &JobView) -> bool {
    view.state == JobState::Completed
}
