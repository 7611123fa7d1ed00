//! Dead letters: jobs, of processes and of none, that nobody tries any more. Find them, look at them, let them be tried again.

use axum::http::Method;
use axum::response::Response;
use engine::JobKey;
use futures_util::future::join_all;
use store::log::Command;
use store::query::{DeadLetterView, Entity, Field, Items, Page, Query};

use super::answer;
use super::call::Call;
use super::describe::Kind;
use super::executions::present;
use super::layout::{Cell, Layout, column, optional};
use super::operation::{Input, Operation, Output};
use super::search::{self, Operators, Table, Value, filterable, sortable};
use super::shape::{Shape, field};
use crate::error::Failure;

const NOUN: &str = "Dead letter";
const KINDS: &[&str] = &["EXECUTION", "JOB"];
const STATES: &[&str] = &["FAILED", "ERROR_THROWN"];

/// Of so many one request takes care; there may be more.
const RETRIED_MAX: u32 = 1_000;
/// Of them so many at a time.
const RETRIED_AT_ONCE: usize = 100;
const RETRIES_MAX: i32 = 1_000;

pub(super) static OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::POST,
        path: "/v1/dead-letters/search",
        id: "searchDeadLetters",
        summary: "Search executions that have failed and jobs without retries",
        input: Input::Search(&TABLE),
        query: &[],
        output: Output::Page(&LAYOUT),
        failures: &[],
        run: |call| Box::pin(async move { search::run(&call, &TABLE).await }),
    },
    Operation {
        method: Method::GET,
        path: "/v1/dead-letters/{deadLetterId}",
        id: "getDeadLetter",
        summary: "One of them, with its input if it is an execution",
        input: Input::None,
        query: &[],
        output: Output::Object(&LAYOUT),
        failures: &[404],
        run: |call| Box::pin(async move { search::get(&call, Entity::DeadLetters, NOUN).await }),
    },
    Operation {
        method: Method::POST,
        path: "/v1/dead-letters/{deadLetterId}/retry",
        id: "retryDeadLetter",
        summary: "Let one be tried again; its incident, if it has one, is resolved with it",
        input: Input::Optional(&RETRY),
        query: &[],
        output: Output::NoContent,
        failures: &[404, 409, 504],
        run: |call| Box::pin(retry(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v1/dead-letters/retry",
        id: "retryDeadLetters",
        summary: "Let all that match be tried again, up to 1,000 with one request, each by itself",
        input: Input::Filter(&TABLE),
        query: &[field("retries", Kind::Int32, "How often each may be tried, 1 or more; 1 if left out")],
        output: Output::Object(&RETRIED),
        failures: &[504],
        run: |call| Box::pin(retry_all(call)),
    },
];

static RETRY: Shape = Shape {
    name: "DeadLetterRetryRequest",
    fields: &[field("retries", Kind::Int32, "How often it may be tried, 1 or more; 1 if left out")],
};

async fn retry(call: Call) -> Result<Response, Failure> {
    let job = JobKey(call.existing_key()?);
    let retries = within(call.optional(&RETRY)?.int32("retries").unwrap_or(1))?;
    call.perform("RETRY", Command::RetryJob { job, retries }).await
}

fn within(retries: i32) -> Result<i32, Failure> {
    match (1..=RETRIES_MAX).contains(&retries) {
        true => Ok(retries),
        false => Err(Failure::invalid(format!("The value for retries is '{retries}' but must be 1 to {RETRIES_MAX}."))),
    }
}

struct Retried {
    count: usize,
    refused: Vec<Refused>,
    has_more: bool,
}

struct Refused {
    job: JobKey,
    failure: Failure,
}

static RETRIED: Layout<Retried> = Layout {
    name: "DeadLettersRetried",
    columns: &[
        column("retried", Kind::Int32, |retried| Cell::Number(retried.count as i64)),
        column("refused", Kind::NestedList(&REFUSED), |retried| {
            Cell::Nested(Box::new(|out| REFUSED.write_list(out, &retried.refused)))
        }),
        // Whether there were more than one request takes care of.
        column("hasMore", Kind::Boolean, |retried| Cell::Boolean(retried.has_more)),
    ],
};

static REFUSED: Layout<Refused> = Layout {
    name: "DeadLetterRefused",
    columns: &[
        column("id", Kind::Key, |refused| Cell::Key(refused.job.0)),
        column("status", Kind::Int32, |refused| Cell::Number(refused.failure.reason.http_status().into())),
        column("detail", Kind::Text, |refused| Cell::Text(&refused.failure.detail)),
    ],
};

async fn retry_all(call: Call) -> Result<Response, Failure> {
    let given = call.parameters()?.into_iter().find(|(name, _)| name == "retries");
    let retries = given.map_or(Ok(1), |(_, text)| {
        text.parse().map_err(|_| Failure::unreadable(format!("Failed to convert 'retries' with value: '{text}'")))
    })?;
    let retries = within(retries)?;
    let query = Query {
        filter: search::filter(&call, &TABLE)?,
        page: Page::From { from: 0, limit: RETRIED_MAX },
        bytes_max: Some(call.config().page_bytes_max),
        ..Query::of(Entity::DeadLetters, call.caller.tenants())
    };
    let page = call.host().store().search(&query).await?;
    let Items::DeadLetters(found) = page.items else { return Err(Failure::not_found("There is none")) };
    let has_more = (found.len() as u64) < page.total;
    let (mut count, mut refused) = (0, Vec::new());
    for some in found.chunks(RETRIED_AT_ONCE) {
        for (view, done) in some.iter().zip(join_all(some.iter().map(|view| retried(&call, view, retries))).await) {
            match done {
                Ok(()) => count += 1,
                Err(failure) => refused.push(Refused { job: view.key, failure }),
            }
        }
    }
    Ok(answer::ok(RETRIED.to_vec(&Retried { count, refused, has_more })))
}

async fn retried(call: &Call, view: &DeadLetterView, retries: i32) -> Result<(), Failure> {
    let command = Command::RetryJob { job: view.key, retries };
    call.host().submit(call.caller.request(command, None)).await.map(drop).map_err(|error| Failure::of_command("RETRY", error))
}

static TABLE: Table = Table {
    name: "DeadLetter",
    entity: Entity::DeadLetters,
    filters: &[
        filterable("id", Field::ExecutionKey, Value::Key, Operators::Basic),
        filterable("action", Field::JobType, Value::Text, Operators::Like),
        filterable("state", Field::JobState, Value::Word(STATES), Operators::Like),
        filterable("processInstanceKey", Field::InstanceKey, Value::Key, Operators::Basic),
        filterable("error", Field::ErrorMessage, Value::Text, Operators::Like),
        filterable("errorCode", Field::ErrorCode, Value::Text, Operators::Like),
        filterable("worker", Field::Worker, Value::Text, Operators::Like),
        filterable("priority", Field::Priority, Value::Int32, Operators::Ordered),
        filterable("enqueuedAt", Field::Created, Value::Time, Operators::Ordered),
        filterable("failedAt", Field::Updated, Value::Time, Operators::Ordered),
    ],
    sorts: &[
        sortable("id", Field::ExecutionKey, Value::Key),
        sortable("action", Field::JobType, Value::Text),
        sortable("error", Field::ErrorMessage, Value::Text),
        sortable("enqueuedAt", Field::Created, Value::Time),
        sortable("failedAt", Field::Updated, Value::Time),
    ],
};

pub(super) static LAYOUT: Layout<DeadLetterView> = Layout {
    name: "DeadLetterResult",
    columns: &[
        column("id", Kind::Key, |view| Cell::Key(view.key.0)),
        column("kind", Kind::Word(KINDS), |view| Cell::Text(if view.instance.is_some() { "JOB" } else { "EXECUTION" })),
        column("action", Kind::Text, |view| Cell::Text(&view.action)),
        column("state", Kind::Word(STATES), |view| Cell::Text(view.state.word())),
        optional("error", Kind::Text, |view| Cell::maybe_text(present(&view.error_message))),
        optional("errorCode", Kind::Text, |view| Cell::maybe_text(present(&view.error_code))),
        column("attempts", Kind::Int32, |view| Cell::Number(view.attempts.into())),
        column("retries", Kind::Int32, |view| Cell::Number(view.retries.into())),
        column("priority", Kind::Int32, |view| Cell::Number(view.priority.into())),
        optional("worker", Kind::Text, |view| Cell::maybe_text(present(&view.worker))),
        optional("processInstanceKey", Kind::Key, |view| Cell::maybe(view.instance, |key| Cell::Key(key.0))),
        optional("elementInstanceKey", Kind::Key, |view| Cell::maybe(view.element_instance, |key| Cell::Key(key.0))),
        optional("input", Kind::Object, |view| Cell::maybe(view.input.as_deref(), Cell::Json)),
        optional("group", Kind::Object, |view| Cell::maybe(view.group.as_deref(), Cell::Json)),
        optional("progress", Kind::Object, |view| Cell::maybe(view.progress.as_deref(), Cell::Json)),
        column("enqueuedAt", Kind::Time, |view| Cell::Time(view.created)),
        column("failedAt", Kind::Time, |view| Cell::Time(view.failed)),
        column("tenantId", Kind::Text, |view| Cell::Text(&view.tenant)),
    ],
};
