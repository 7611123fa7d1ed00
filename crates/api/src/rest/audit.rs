//! The audit trail: what people did as clients know it, and all of it, with what workers did with jobs, under `/v1`.

use axum::http::Method;
use axum::response::Response;
use serde_json::json;
use store::query::{AuditView, Entity, Field, Filter, Items, Op, Scalar};

use super::call::Call;
use super::describe::Kind;
use super::layout::{Cell, Layout, column, empty, optional};
use super::operation::{Input, Operation, Output};
use super::search::listed::{self, AFTER, BEFORE, FROM, LIMIT, SORT, Span};
use super::search::{self, By, Constant, Filterable, Operators, Sortable, Table, Value, filterable, sortable};
use super::shape::field;
use crate::error::Failure;

const NOUN: &str = "Audit Log";
const CATEGORIES: &[&str] = &["ADMIN", "DEPLOYED_RESOURCES", "USER_TASKS"];
const ACTORS: &[&str] = &["ANONYMOUS", "CLIENT", "UNKNOWN", "USER"];
const RESULTS: &[&str] = &["FAIL", "SUCCESS"];
/// The words clients know.
const OPERATION_TYPES: &[&str] = &[
    "ASSIGN", "CANCEL", "COMPLETE", "CREATE", "DELETE", "EVALUATE", "MIGRATE", "MODIFY", "RESOLVE", "RESUME", "SUSPEND",
    "UNASSIGN", "UNKNOWN", "UPDATE",
];
const ENTITY_TYPES: &[&str] = &[
    "AUTHORIZATION",
    "BATCH",
    "DECISION",
    "GROUP",
    "INCIDENT",
    "JOB",
    "MAPPING_RULE",
    "PROCESS_INSTANCE",
    "RESOURCE",
    "ROLE",
    "TENANT",
    "USER",
    "USER_TASK",
    "VARIABLE",
    "CLIENT",
];
const BATCH_TYPES: &[&str] = &[
    "ADD_VARIABLE",
    "CANCEL_PROCESS_INSTANCE",
    "DELETE_DECISION_DEFINITION",
    "DELETE_DECISION_INSTANCE",
    "DELETE_PROCESS_DEFINITION",
    "DELETE_PROCESS_INSTANCE",
    "MIGRATE_PROCESS_INSTANCE",
    "MODIFY_PROCESS_INSTANCE",
    "RESOLVE_INCIDENT",
    "UPDATE_VARIABLE",
];
/// All there is.
const OPERATIONS_V1: &[&str] = &[
    "CREATE",
    "UPDATE",
    "DELETE",
    "ASSIGN",
    "UNASSIGN",
    "COMPLETE",
    "CANCEL",
    "MODIFY",
    "MIGRATE",
    "RESOLVE",
    "SUSPEND",
    "RESUME",
    "RETRY",
    "FIRE",
    "RESCHEDULE",
    "DISPATCH",
    "FAIL",
    "THROW",
    "TIME_OUT",
    "RELEASE",
];
const ENTITIES_V1: &[&str] = &[
    "RESOURCE",
    "DECISION",
    "PROCESS_INSTANCE",
    "INCIDENT",
    "VARIABLE",
    "USER_TASK",
    "JOB",
    "BATCH",
    "TIMER",
    "POLICY",
    "LISTENER",
    "SCHEDULE",
];

