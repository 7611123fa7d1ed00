//! Actions: job types as queues. How long they are, what runs, and pausing them.

use std::sync::Arc;

use axum::http::Method;
use axum::response::Response;
use host::QueueStatus;
use queue::policy::Policy;
use store::log::{Answer, Command, PutPolicy};

use super::answer;
use super::call::Call;
use super::describe::Kind;
use super::executions::action;
use super::layout::{Cell, Layout, column, optional};
use super::operation::{Input, Operation, Output};
use super::queue_stats;
use super::shape::{Shape, field};
use crate::error::Failure;

pub(super) static OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::GET,
        path: "/v1/actions",
        id: "listActions",
        summary: "All actions that have jobs waiting or running",
        input: Input::None,
        query: &[],
        output: Output::Items(&LAYOUT),
        failures: &[],
        run: |call| Box::pin(list(call)),
    },
    Operation {
        method: Method::GET,
        path: "/v1/actions/{action}",
        id: "getAction",
        summary: "An action, with the limits that hold for it",
        input: Input::None,
        query: &[],
        output: Output::Object(&LAYOUT),
        failures: &[],
        run: |call| Box::pin(get(call)),
    },
    Operation {
        method: Method::GET,
        path: "/v1/actions/{action}/queue-stats",
        id: "getQueueStats",
        summary: "What waits and runs of an action, what has happened, and how long it took",
        input: Input::None,
        query: &[],
        output: Output::Object(&queue_stats::LAYOUT),
        failures: &[],
        run: |call| Box::pin(queue_stats::get(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v1/actions/{action}/pause",
        id: "pauseAction",
        summary: "Hand out no more jobs of an action, or of a group of it; what runs goes on",
        input: Input::Optional(&GROUP),
        query: &[],
        output: Output::NoContent,
        failures: &[504],
        run: |call| Box::pin(pause(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v1/actions/{action}/resume",
        id: "resumeAction",
        summary: "Hand out jobs of an action, or of a group of it, again, and take executions again",
        input: Input::Optional(&GROUP),
        query: &[],
        output: Output::NoContent,
        failures: &[504],
        run: |call| Box::pin(resume(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v1/actions/{action}/drain",
        id: "drainAction",
        summary: "Take no more executions of an action; what is there goes on",
        input: Input::Optional(&NOTHING),
        query: &[],
        output: Output::NoContent,
        failures: &[504],
        run: |call| Box::pin(drain(call)),
    },
];

static NOTHING: Shape = Shape { name: "ActionRequest", fields: &[] };

static GROUP: Shape = Shape {
    name: "ActionGroupRequest",
    fields: &[field("group", Kind::Object, "Only this group: a value for each parameter of the policy that applies")],
};

async fn list(call: Call) -> Result<Response, Failure> {
    let tenants = call.caller.tenants();
    let all = call.host().queues().await.map_err(|error| Failure::of_command("GET", error))?;
    let mut out = b"{\"items\":".to_vec();
    LAYOUT.write_list(&mut out, &all.into_iter().filter(|one| tenants.has(&one.tenant)).collect::<Vec<_>>());
    out.push(b'}');
    Ok(answer::ok(out))
}

async fn get(call: Call) -> Result<Response, Failure> {
    let (action, tenant) = (action(&call)?, call.caller.home());
    let found = call.host().queue(&action, &tenant).await.map_err(|error| Failure::of_command("GET", error))?;
    Ok(answer::ok(LAYOUT.to_vec(&found)))
}

async fn pause(call: Call) -> Result<Response, Failure> {
    let (reference, policy) = named(&call).await?;
    call.submit("PAUSE", Command::PutPolicy(PutPolicy { reference, policy: Box::new(policy) }), done).await
}

/// What pauses the action, or the group of it that is asked for.
async fn named(call: &Call) -> Result<(Arc<str>, Policy), Failure> {
    let action = action(call)?;
    let group = call.optional(&GROUP)?.document("group");
    if group.is_empty() {
        return Ok(host::pause(&action));
    }
    let tenant = call.caller.home();
    let found = call.host().pause_group(&action, &tenant, &group).await.map_err(|error| Failure::of_command("PAUSE", error))?;
    found.ok_or_else(|| {
        let reason = format!("A group of action '{action}' has a value for each parameter of the policy that applies to it");
        Failure::invalid(reason)
    })
}

async fn drain(call: Call) -> Result<Response, Failure> {
    let action = action(&call)?;
    call.optional(&NOTHING)?;
    let (reference, policy) = host::drain(&action);
    call.submit("DRAIN", Command::PutPolicy(PutPolicy { reference, policy: Box::new(policy) }), done).await
}

async fn resume(call: Call) -> Result<Response, Failure> {
    let (reference, _) = named(&call).await?;
    call.submit("RESUME", Command::DeletePolicy { reference }, done).await
}

fn done(answer: &Answer) -> Option<Response> {
    matches!(answer, Answer::Done).then(answer::no_content)
}

static LAYOUT: Layout<QueueStatus> = Layout {
    name: "ActionResult",
    columns: &[
        column("action", Kind::Text, |queue| Cell::Text(&queue.action)),
        column("queueLength", Kind::Int64, |queue| Cell::Number((queue.ready + queue.scheduled) as i64)),
        // Of these, the ones that wait for a time.
        column("scheduledCount", Kind::Int64, |queue| Cell::Number(queue.scheduled as i64)),
        column("activeCount", Kind::Int64, |queue| Cell::Number(queue.running as i64)),
        optional("maxConcurrent", Kind::Int64, |queue| Cell::maybe(queue.limit, |limit| Cell::Number(limit.into()))),
        optional("maxLength", Kind::Int64, |queue| Cell::maybe(queue.length_max, |most| Cell::Number(most as i64))),
        column("paused", Kind::Boolean, |queue| Cell::Boolean(queue.paused)),
        // Whether it takes no more executions.
        column("draining", Kind::Boolean, |queue| Cell::Boolean(queue.draining)),
        // The values of each, as an object.
        column("pausedGroups", Kind::Any, |queue| Cell::Nested(Box::new(|out| groups(out, &queue.groups_paused)))),
        optional("oldestEnqueuedAt", Kind::Time, |queue| Cell::maybe(queue.oldest, Cell::Time)),
        column("lastUpdated", Kind::Time, |queue| Cell::Time(queue.at)),
        column("tenantId", Kind::Text, |queue| Cell::Text(&queue.tenant)),
    ],
};

fn groups(out: &mut Vec<u8>, groups: &[Arc<str>]) {
    out.push(b'[');
    for (place, group) in groups.iter().enumerate() {
        if 0 < place {
            out.push(b',');
        }
        out.extend_from_slice(group.as_bytes());
    }
    out.push(b']');
}
