//! Hands out jobs: a worker that finds none is kept waiting for one.

use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;
use host::Poll;
use store::log::{ActivatedJob, Released};

use super::{KINDS, LISTENER_EVENTS};
use crate::error::Failure;
use crate::rest::answer::{self, Writing};
use crate::rest::call::Call;
use crate::rest::describe::Kind;
use crate::rest::layout::{Cell, Layout, column, empty, optional};
use crate::rest::shape::{Fields, Shape, field};
use crate::task_listener::{self, Properties};

pub(super) static ACTIVATION: Shape = Shape {
    name: "JobActivationRequest",
    fields: &[
        field("type", Kind::Text, "The type of the jobs").required(),
        field("worker", Kind::Text, "The worker's name; empty if left out"),
        field("timeout", Kind::Int64, "For how many milliseconds to lease a job, 1 or more").required(),
        field("maxJobsToActivate", Kind::Int32, "How many jobs at most, 1 or more").required(),
        field("fetchVariable", Kind::Texts, "Names of the variables wanted; all if empty"),
        field(
            "requestTimeout",
            Kind::Int64,
            "How many milliseconds to wait for a job; 0 for the server's own patience, less for none",
        ),
        field("tenantIds", Kind::Texts, "Of which tenants; the caller's own if left out"),
        field("tenantFilter", Kind::Word(&["PROVIDED", "ASSIGNED"]), "Of the tenants named or of the caller's own"),
    ],
};

pub(super) static ACTIVATED: Layout<Vec<ActivatedJob>> = Layout {
    name: "JobActivationResult",
    columns: &[column("jobs", Kind::NestedList(&JOB), |jobs| Cell::Nested(Box::new(|out| JOB.write_list(out, jobs))))],
};

static JOB: Layout<ActivatedJob> = Layout {
    name: "ActivatedJobResult",
    columns: &[
        column("type", Kind::Text, |job| Cell::Text(&job.job_type)),
        column("processDefinitionId", Kind::Text, |job| Cell::Text(&job.process_id)),
        column("processDefinitionVersion", Kind::Int32, |job| Cell::Number(job.version.into())),
        column("elementId", Kind::Text, |job| Cell::Text(&job.element_id)),
        column("customHeaders", Kind::Object, |job| Cell::Json(&job.headers)),
        column("worker", Kind::Text, |job| Cell::Text(&job.worker)),
        column("retries", Kind::Int32, |job| Cell::Number(job.retries.into())),
        column("deadline", Kind::Int64, |job| Cell::Number(job.deadline)),
        column("variables", Kind::Object, |job| Cell::Json(&job.variables)),
        column("tenantId", Kind::Text, |job| Cell::Text(&job.tenant)),
        column("jobKey", Kind::Key, |job| Cell::Key(job.key.0)),
        column("processInstanceKey", Kind::Key, |job| Cell::Key(job.instance.0)),
        column("processDefinitionKey", Kind::Key, |job| Cell::Key(job.definition.0)),
        column("elementInstanceKey", Kind::Key, |job| Cell::Key(job.element_instance.0)),
        column("kind", Kind::Word(KINDS), |job| Cell::Text(job.kind.word())),
        column("listenerEventType", Kind::Word(LISTENER_EVENTS), |job| Cell::Text(job.kind.event_word())),
        optional("userTask", Kind::Nested(&USER_TASK), |job| {
            Cell::maybe(task_listener::properties(job), |task| Cell::Nested(Box::new(move |out| USER_TASK.write(out, &task))))
        }),
        column("tags", Kind::Texts, |job| Cell::Texts(&job.tags)),
        optional("rootProcessInstanceKey", Kind::Key, |job| Cell::Key(job.root.0)),
        optional("businessId", Kind::Text, |job| Cell::maybe_text(job.business_id.as_deref())),
        empty("jobLeaseToken", Kind::Text),
        empty("leaseToken", Kind::Text),
        empty("physicalTenantId", Kind::Text),
        empty("priority", Kind::Int32),
    ],
};

static USER_TASK: Layout<Properties> = Layout {
    name: "UserTaskProperties",
    columns: &[
        optional("action", Kind::Text, |task| Cell::maybe_text(task.action.as_deref())),
        optional("assignee", Kind::Text, |task| Cell::maybe_text(task.assignee.as_deref())),
        column("candidateGroups", Kind::Texts, |task| Cell::Strings(&task.candidate_groups)),
        column("candidateUsers", Kind::Texts, |task| Cell::Strings(&task.candidate_users)),
        column("changedAttributes", Kind::Texts, |task| Cell::Strings(&task.changed_attributes)),
        optional("dueDate", Kind::Text, |task| Cell::maybe_text(task.due_date.as_deref())),
        optional("followUpDate", Kind::Text, |task| Cell::maybe_text(task.follow_up_date.as_deref())),
        optional("formKey", Kind::Key, |task| Cell::maybe(task.form_key, Cell::Key)),
        optional("priority", Kind::Int32, |task| Cell::maybe(task.priority, |priority| Cell::Number(priority.into()))),
        optional("userTaskKey", Kind::Key, |task| Cell::maybe(task.user_task_key, Cell::Key)),
    ],
};

