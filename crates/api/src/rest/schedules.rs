//! Schedules: executions that are submitted again and again.

use std::sync::Arc;

use axum::http::Method;
use axum::response::Response;
use store::log::{Answer, Command, NewExecution, OnConflict, PutSchedule};
use store::row::Schedule;

use super::call::Call;
use super::describe::Kind;
use super::executions::{execution, named};
use super::layout::{Cell, Layout, column, optional};
use super::operation::{Input, Operation, Output};
use super::shape::{Fields, Shape, field};
use super::{answer, path};
use crate::document;
use crate::error::Failure;
use crate::json;

/// Bytes of the name of a schedule.
const REFERENCE_BYTES_MAX: usize = 256;
const CONFLICTS: &[&str] = &["REJECT", "RETURN"];

pub(super) static OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::GET,
        path: "/v1/schedules",
        id: "listSchedules",
        summary: "All schedules, with when each is next",
        input: Input::None,
        query: &[],
        output: Output::Items(&LAYOUT),
        failures: &[],
        run: |call| Box::pin(list(call)),
    },
    Operation {
        method: Method::GET,
        path: "/v1/schedules/{scheduleRef}",
        id: "getSchedule",
        summary: "A schedule",
        input: Input::None,
        query: &[],
        output: Output::Object(&LAYOUT),
        failures: &[404],
        run: |call| Box::pin(get(call)),
    },
    Operation {
        method: Method::PUT,
        path: "/v1/schedules/{scheduleRef}",
        id: "putSchedule",
        summary: "Make or change a schedule; one that only does something else keeps its times",
        input: Input::Required(&SCHEDULE),
        query: &[],
        output: Output::NoContent,
        failures: &[504],
        run: |call| Box::pin(put(call)),
    },
    Operation {
        method: Method::DELETE,
        path: "/v1/schedules/{scheduleRef}",
        id: "deleteSchedule",
        summary: "Delete a schedule; what it has submitted stays",
        input: Input::None,
        query: &[],
        output: Output::NoContent,
        failures: &[404, 504],
        run: |call| Box::pin(delete(call)),
    },
];

static SCHEDULE: Shape = Shape {
    name: "ScheduleRequest",
    fields: &[
        field("action", Kind::Text, "Whose workers do it").required(),
        field("cron", Kind::Text, "When: cron such as 0 9 * * MON-FRI, or an interval such as R/PT1H").required(),
        field("timeZone", Kind::Text, "Of cron, such as Europe/Madrid; UTC if left out"),
        field("paused", Kind::Boolean, "Whether nothing is submitted; false if left out"),
        field("execution", Kind::Fields(&EXECUTION), "What is submitted"),
    ],
};

static EXECUTION: Shape = Shape {
    name: "ScheduledExecution",
    fields: &[
        field("input", Kind::Object, "What its worker gets as variables"),
        field("priority", Kind::Int32, "0 to 100; the higher first"),
        field("retries", Kind::Int32, "How often it may be tried, 1 or more; 3 if left out"),
        field("uniqueKey", Kind::Text, "No other execution of the action waits or runs with the same"),
        field("uniqueFor", Kind::Text, "A duration such as PT1H: nor is one submitted before it is over"),
        field(
            "onConflict",
            Kind::Word(CONFLICTS),
            "If another has the unique key: nothing is submitted, which counts as refused or not",
        ),
        field("group", Kind::Object, "Values for the parameters of a policy that are not in the input"),
    ],
};

async fn all(call: &Call) -> Result<Vec<Schedule>, Failure> {
    let tenants = call.caller.tenants();
    let mut all = call.host().schedules().await.map_err(|error| Failure::of_command("GET", error))?;
    all.retain(|schedule| tenants.has(&schedule.tenant));
    Ok(all)
}

async fn list(call: Call) -> Result<Response, Failure> {
    let mut out = b"{\"items\":".to_vec();
    LAYOUT.write_list(&mut out, &all(&call).await?);
    out.push(b'}');
    Ok(answer::ok(out))
}

async fn get(call: Call) -> Result<Response, Failure> {
    let reference = reference(&call)?;
    let found = all(&call).await?.into_iter().find(|schedule| schedule.reference == reference);
    let found = found.ok_or_else(|| Failure::not_found(format!("Schedule '{reference}' not found")))?;
    Ok(answer::ok(LAYOUT.to_vec(&found)))
}

