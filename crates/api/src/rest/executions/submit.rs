//! Submits executions.

use std::time::Duration;

use axum::response::Response;
use bytes::Bytes;
use store::Millis;
use store::log::{Answer, Code, Command, NewExecution, NewUnique, OnConflict, Submit, SubmittedExecution};
use store::query::ExecutionView;
use store::row::ExecutionState;

use super::{LAYOUT, action};
use crate::document;
use crate::error::{Failure, Reason};
use crate::rest::call::Call;
use crate::rest::describe::Kind;
use crate::rest::layout::{Cell, Layout, column};
use crate::rest::shape::{Fields, Shape, field};
use crate::rest::{answer, search, time};

/// Executions in one request.
const BULK_MAX: usize = 1_000;

const PRIORITY_MAX: i32 = 100;
const RETRIES_DEFAULT: i32 = 3;
const RETRIES_MAX: i32 = 1_000;
const UNIQUE_KEY_BYTES_MAX: usize = 1_000;

const CONFLICTS: &[&str] = &["REJECT", "RETURN", "REPLACE"];

pub(super) static SUBMISSION: Shape = Shape {
    name: "ExecutionSubmission",
    fields: &[
        field("input", Kind::Object, "What its worker gets as variables"),
        field("priority", Kind::Int32, "0 to 100; the higher first"),
        field("retries", Kind::Int32, "How often it may be tried, 1 or more; 3 if left out"),
        field("runAt", Kind::Time, "Not before this time"),
        field("uniqueKey", Kind::Text, "No other execution of the action waits or runs with the same"),
        field("uniqueFor", Kind::Text, "A duration such as PT1H: nor is one submitted before it is over"),
        field(
            "onConflict",
            Kind::Word(CONFLICTS),
            "If another has the unique key: refuse this one, answer with the other, or cancel the other if it waits",
        ),
        field("group", Kind::Object, "Values for the parameters of a policy that are not in the input"),
        field("waitFor", Kind::Text, "A duration such as PT5S: answer when it has ended, or as it is when that is over"),
    ],
};

pub(super) static BULK: Shape = Shape {
    name: "ExecutionsSubmission",
    fields: &[field("executions", Kind::FieldsList(&SUBMISSION), "1 to 1,000 of them").required()],
};

/// Of many, who they are; the rest is as it was sent.
pub(in crate::rest) static SUBMITTED: Layout<Vec<SubmittedExecution>> = Layout {
    name: "ExecutionsSubmitted",
    columns: &[column("executions", Kind::NestedList(&ONE), |all| Cell::Nested(Box::new(|out| ONE.write_list(out, all))))],
};

static ONE: Layout<SubmittedExecution> = Layout {
    name: "ExecutionSubmitted",
    columns: &[
        column("id", Kind::Key, |one| Cell::Key(one.job.0)),
        // False for one that was there before, with the same unique key.
        column("isNew", Kind::Boolean, |one| Cell::Boolean(one.is_new)),
    ],
};

pub(super) async fn one(call: Call) -> Result<Response, Failure> {
    let (action, tenant) = (action(&call)?, call.caller.home());
    let mut fields = call.optional(&SUBMISSION)?;
    let wait = fields.text("waitFor").map(|text| time::duration(&text, "waitFor")).transpose()?;
    let execution = timed(&mut fields)?;
    drop(fields);
    let command = Command::Submit(Submit { tenant, action, executions: vec![execution] });
    match wait {
        Some(wait) if !call.wants_no_answer() => await_result(call, command, wait).await,
        Some(_) | None => submit_one(call, command).await,
    }
}

async fn submit_one(mut call: Call, command: Command) -> Result<Response, Failure> {
    let request = call.request(command.clone())?;
    call.body = Bytes::new();
    if call.wants_no_answer() {
        let position = call.host().submit_durably(request).await;
        return position.map(answer::accepted).map_err(refused);
    }
    let answer = call.host().submit(request).await.map_err(refused)?;
    let (Answer::Submitted(submitted), Command::Submit(submit)) = (&answer, command) else { return Err(unexpected(&answer)) };
    match submitted.executions.first() {
        Some(one) if one.is_new => Ok(answer::created(LAYOUT.to_vec(&as_submitted(one, submit, submitted.at)))),
        Some(SubmittedExecution { job, .. }) => search::get_key(&call, store::query::Entity::Executions, job.0).await,
        None => Err(unexpected(&answer)),
    }
}

async fn await_result(mut call: Call, command: Command, wait: Millis) -> Result<Response, Failure> {
    let request = call.request(command)?;
    call.body = Bytes::new();
    let wait = Duration::from_millis(u64::try_from(wait).unwrap_or(0)).min(call.config().await_timeout_max);
    let awaited = call.host().submit_and_await(request, wait).await;
    let (answer, view) = awaited.map_err(refused)?;
    let is_new = matches!(&answer, Answer::Submitted(submitted) if submitted.executions.iter().all(|one| one.is_new));
    let body = LAYOUT.to_vec(&view);
    Ok(if is_new { answer::created(body) } else { answer::ok(body) })
}