pub(super) static OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::POST,
        path: "/v2/audit-logs/search",
        id: "searchAuditLogs",
        summary: "Search what people did",
        input: Input::Search(&TABLE),
        query: &[],
        output: Output::Page(&LAYOUT),
        failures: &[],
        run: |call| Box::pin(async move { search::run_within(&call, &TABLE, Some(known_to_clients()), |_| ()).await }),
    },
    Operation {
        method: Method::GET,
        path: "/v2/audit-logs/{auditLogKey}",
        id: "getAuditLog",
        summary: "One thing somebody did",
        input: Input::None,
        query: &[],
        output: Output::Object(&LAYOUT),
        failures: &[404],
        run: |call| Box::pin(get(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/user-tasks/{userTaskKey}/audit-logs/search",
        id: "searchUserTaskAuditLogs",
        summary: "Search what people did to a task",
        input: Input::Search(&TABLE_OF_TASK),
        query: &[],
        output: Output::Page(&LAYOUT),
        failures: &[404],
        run: |call| Box::pin(of_task(call)),
    },
    Operation {
        method: Method::GET,
        path: "/v1/audit",
        id: "listAudit",
        summary: "List what people did and what workers did with jobs, the latest first",
        input: Input::None,
        query: &[
            field("action", Kind::Text, "Of jobs of this type"),
            field("processInstanceKey", Kind::Key, "Of this process instance"),
            field("processDefinitionKey", Kind::Key, "Of this version of a process"),
            field("processDefinitionId", Kind::Text, "Of this process"),
            field("elementInstanceKey", Kind::Key, "Of this element instance"),
            field("jobKey", Kind::Key, "Of this job or execution"),
            field("userTaskKey", Kind::Key, "Of this user task"),
            field("entityType", Kind::Word(ENTITIES_V1), "To things of this kind"),
            field("entityKey", Kind::Text, "To this one"),
            field("operation", Kind::Word(OPERATIONS_V1), "Only this"),
            field("actorId", Kind::Text, "By this person"),
            field("worker", Kind::Text, "By this worker"),
            field("since", Kind::Time, "Then or later"),
            field("until", Kind::Time, "Before then"),
            SORT,
            LIMIT,
            FROM,
            AFTER,
            BEFORE,
        ],
        output: Output::Page(&LAYOUT_V1),
        failures: &[],
        run: |call| Box::pin(list(call)),
    },
];

/// What clients have words for.
fn known_to_clients() -> Filter {
    let one_of =
        |field, words: &[&str]| Filter::Is(field, Op::In(words.iter().map(|word| Scalar::Text((*word).to_owned())).collect()));
    Filter::All(vec![one_of(Field::AuditEntity, ENTITY_TYPES), one_of(Field::Operation, OPERATION_TYPES)])
}

async fn get(call: Call) -> Result<Response, Failure> {
    // It is any text there, and what is none of ours is simply not found.
    let key = call.key().map_err(|_| Failure::not_found(format!("{NOUN} with id '{}' not found", call.segment())))?;
    let filter = Filter::All(vec![Filter::Is(Field::AuditKey, Op::Eq(Scalar::Int(key))), known_to_clients()]);
    let found = search::get_by(&call, Entity::Operations, filter).await?;
    found.ok_or_else(|| Failure::not_found(format!("{NOUN} with key '{key}' not found")))
}

async fn of_task(call: Call) -> Result<Response, Failure> {
    let found = search::found(&call, Entity::UserTasks, "User Task").await?;
    let Items::UserTasks(tasks) = &found.items else { return Err(Failure::not_found("There is no such user task")) };
    let key = tasks.first().map_or(0, |task| task.key.0);
    let of_task = Filter::Is(Field::UserTaskKey, Op::Eq(Scalar::Int(key as i64)));
    search::run_within(&call, &TABLE_OF_TASK, Some(Filter::All(vec![of_task, known_to_clients()])), |_| ()).await
}

async fn list(call: Call) -> Result<Response, Failure> {
    let span = Span { property: "timestamp", since: "since", until: "until" };
    let sort = json!([{ "field": "timestamp", "order": "DESC" }, { "field": "auditKey", "order": "DESC" }]);
    listed::run(&call, &TABLE_V1, &span, sort).await
}

const fn absent(name: &'static str, value: Value, operators: Operators) -> Filterable {
    Filterable { name, by: By::Fixed(Constant::Absent), value, operators }
}

const RESULT: Filterable = Filterable {
    name: "result",
    by: By::Fixed(Constant::Text("SUCCESS")),
    value: Value::Word(RESULTS),
    operators: Operators::Like,
};

static TABLE: Table = Table {
    name: "AuditLog",
    entity: Entity::Operations,
    filters: &[
        filterable("auditLogKey", Field::AuditKey, Value::Key, Operators::Basic),
        filterable("processDefinitionKey", Field::DefinitionKey, Value::Key, Operators::Basic),
        filterable("processInstanceKey", Field::InstanceKey, Value::Key, Operators::Basic),
        filterable("elementInstanceKey", Field::ElementKey, Value::Key, Operators::Basic),
        filterable("operationType", Field::Operation, Value::Word(OPERATION_TYPES), Operators::Like),
        RESULT,
        filterable("timestamp", Field::At, Value::Time, Operators::Ordered),
        filterable("actorId", Field::Actor, Value::Text, Operators::Like),
        filterable("actorType", Field::ActorKind, Value::Word(ACTORS), Operators::Like),
        absent("agentElementId", Value::Text, Operators::Like),
        filterable("entityKey", Field::EntityKey, Value::Text, Operators::Basic),
        filterable("entityType", Field::AuditEntity, Value::Word(ENTITY_TYPES), Operators::Like),
        filterable("tenantId", Field::Tenant, Value::Text, Operators::Like),
        filterable("category", Field::Category, Value::Word(CATEGORIES), Operators::Like),
        filterable("deploymentKey", Field::DeploymentKey, Value::Key, Operators::Basic),
        filterable("formKey", Field::FormKey, Value::Key, Operators::Basic),
        filterable("resourceKey", Field::ResourceKey, Value::Key, Operators::Basic),
        absent("batchOperationType", Value::Word(BATCH_TYPES), Operators::Like),
        filterable("processDefinitionId", Field::ProcessId, Value::Text, Operators::Like),
        filterable("jobKey", Field::JobKey, Value::Key, Operators::Basic),
        filterable("userTaskKey", Field::UserTaskKey, Value::Key, Operators::Basic),
        filterable("decisionRequirementsId", Field::RequirementsId, Value::Text, Operators::Like),
        filterable("decisionRequirementsKey", Field::RequirementsKey, Value::Key, Operators::Basic),
        filterable("decisionDefinitionId", Field::DecisionId, Value::Text, Operators::Like),
        filterable("decisionDefinitionKey", Field::DecisionKey, Value::Key, Operators::Basic),
        absent("decisionEvaluationKey", Value::Key, Operators::Basic),
        absent("relatedEntityKey", Value::Text, Operators::Basic),
        absent("relatedEntityType", Value::Word(ENTITY_TYPES), Operators::Like),
        filterable("entityDescription", Field::Description, Value::Text, Operators::Like),
    ],
    sorts: SORTS,
};

const SORTS: &[Sortable] = &[
    sortable("actorId", Field::Actor, Value::Text),
    sortable("actorType", Field::ActorKind, Value::Text),
    sortable("auditLogKey", Field::AuditKey, Value::Key),
    sortable("batchOperationKey", Field::BatchKey, Value::Key),
    Sortable { name: "batchOperationType", field: None, value: Value::Text },
    sortable("category", Field::Category, Value::Text),
    sortable("decisionDefinitionId", Field::DecisionId, Value::Text),
    sortable("decisionDefinitionKey", Field::DecisionKey, Value::Key),
    Sortable { name: "decisionEvaluationKey", field: None, value: Value::Key },
    sortable("decisionRequirementsId", Field::RequirementsId, Value::Text),
    sortable("decisionRequirementsKey", Field::RequirementsKey, Value::Key),
    sortable("elementInstanceKey", Field::ElementKey, Value::Key),
    sortable("entityKey", Field::EntityKey, Value::Text),
    sortable("entityType", Field::AuditEntity, Value::Text),
    sortable("jobKey", Field::JobKey, Value::Key),
    sortable("operationType", Field::Operation, Value::Text),
    sortable("processDefinitionId", Field::ProcessId, Value::Text),
    sortable("processDefinitionKey", Field::DefinitionKey, Value::Key),
    sortable("processInstanceKey", Field::InstanceKey, Value::Key),
    Sortable { name: "result", field: None, value: Value::Text },
    sortable("tenantId", Field::Tenant, Value::Text),
    sortable("timestamp", Field::At, Value::Time),
    sortable("userTaskKey", Field::UserTaskKey, Value::Key),
];

static TABLE_OF_TASK: Table = Table {
    name: "UserTaskAuditLog",
    entity: Entity::Operations,
    filters: &[
        filterable("operationType", Field::Operation, Value::Word(OPERATION_TYPES), Operators::Like),
        RESULT,
        filterable("timestamp", Field::At, Value::Time, Operators::Ordered),
        filterable("actorType", Field::ActorKind, Value::Word(ACTORS), Operators::Like),
        filterable("actorId", Field::Actor, Value::Text, Operators::Like),
    ],
    sorts: SORTS,
};

static TABLE_V1: Table = Table {
    name: "Audit",
    entity: Entity::Audit,
    filters: &[
        filterable("action", Field::JobType, Value::Text, Operators::None),
        filterable("processInstanceKey", Field::InstanceKey, Value::Key, Operators::None),
        filterable("processDefinitionKey", Field::DefinitionKey, Value::Key, Operators::None),
        filterable("processDefinitionId", Field::ProcessId, Value::Text, Operators::None),
        filterable("elementInstanceKey", Field::ElementKey, Value::Key, Operators::None),
        filterable("jobKey", Field::JobKey, Value::Key, Operators::None),
        filterable("userTaskKey", Field::UserTaskKey, Value::Key, Operators::None),
        filterable("entityType", Field::AuditEntity, Value::Word(ENTITIES_V1), Operators::None),
        filterable("entityKey", Field::EntityKey, Value::Text, Operators::None),
        filterable("operation", Field::Operation, Value::Word(OPERATIONS_V1), Operators::None),
        filterable("actorId", Field::Actor, Value::Text, Operators::None),
        filterable("worker", Field::Worker, Value::Text, Operators::None),
        filterable("timestamp", Field::At, Value::Time, Operators::Ordered),
    ],
    sorts: &[
        sortable("auditKey", Field::AuditKey, Value::Key),
        sortable("timestamp", Field::At, Value::Time),
        sortable("operation", Field::Operation, Value::Text),
        sortable("entityType", Field::AuditEntity, Value::Text),
        sortable("action", Field::JobType, Value::Text),
        sortable("processInstanceKey", Field::InstanceKey, Value::Key),
        sortable("jobKey", Field::JobKey, Value::Key),
    ],
};

pub(super) static LAYOUT: Layout<AuditView> = Layout {
    name: "AuditLogResult",
    columns: &[
        column("auditLogKey", Kind::Key, |view| Cell::Key(view.key)),
        column("entityKey", Kind::Text, |view| Cell::Text(&view.entity_key)),
        column("entityType", Kind::Word(ENTITY_TYPES), |view| Cell::Text(view.entity.word())),
        column("operationType", Kind::Word(OPERATION_TYPES), |view| Cell::Text(view.operation.word())),
        optional("batchOperationKey", Kind::Key, |view| Cell::maybe(view.batch, Cell::Key)),
        empty("batchOperationType", Kind::Word(BATCH_TYPES)),
        column("timestamp", Kind::Time, |view| Cell::Time(view.at)),
        optional("actorId", Kind::Text, |view| Cell::maybe_text(view.actor.as_deref())),
        optional("actorType", Kind::Word(ACTORS), |view| Cell::Text(actor_type(view))),
        empty("agentElementId", Kind::Text),
        optional("tenantId", Kind::Text, |view| Cell::Text(&view.tenant)),
        column("result", Kind::Word(RESULTS), |_| Cell::Text("SUCCESS")),
        column("category", Kind::Word(CATEGORIES), |view| Cell::Text(view.entity.category())),
        optional("processDefinitionId", Kind::Text, |view| Cell::maybe_text(view.process_id.as_deref())),
        optional("processDefinitionKey", Kind::Key, |view| Cell::maybe(view.definition, |key| Cell::Key(key.0))),
        optional("processInstanceKey", Kind::Key, |view| Cell::maybe(view.instance, |key| Cell::Key(key.0))),
        optional("rootProcessInstanceKey", Kind::Key, |view| Cell::maybe(view.root, |key| Cell::Key(key.0))),
        optional("elementInstanceKey", Kind::Key, |view| Cell::maybe(view.element_instance, |key| Cell::Key(key.0))),
        optional("jobKey", Kind::Key, |view| Cell::maybe(view.job, |key| Cell::Key(key.0))),
        optional("userTaskKey", Kind::Key, |view| Cell::maybe(view.user_task, |key| Cell::Key(key.0))),
        optional("decisionRequirementsId", Kind::Text, |view| Cell::maybe_text(view.requirements_id.as_deref())),
        optional("decisionRequirementsKey", Kind::Key, |view| Cell::maybe(view.requirements, |key| Cell::Key(key.0))),
        optional("decisionDefinitionId", Kind::Text, |view| Cell::maybe_text(view.decision_id.as_deref())),
        optional("decisionDefinitionKey", Kind::Key, |view| Cell::maybe(view.decision, |key| Cell::Key(key.0))),
        empty("decisionEvaluationKey", Kind::Key),
        optional("deploymentKey", Kind::Key, |view| Cell::maybe(view.deployment, Cell::Key)),
        optional("formKey", Kind::Key, |view| Cell::maybe(view.form, |key| Cell::Key(key.0))),
        optional("resourceKey", Kind::Key, |view| Cell::maybe(view.resource, Cell::Key)),
        empty("relatedEntityKey", Kind::Text),
        empty("relatedEntityType", Kind::Word(ENTITY_TYPES)),
        optional("entityDescription", Kind::Text, |view| Cell::maybe_text(view.description.as_deref())),
    ],
};

pub(super) static LAYOUT_V1: Layout<AuditView> = Layout {
    name: "AuditEntry",
    columns: &[
        column("auditKey", Kind::Key, |view| Cell::Key(view.key)),
        column("timestamp", Kind::Time, |view| Cell::Time(view.at)),
        column("operation", Kind::Word(OPERATIONS_V1), |view| Cell::Text(view.operation.word())),
        column("entityType", Kind::Word(ENTITIES_V1), |view| Cell::Text(view.entity.word())),
        column("entityKey", Kind::Text, |view| Cell::Text(&view.entity_key)),
        optional("description", Kind::Text, |view| Cell::maybe_text(view.description.as_deref())),
        column("actorType", Kind::Word(ACTORS), |view| Cell::Text(actor_type(view))),
        optional("actorId", Kind::Text, |view| Cell::maybe_text(view.actor.as_deref())),
        optional("action", Kind::Text, |view| Cell::maybe_text(view.job_type.as_deref())),
        optional("jobKey", Kind::Key, |view| Cell::maybe(view.job, |key| Cell::Key(key.0))),
        optional("worker", Kind::Text, |view| Cell::maybe_text(view.worker.as_deref())),
        optional("processDefinitionId", Kind::Text, |view| Cell::maybe_text(view.process_id.as_deref())),
        optional("processDefinitionKey", Kind::Key, |view| Cell::maybe(view.definition, |key| Cell::Key(key.0))),
        optional("processInstanceKey", Kind::Key, |view| Cell::maybe(view.instance, |key| Cell::Key(key.0))),
        optional("rootProcessInstanceKey", Kind::Key, |view| Cell::maybe(view.root, |key| Cell::Key(key.0))),
        optional("elementInstanceKey", Kind::Key, |view| Cell::maybe(view.element_instance, |key| Cell::Key(key.0))),
        optional("userTaskKey", Kind::Key, |view| Cell::maybe(view.user_task, |key| Cell::Key(key.0))),
        optional("batchOperationKey", Kind::Key, |view| Cell::maybe(view.batch, Cell::Key)),
        column("tenantId", Kind::Text, |view| Cell::Text(&view.tenant)),
    ],
};

fn actor_type(view: &AuditView) -> &'static str {
    if view.actor.is_some() { "USER" } else { "ANONYMOUS" }
}