async fn put(call: Call) -> Result<Response, Failure> {
    let (reference, tenant) = (reference(&call)?, call.caller.home());
    let mut fields = call.required(&SCHEDULE)?;
    let action = fields.shared("action").ok_or_else(|| Failure::invalid("No action provided."))?;
    let action = named(Some(action.to_string()))?;
    let cron = fields.shared("cron").ok_or_else(|| Failure::invalid("No cron provided."))?;
    let time_zone = fields.shared("timeZone");
    host::parse_schedule(&cron, time_zone.as_deref())
        .map_err(|reason| Failure::invalid(format!("The value for cron is '{cron}' but {reason}")))?;
    let paused = fields.boolean("paused").unwrap_or(false);
    let mut given = fields.object("execution").unwrap_or_else(|| Fields::empty(&EXECUTION));
    let execution = execution(&mut given)?;
    drop(given);
    drop(fields);
    let put = PutSchedule { tenant, reference, action, cron, time_zone, execution, paused };
    call.submit("PUT", Command::PutSchedule(Box::new(put)), done).await
}

async fn delete(call: Call) -> Result<Response, Failure> {
    let (reference, tenant) = (reference(&call)?, call.caller.home());
    call.submit("DELETE", Command::DeleteSchedule { tenant, reference }, done).await
}

fn done(answer: &Answer) -> Option<Response> {
    matches!(answer, Answer::Done).then(answer::no_content)
}

fn reference(call: &Call) -> Result<Arc<str>, Failure> {
    let name = path::unescaped(call.segment()).filter(|name| {
        !name.trim().is_empty() && name.len() <= REFERENCE_BYTES_MAX && !name.contains('/') && !name.contains(char::is_control)
    });
    name.map(Into::into).ok_or_else(|| {
        Failure::invalid(format!(
            "The name of a schedule has 1 to {REFERENCE_BYTES_MAX} bytes, without '/' and control characters"
        ))
    })
}

pub(super) static LAYOUT: Layout<Schedule> = Layout {
    name: "ScheduleResult",
    columns: &[
        column("ref", Kind::Text, |row| Cell::Text(&row.reference)),
        column("action", Kind::Text, |row| Cell::Text(&row.action)),
        column("cron", Kind::Text, |row| Cell::Text(&row.cron)),
        optional("timeZone", Kind::Text, |row| Cell::maybe_text(row.time_zone.as_deref())),
        column("paused", Kind::Boolean, |row| Cell::Boolean(row.paused)),
        // What a PUT would say.
        column("execution", Kind::Object, |row| Cell::Nested(Box::new(|out| write(out, &row.execution)))),
        optional("nextAt", Kind::Time, |row| Cell::maybe(row.due, Cell::Time)),
        optional("lastAt", Kind::Time, |row| Cell::maybe(row.last.as_ref(), |last| Cell::Time(last.at))),
        optional("lastExecutionId", Kind::Key, |row| {
            Cell::maybe(row.last.as_ref().and_then(|last| last.execution), |job| Cell::Key(job.0))
        }),
        // Why the last time nothing was submitted.
        optional("lastError", Kind::Text, |row| Cell::maybe_text(row.last.as_ref().and_then(|last| last.refused.as_deref()))),
        column("createdAt", Kind::Time, |row| Cell::Time(row.created)),
        column("changedAt", Kind::Time, |row| Cell::Time(row.changed)),
        column("changedBy", Kind::Text, |row| Cell::Text(&row.changed_by)),
        column("tenantId", Kind::Text, |row| Cell::Text(&row.tenant)),
    ],
};

/// In the words in which it was put.
fn write(out: &mut Vec<u8>, execution: &NewExecution) {
    let NewExecution { input, priority, retries, unique, group, .. } = execution;
    let (input, group) = (document::to_json(input), document::to_json(group));
    out.extend_from_slice(
        format!("{{\"input\":{input},\"priority\":{priority},\"retries\":{retries},\"group\":{group}").as_bytes(),
    );
    if let Some(unique) = unique {
        out.extend_from_slice(b",\"uniqueKey\":");
        json::write_text(out, &unique.key);
        if let Some(window) = unique.window {
            out.extend_from_slice(format!(",\"uniqueFor\":\"PT{}.{:03}S\"", window / 1_000, window % 1_000).as_bytes());
        }
        let word = match unique.on_conflict {
            OnConflict::Return => "RETURN",
            OnConflict::Reject | OnConflict::Replace => "REJECT",
        };
        out.extend_from_slice(format!(",\"onConflict\":\"{word}\"").as_bytes());
    }
    out.push(b'}');
}
