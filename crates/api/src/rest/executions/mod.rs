//! Executions: work that belongs to no process. Submit, find, cancel, retry; and completing many at once.

mod complete;
mod submit;

use std::sync::Arc;

use axum::http::Method;
use axum::response::Response;
use engine::JobKey;
use store::ReadyAfter;
use store::log::Command;
use store::query::{Entity, ExecutionView, Field, Filter, Items, Op, Page, Query, Scalar};
use store::row::ExecutionState;

use super::answer;
use super::call::Call;
use super::describe::Kind;
use super::layout::{Cell, Layout, column, optional};
use super::operation::{Input, Operation, Output};
use super::search::{self, Operators, Table, Value, filterable, sortable};
use super::shape::{Shape, field};
use crate::error::{Failure, Reason};

const NOUN: &str = "Execution";
const STATES: &[&str] = &["WAITING", "RUNNING", "COMPLETED", "FAILED", "CANCELLED"];

pub(super) use submit::{SUBMITTED, execution};

pub(super) static OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::POST,
        path: "/v1/actions/{action}/executions",
        id: "submitExecution",
        summary: "Submit work for the workers of a job type",
        input: Input::Optional(&submit::SUBMISSION),
        query: &[],
        output: Output::CreatedOrThere(&LAYOUT),
        failures: &[409, 429, 504],
        run: |call| Box::pin(submit::one(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v1/actions/{action}/executions/bulk",
        id: "submitExecutions",
        summary: "Submit up to 1,000 executions: all of them or none",
        input: Input::Required(&submit::BULK),
        query: &[],
        output: Output::Created(&submit::SUBMITTED),
        failures: &[409, 429, 504],
        run: |call| Box::pin(submit::bulk(call)),
    },
    Operation {
        method: Method::GET,
        path: "/v1/executions/{executionId}",
        id: "getExecution",
        summary: "An execution, with its result once it has one",
        input: Input::None,
        query: &[],
        output: Output::Object(&LAYOUT),
        failures: &[404],
        run: |call| Box::pin(get(call)),
    },
    Operation {
        method: Method::GET,
        path: "/v1/executions/{executionId}/position",
        id: "getExecutionPosition",
        summary: "The place of an execution that waits, from 1; null if it does not wait for a worker",
        input: Input::None,
        query: &[],
        output: Output::Object(&POSITION),
        failures: &[404],
        run: |call| Box::pin(position(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v1/executions/search",
        id: "searchExecutions",
        summary: "Search executions",
        input: Input::Search(&TABLE),
        query: &[],
        output: Output::Page(&LAYOUT),
        failures: &[],
        run: |call| Box::pin(async move { search::run(&call, &TABLE).await }),
    },
    Operation {
        method: Method::POST,
        path: "/v1/executions/{executionId}/cancel",
        id: "cancelExecution",
        summary: "Cancel an execution that waits, runs or has failed",
        input: Input::Optional(&NOTHING),
        query: &[],
        output: Output::NoContent,
        failures: &[404, 409, 504],
        run: |call| Box::pin(cancel(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v1/executions/{executionId}/retry",
        id: "retryExecution",
        summary: "Let an execution that has failed be tried again",
        input: Input::Optional(&RETRY),
        query: &[],
        output: Output::NoContent,
        failures: &[404, 409, 504],
        run: |call| Box::pin(retry(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v1/jobs/completion",
        id: "completeJobs",
        summary: "Complete up to 1,000 jobs, each by itself",
        input: Input::Required(&complete::COMPLETION),
        query: &[],
        output: Output::Object(&complete::COMPLETED),
        failures: &[504],
        run: |call| Box::pin(complete::many(call)),
    },
];

static NOTHING: Shape = Shape { name: "ExecutionCancellationRequest", fields: &[] };

static RETRY: Shape = Shape {
    name: "ExecutionRetryRequest",
    fields: &[field("retries", Kind::Int32, "How often it may be tried, 1 or more; 1 if left out")],
};

async fn get(call: Call) -> Result<Response, Failure> {
    Ok(answer::ok(LAYOUT.to_vec(&placed(&call).await?)))
}

async fn position(call: Call) -> Result<Response, Failure> {
    Ok(answer::ok(POSITION.to_vec(&placed(&call).await?)))
}

/// The execution in the path, with its place in its queue.
async fn placed(call: &Call) -> Result<ExecutionView, Failure> {
    let Items::Executions(mut found) = search::found(call, Entity::Executions, NOUN).await?.items else {
        return Err(Failure::not_found("There is no such execution"));
    };
    let mut view = found.remove(0);
    if view.state == ExecutionState::Waiting && view.due.is_none() {
        let place = ReadyAfter { priority: view.priority, key: view.key };
        let before = call.host().jobs_before(&view.action, &view.tenant, place).await;
        view.position = Some(before.map_err(|error| Failure::of_command("GET", error))? + 1);
    }
    Ok(view)
}

static POSITION: Layout<ExecutionView> = Layout {
    name: "ExecutionPosition",
    columns: &[
        column("id", Kind::Key, |view| Cell::Key(view.key.0)),
        column("state", Kind::Word(STATES), |view| Cell::Text(view.state.word())),
        optional("position", Kind::Int64, |view| Cell::maybe(view.position, |position| Cell::Number(position as i64))),
    ],
};

async fn cancel(call: Call) -> Result<Response, Failure> {
    let job = JobKey(call.existing_key()?);
    call.optional(&NOTHING)?;
    change(call, "CANCEL", Command::CancelExecution { job }).await
}

async fn retry(call: Call) -> Result<Response, Failure> {
    let job = JobKey(call.existing_key()?);
    let retries = call.optional(&RETRY)?.int32("retries").unwrap_or(1);
    if retries < 1 {
        return Err(Failure::invalid(format!("The value for retries is '{retries}' but must be greater than 0.")));
    }
    change(call, "RETRY", Command::RetryExecution { job, retries }).await
}

/// Does something to one that has not ended. Commands know no others: who means one that has is told so.
async fn change(call: Call, intent: &str, command: Command) -> Result<Response, Failure> {
    let (server, tenants, key) = (call.server.clone(), call.caller.tenants(), call.key()?);
    let failure = match call.perform(intent, command).await {
        Err(failure) if failure.reason == Reason::NotFound => failure,
        done => return done,
    };
    let filter = Filter::Is(Entity::Executions.key(), Op::Eq(Scalar::Int(key)));
    let query = Query { filter, page: Page::From { from: 0, limit: 1 }, ..Query::of(Entity::Executions, tenants) };
    match server.host.store().search(&query).await?.items {
        Items::Executions(found) if !found.is_empty() => {
            let state = found[0].state.word();
            Err(Failure::new(Reason::InvalidState, format!("Expected {NOUN} '{key}' not to have ended, but it is {state}")))
        }
        _ => Err(failure),
    }
}

static TABLE: Table = Table {
    name: "Execution",
    entity: Entity::Executions,
    filters: &[
        filterable("id", Field::ExecutionKey, Value::Key, Operators::Basic),
        filterable("action", Field::JobType, Value::Text, Operators::Like),
        filterable("state", Field::ExecutionState, Value::Word(STATES), Operators::Like),
        filterable("priority", Field::Priority, Value::Int32, Operators::Ordered),
        filterable("retries", Field::Retries, Value::Int32, Operators::Ordered),
        filterable("attempts", Field::Attempts, Value::Int32, Operators::Ordered),
        filterable("worker", Field::Worker, Value::Text, Operators::Like),
        filterable("error", Field::ErrorMessage, Value::Text, Operators::Like),
        filterable("errorCode", Field::ErrorCode, Value::Text, Operators::Like),
        filterable("uniqueKey", Field::UniqueKey, Value::Text, Operators::Like),
        filterable("enqueuedAt", Field::Created, Value::Time, Operators::Ordered),
        filterable("startedAt", Field::Started, Value::Time, Operators::Ordered),
        filterable("endedAt", Field::Ended, Value::Time, Operators::Ordered),
    ],
    sorts: &[
        sortable("id", Field::ExecutionKey, Value::Key),
        sortable("action", Field::JobType, Value::Text),
        sortable("state", Field::ExecutionState, Value::Text),
        sortable("priority", Field::Priority, Value::Int32),
        sortable("attempts", Field::Attempts, Value::Int32),
        sortable("enqueuedAt", Field::Created, Value::Time),
        sortable("startedAt", Field::Started, Value::Time),
        sortable("endedAt", Field::Ended, Value::Time),
    ],
};

pub(super) static LAYOUT: Layout<ExecutionView> = Layout {
    name: "ExecutionResult",
    columns: &[
        column("id", Kind::Key, |view| Cell::Key(view.key.0)),
        column("action", Kind::Text, |view| Cell::Text(&view.action)),
        column("state", Kind::Word(STATES), |view| Cell::Text(view.state.word())),
        column("input", Kind::Object, |view| Cell::Json(&view.input)),
        optional("result", Kind::Object, |view| Cell::maybe(view.result.as_deref(), Cell::Json)),
        optional("error", Kind::Text, |view| Cell::maybe_text(present(&view.error_message))),
        optional("errorCode", Kind::Text, |view| Cell::maybe_text(present(&view.error_code))),
        column("priority", Kind::Int32, |view| Cell::Number(view.priority.into())),
        column("attempts", Kind::Int32, |view| Cell::Number(view.attempts.into())),
        column("retries", Kind::Int32, |view| Cell::Number(view.retries.into())),
        optional("runAt", Kind::Time, |view| Cell::maybe(view.due, Cell::Time)),
        column("enqueuedAt", Kind::Time, |view| Cell::Time(view.created)),
        optional("startedAt", Kind::Time, |view| Cell::maybe(view.started, Cell::Time)),
        optional("endedAt", Kind::Time, |view| Cell::maybe(view.ended, Cell::Time)),
        optional("worker", Kind::Text, |view| Cell::maybe_text(present(&view.worker))),
        // Of one that is got by itself, if it waits for a worker.
        optional("position", Kind::Int64, |view| Cell::maybe(view.position, |position| Cell::Number(position as i64))),
        optional("uniqueKey", Kind::Text, |view| Cell::maybe_text(view.unique_key.as_deref())),
        optional("group", Kind::Object, |view| Cell::maybe(view.group.as_deref(), Cell::Json)),
        column("tenantId", Kind::Text, |view| Cell::Text(&view.tenant)),
        // What its worker has said last: percent, message, data.
        optional("progress", Kind::Object, |view| Cell::maybe(view.progress.as_deref(), Cell::Json)),
    ],
};

pub(super) fn present(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

/// The action in the path.
pub(super) fn action(call: &Call) -> Result<Arc<str>, Failure> {
    named(super::path::unescaped(call.segment()))
}

/// An action that somebody names.
pub(super) fn named(name: Option<String>) -> Result<Arc<str>, Failure> {
    let name = name.filter(|name| !name.trim().is_empty() && name.len() <= ACTION_BYTES_MAX);
    name.map(Into::into).ok_or_else(|| {
        Failure::invalid(format!("The name of an action has 1 to {ACTION_BYTES_MAX} bytes of UTF-8, percent-encoded in the path"))
    })
}

const ACTION_BYTES_MAX: usize = 1_000;
