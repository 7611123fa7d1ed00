//! Operations over many: get, search, their items; suspend, resume, cancel. What they do is begun in `start`.

mod start;

use axum::http::Method;
use axum::response::Response;
use store::batch::{BatchCommand, WORDS};
use store::log::{Answer, Command};
use store::query::{BatchItemView, BatchView, Entity, Field, Filter, Op, Scalar};

use super::answer;
use super::call::Call;
use super::describe::Kind;
use super::layout::{Cell, Layout, column, optional};
use super::operation::{Input, Operation, Output};
use super::search::{self, By, Constant, Filterable, Operators, Table, Value, filterable, sortable};
use crate::caller;
use crate::error::Failure;

pub(super) use start::OPERATIONS as START;

const STATES: &[&str] = &["CREATED", "ACTIVE", "SUSPENDED", "CANCELED", "COMPLETED", "PARTIALLY_COMPLETED", "FAILED"];
const ITEM_STATES: &[&str] = &["ACTIVE", "COMPLETED", "CANCELED", "FAILED"];
const ACTORS: &[&str] = &["ANONYMOUS", "CLIENT", "UNKNOWN", "USER"];

pub(super) static OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::POST,
        path: "/v2/batch-operations/search",
        id: "searchBatchOperations",
        summary: "Search batch operations",
        input: Input::Search(&TABLE),
        query: &[],
        output: Output::Page(&LAYOUT),
        failures: &[],
        run: |call| Box::pin(async move { search::run(&call, &TABLE).await }),
    },
    Operation {
        method: Method::POST,
        path: "/v2/batch-operation-items/search",
        id: "searchBatchOperationItems",
        summary: "Search what batch operations are about, with what became of each",
        input: Input::Search(&ITEMS),
        query: &[],
        output: Output::Page(&ITEM),
        failures: &[],
        run: |call| Box::pin(async move { search::run(&call, &ITEMS).await }),
    },
    Operation {
        method: Method::GET,
        path: "/v2/batch-operations/{batchOperationKey}",
        id: "getBatchOperation",
        summary: "A batch operation, and how far it has come",
        input: Input::None,
        query: &[],
        output: Output::Object(&LAYOUT),
        failures: &[404],
        run: |call| Box::pin(get(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/batch-operations/{batchOperationKey}/suspension",
        id: "suspendBatchOperation",
        summary: "Let a batch operation stand still",
        input: Input::Ignored,
        query: &[],
        output: Output::NoContent,
        failures: &[404, 409, 504],
        run: |call| Box::pin(async move { steer(call, "SUSPEND", |batch| BatchCommand::Suspend { batch }).await }),
    },
    Operation {
        method: Method::POST,
        path: "/v2/batch-operations/{batchOperationKey}/resumption",
        id: "resumeBatchOperation",
        summary: "Let a suspended batch operation go on",
        input: Input::Ignored,
        query: &[],
        output: Output::NoContent,
        failures: &[404, 409, 504],
        run: |call| Box::pin(async move { steer(call, "RESUME", |batch| BatchCommand::Resume { batch }).await }),
    },
    Operation {
        method: Method::POST,
        path: "/v2/batch-operations/{batchOperationKey}/cancellation",
        id: "cancelBatchOperation",
        summary: "End a batch operation: what it has done stays done",
        input: Input::Ignored,
        query: &[],
        output: Output::NoContent,
        failures: &[404, 409, 504],
        run: |call| Box::pin(async move { steer(call, "CANCEL", |batch| BatchCommand::Cancel { batch }).await }),
    },
];

async fn get(call: Call) -> Result<Response, Failure> {
    let key = call.key()?;
    let found = search::get_by(&call, Entity::Batches, Filter::Is(Field::BatchKey, Op::Eq(Scalar::Int(key)))).await?;
    found.ok_or_else(|| Failure::not_found(format!("Batch Operation with id '{key}' not found")))
}

async fn steer(call: Call, intent: &str, command: fn(u64) -> BatchCommand) -> Result<Response, Failure> {
    let batch = call.existing_key()?;
    call.perform(intent, Command::Batch(command(batch))).await
}

/// What whoever begins one is told.
pub(super) static CREATED: Layout<Answer> = Layout {
    name: "BatchOperationCreatedResult",
    columns: &[
        column("batchOperationKey", Kind::Key, |answer| match answer {
            Answer::BatchStarted { key, .. } => Cell::Key(*key),
            _ => Cell::Null,
        }),
        column("batchOperationType", Kind::Word(WORDS), |answer| match answer {
            Answer::BatchStarted { kind, .. } => Cell::Text(kind),
            _ => Cell::Null,
        }),
    ],
};

fn begun(answer: &Answer) -> Option<Response> {
    matches!(answer, Answer::BatchStarted { .. }).then(|| answer::ok(CREATED.to_vec(answer)))
}

static TABLE: Table = Table {
    name: "BatchOperation",
    entity: Entity::Batches,
    filters: &[
        filterable("batchOperationKey", Field::BatchKey, Value::Key, Operators::Basic),
        filterable("operationType", Field::BatchKind, Value::Word(WORDS), Operators::Like),
        filterable("state", Field::BatchState, Value::Word(STATES), Operators::Like),
        Filterable {
            name: "actorType",
            by: By::Fixed(Constant::Text("ANONYMOUS")),
            value: Value::Word(ACTORS),
            operators: Operators::None,
        },
        Filterable { name: "actorId", by: By::Fixed(Constant::Absent), value: Value::Text, operators: Operators::Like },
    ],
    sorts: &[
        sortable("batchOperationKey", Field::BatchKey, Value::Key),
        sortable("operationType", Field::BatchKind, Value::Word(WORDS)),
        sortable("state", Field::BatchState, Value::Word(STATES)),
        sortable("startDate", Field::Started, Value::Time),
        sortable("endDate", Field::Ended, Value::Time),
        sortable("actorType", Field::Actor, Value::Text),
        sortable("actorId", Field::Actor, Value::Text),
    ],
};

pub(super) static LAYOUT: Layout<BatchView> = Layout {
    name: "BatchOperationResponse",
    columns: &[
        column("batchOperationKey", Kind::Key, |view| Cell::Key(view.key)),
        column("state", Kind::Word(STATES), |view| Cell::Text(view.state.word())),
        column("batchOperationType", Kind::Word(WORDS), |view| Cell::Text(&view.kind)),
        optional("startDate", Kind::Time, |view| Cell::maybe(view.started, Cell::Time)),
        optional("endDate", Kind::Time, |view| Cell::maybe(view.ended, Cell::Time)),
        optional("actorType", Kind::Word(ACTORS), |view| {
            Cell::Text(if caller::is_anonymous(&view.actor) { "ANONYMOUS" } else { "USER" })
        }),
        optional("actorId", Kind::Text, |view| Cell::maybe_text(Some(&*view.actor).filter(|actor| !caller::is_anonymous(actor)))),
        column("operationsTotalCount", Kind::Int32, |view| Cell::Number(view.total as i64)),
        column("operationsFailedCount", Kind::Int32, |view| Cell::Number(view.failed as i64)),
        column("operationsCompletedCount", Kind::Int32, |view| Cell::Number(view.completed as i64)),
        column("errors", Kind::NestedList(&ERROR), |view| {
            Cell::Nested(Box::new(|out| {
                let errors: Vec<String> = view.error.clone().into_iter().collect();
                ERROR.write_list(out, &errors);
            }))
        }),
    ],
};

static ERROR: Layout<String> = Layout {
    name: "BatchOperationError",
    columns: &[
        column("partitionId", Kind::Int32, |_| Cell::Number(1)),
        column("type", Kind::Text, |_| Cell::Text("QUERY_FAILED")),
        column("message", Kind::Text, |message| Cell::Text(message)),
    ],
};

static ITEMS: Table = Table {
    name: "BatchOperationItem",
    entity: Entity::BatchItems,
    filters: &[
        filterable("batchOperationKey", Field::BatchKey, Value::Key, Operators::Basic),
        filterable("itemKey", Field::ItemKey, Value::Key, Operators::Basic),
        filterable("processInstanceKey", Field::InstanceKey, Value::Key, Operators::Basic),
        filterable("state", Field::ItemState, Value::Word(ITEM_STATES), Operators::Like),
        filterable("operationType", Field::BatchKind, Value::Word(WORDS), Operators::Like),
    ],
    sorts: &[
        sortable("batchOperationKey", Field::BatchKey, Value::Key),
        sortable("itemKey", Field::ItemKey, Value::Key),
        sortable("processInstanceKey", Field::InstanceKey, Value::Key),
        sortable("processedDate", Field::Processed, Value::Time),
        sortable("state", Field::ItemState, Value::Word(ITEM_STATES)),
    ],
};

pub(super) static ITEM: Layout<BatchItemView> = Layout {
    name: "BatchOperationItemResponse",
    columns: &[
        column("operationType", Kind::Word(WORDS), |view| Cell::Text(&view.kind)),
        column("batchOperationKey", Kind::Key, |view| Cell::Key(view.batch)),
        column("itemKey", Kind::Key, |view| Cell::Key(view.item)),
        optional("processInstanceKey", Kind::Key, |view| Cell::maybe(view.instance, |key| Cell::Key(key.0))),
        optional("rootProcessInstanceKey", Kind::Key, |view| Cell::maybe(view.root, |key| Cell::Key(key.0))),
        column("state", Kind::Word(ITEM_STATES), |view| Cell::Text(view.state.word())),
        optional("processedDate", Kind::Time, |view| Cell::maybe(view.processed, Cell::Time)),
        optional("errorMessage", Kind::Text, |view| Cell::maybe_text(view.error.as_deref())),
    ],
};