pub(super) async fn activate(call: Call) -> Result<Response, Failure> {
    let poll = poll(&call, call.required(&ACTIVATION)?)?;
    let mut draining = call.server.draining.clone();
    let activated = tokio::select! {
        biased;
        activated = call.host().activate(poll) => activated.map_err(|error| Failure::of_command("ACTIVATE", error))?,
        // The worker asks again, of another server.
        Ok(_) = draining.wait_for(|draining| *draining) => return Ok(answer::ok(ACTIVATED.to_vec(&Vec::new()))),
    };
    hand_out(&call, &JOB, activated.take())
}

/// Jobs that were leased to the caller. Nothing waits from taking them to the answer: a caller that is gone before has given them back
/// already; those that cannot be written are given back here.
pub(in crate::rest) fn hand_out(
    call: &Call,
    layout: &Layout<ActivatedJob>,
    jobs: Vec<ActivatedJob>,
) -> Result<Response, Failure> {
    let leases: Vec<Released> =
        jobs.iter().map(|job| Released { job: job.key, deadline: job.deadline, lease: job.lease }).collect();
    let written = written(call, layout, jobs);
    if written.is_err() {
        call.host().release(leases);
    }
    written
}

fn written(call: &Call, layout: &Layout<ActivatedJob>, jobs: Vec<ActivatedJob>) -> Result<Response, Failure> {
    let mut writing = Writing::new(call.server.budgets.answers.nothing());
    writing.out().extend_from_slice(b"{\"jobs\":");
    writing.list(layout, jobs)?;
    writing.out().push(b'}');
    writing.finish()
}

fn poll(call: &Call, mut fields: Fields<'_>) -> Result<Poll, Failure> {
    let job_type = fields.shared("type").filter(|job_type| !job_type.trim().is_empty());
    let (timeout, max) = (fields.number("timeout"), fields.number("maxJobsToActivate"));
    let mut violations = Vec::new();
    if job_type.is_none() {
        violations.push("No type provided.".to_owned());
    }
    violations.extend(not_positive("timeout", timeout));
    violations.extend(not_positive("maxJobsToActivate", max));
    if !violations.is_empty() {
        return Err(Failure::invalid(violations.join(" ")));
    }
    Ok(Poll {
        job_type: job_type.unwrap_or_default(),
        worker: fields.shared("worker").unwrap_or_default(),
        timeout: timeout.unwrap_or_default(),
        max: max.and_then(|max| u32::try_from(max).ok()).unwrap_or_default(),
        tenants: tenants(call, &mut fields)?,
        fetch: fields.texts("fetchVariable"),
        wait: wait(call, fields.number("requestTimeout")),
    })
}

fn not_positive(name: &str, number: Option<i64>) -> Option<String> {
    match number {
        None => Some(format!("No {name} provided.")),
        Some(number) if number < 1 => Some(format!("The value for {name} is '{number}' but must be greater than 0.")),
        Some(_) => None,
    }
}

/// Those that are named; without names, the caller's own.
fn tenants(call: &Call, fields: &mut Fields<'_>) -> Result<Vec<Arc<str>>, Failure> {
    if fields.word("tenantFilter") == Some("ASSIGNED") {
        return Err(no_tenants("ASSIGNED tenant filter"));
    }
    let tenants = fields.texts("tenantIds");
    match tenants.as_slice() {
        [] => Ok(vec![call.caller.home()]),
        [one] if call.caller.sees(one) => Ok(tenants),
        [other] => Err(no_tenants(&format!("tenant identifier '{other}'"))),
        several => Err(no_tenants(&format!("tenant identifiers [{}]", several.join(", ")))),
    }
}

fn no_tenants(what: &str) -> Failure {
    Failure::invalid(format!("Expected to handle request Activate Jobs with {what}, but multi-tenancy is disabled"))
}

fn wait(call: &Call, millis: Option<i64>) -> Option<Duration> {
    match millis {
        None | Some(0) => Some(call.config().poll_wait_default),
        Some(millis) => {
            let wait = u64::try_from(millis).ok().map(Duration::from_millis)?;
            Some(wait.min(call.config().poll_wait_max))
        }
    }
}