pub(super) async fn bulk(mut call: Call) -> Result<Response, Failure> {
    let (action, tenant) = (action(&call)?, call.caller.home());
    let given = call.required(&BULK)?.objects("executions");
    if !(1..=BULK_MAX).contains(&given.len()) {
        let count = given.len();
        return Err(Failure::invalid(format!("The value for executions has {count} items but must have 1 to {BULK_MAX}.")));
    }
    let mut executions = Vec::with_capacity(given.len());
    for (place, mut fields) in given.into_iter().enumerate() {
        if fields.text("waitFor").is_some() {
            return Err(Failure::invalid("waitFor is for one execution: many are not waited for"));
        }
        let execution = timed(&mut fields);
        executions
            .push(execution.map_err(|failure| Failure::new(failure.reason, format!("executions.{place}: {}", failure.detail)))?);
    }
    let command = Command::Submit(Submit { tenant, action, executions });
    let request = call.request(command)?;
    call.body = Bytes::new();
    if call.wants_no_answer() {
        return call.host().submit_durably(request).await.map(answer::accepted).map_err(refused);
    }
    match call.host().submit(request).await.map_err(refused)? {
        Answer::Submitted(submitted) => Ok(answer::created(SUBMITTED.to_vec(&submitted.executions))),
        other => Err(unexpected(&other)),
    }
}

/// One to be done at its time, or at once.
fn timed(fields: &mut Fields<'_>) -> Result<NewExecution, Failure> {
    let run_at = fields.text("runAt").map(|text| time::read(&text, "runAt")).transpose()?;
    Ok(NewExecution { run_at, ..execution(fields)? })
}

pub(in crate::rest) fn execution(fields: &mut Fields<'_>) -> Result<NewExecution, Failure> {
    let priority = fields.int32("priority").unwrap_or(0);
    within("priority", priority, 0, PRIORITY_MAX)?;
    let retries = fields.int32("retries").unwrap_or(RETRIES_DEFAULT);
    within("retries", retries, 1, RETRIES_MAX)?;
    Ok(NewExecution {
        input: fields.document("input"),
        priority,
        retries,
        run_at: None,
        unique: unique(fields)?,
        group: fields.document("group"),
    })
}

fn within(name: &str, number: i32, least: i32, most: i32) -> Result<(), Failure> {
    match (least..=most).contains(&number) {
        true => Ok(()),
        false => Err(Failure::invalid(format!("The value for {name} is '{number}' but must be {least} to {most}."))),
    }
}

fn unique(fields: &mut Fields<'_>) -> Result<Option<NewUnique>, Failure> {
    let window = fields.text("uniqueFor").map(|text| time::duration(&text, "uniqueFor")).transpose()?;
    let on_conflict = fields.word("onConflict");
    let Some(key) = fields.shared("uniqueKey") else {
        return match (window, on_conflict) {
            (None, None) => Ok(None),
            _ => Err(Failure::invalid("uniqueFor and onConflict say something about a uniqueKey, but none is given")),
        };
    };
    if !(1..=UNIQUE_KEY_BYTES_MAX).contains(&key.len()) {
        return Err(Failure::invalid(format!("A uniqueKey has 1 to {UNIQUE_KEY_BYTES_MAX} bytes")));
    }
    let on_conflict = match on_conflict {
        Some("RETURN") => OnConflict::Return,
        Some("REPLACE") => OnConflict::Replace,
        Some(_) | None => OnConflict::Reject,
    };
    Ok(Some(NewUnique { key, window, on_conflict }))
}

/// What was submitted, in the words of its row.
fn as_submitted(one: &SubmittedExecution, submit: Submit, at: Millis) -> ExecutionView {
    let Submit { tenant, action, mut executions } = submit;
    let new = executions.remove(0);
    ExecutionView {
        key: one.job,
        action: action.to_string(),
        tenant: tenant.to_string(),
        state: ExecutionState::Waiting,
        input: document::to_json(&new.input),
        result: None,
        error_code: String::new(),
        error_message: String::new(),
        priority: new.priority,
        attempts: 0,
        retries: new.retries,
        worker: String::new(),
        due: new.run_at.filter(|due| at < *due),
        created: at,
        started: None,
        ended: None,
        unique_key: new.unique.map(|unique| unique.key.to_string()),
        group: one.group.as_deref().map(str::to_owned),
        position: None,
        progress: None,
    }
}

/// A limit of the queue is the caller's to keep, unlike the server's own.
fn refused(error: host::Error) -> Failure {
    let is_limit = matches!(&error, host::Error::Rejected(rejection) if rejection.code == Code::Exhausted);
    let failure = Failure::of_command("SUBMIT", error);
    if is_limit { Failure::new(Reason::TooMany, failure.detail) } else { failure }
}

fn unexpected(answer: &Answer) -> Failure {
    tracing::error!(?answer, "an answer that does not fit the command");
    Failure::new(Reason::Internal, "The server answered with something unexpected")
}
