//! Jobs as workers of JSON workflows know them.

use std::time::Duration;

use axum::response::Response;
use host::ActivatedJobs;
use store::log::{ActivatedJob, Released};

use super::{commanding, workflows};
use crate::error::Failure;
use crate::rest::answer::{self, Writing};
use crate::rest::call::Call;
use crate::rest::describe::Kind;
use crate::rest::layout::{Cell, Layout, column};
use crate::rest::shape::{Shape, field};
use crate::workflow::{FailedJob, PollJobs};

pub(super) static POLL: Shape = Shape {
    name: "WorkflowJobPoll",
    fields: &[
        field("workerId", Kind::Text, "The worker's name").required(),
        field("jobTypes", Kind::Texts, "Types of jobs; those of the first are given out first").required(),
        field("maxJobs", Kind::Int32, "How many jobs at most, 1 to 100; 1 if left out"),
        field("leaseSeconds", Kind::Int32, "For how long, 5 to 3600; 60 if left out"),
        field("waitSeconds", Kind::Int32, "How long to wait for a job if there is none; not at all if left out"),
    ],
};

pub(super) static COMPLETION: Shape = Shape {
    name: "WorkflowJobCompletion",
    fields: &[
        field("workerId", Kind::Text, "The worker's name").required(),
        field("variables", Kind::Object, "Merged into the variables of the instance"),
    ],
};

pub(super) static FAILURE: Shape = Shape {
    name: "WorkflowJobFailure",
    fields: &[
        field("workerId", Kind::Text, "The worker's name").required(),
        field("retryable", Kind::Boolean, "Whether to try again while retries are left").required(),
        field("errorMessage", Kind::Text, "What happened").required(),
    ],
};

static JOB: Layout<ActivatedJob> = Layout {
    name: "WorkflowJob",
    columns: &[
        column("id", Kind::Text, |job| Cell::Key(job.key.0)),
        column("jobType", Kind::Text, |job| Cell::Text(&job.job_type)),
        column("instanceId", Kind::Text, |job| Cell::Key(job.instance.0)),
        column("stepId", Kind::Text, |job| Cell::Text(&job.element_id)),
        column("stepExecutionId", Kind::Text, |job| Cell::Key(job.element_instance.0)),
        column("retriesRemaining", Kind::Int32, |job| Cell::Number((job.retries - 1).max(0).into())),
        column("variables", Kind::Object, |job| Cell::Json(&job.variables)),
        column("lockExpiresAt", Kind::Time, |job| Cell::Time(job.deadline)),
    ],
};

pub(super) static POLLED: Layout<Vec<ActivatedJob>> = Layout {
    name: "WorkflowJobs",
    columns: &[column("jobs", Kind::NestedList(&JOB), |jobs| Cell::Nested(Box::new(|out| JOB.write_list(out, jobs))))],
};

pub(super) async fn poll(call: Call) -> Result<Response, Failure> {
    let mut fields = call.required(&POLL)?;
    let wait = fields.number("waitSeconds").map(u64::try_from).transpose();
    let wait = wait.map_err(|_| Failure::invalid("waitSeconds must not be negative"))?.filter(|seconds| 0 < *seconds);
    let poll = PollJobs {
        worker: fields.shared("workerId").unwrap_or_default(),
        job_types: fields.texts("jobTypes"),
        max: fields.number("maxJobs"),
        lease_seconds: fields.number("leaseSeconds"),
        wait: wait.map(|seconds| Duration::from_secs(seconds).min(call.config().poll_wait_max)),
    };
    let mut draining = call.server.draining.clone();
    let workflows = workflows(&call);
    let polled = tokio::select! {
        biased;
        polled = workflows.poll(&poll) => polled?,
        // The worker asks again, of another server.
        Ok(_) = draining.wait_for(|draining| *draining) => return Ok(answer::ok(POLLED.to_vec(&Vec::new()))),
    };
    // From here to the answer nothing waits: a caller that is gone by now has given the jobs back already.
    let jobs: Vec<ActivatedJob> = polled.into_iter().flat_map(ActivatedJobs::take).collect();
    let leases: Vec<Released> = jobs.iter().map(|job| Released { job: job.key, deadline: job.deadline }).collect();
    let written = written(&call, jobs);
    if written.is_err() {
        call.host().release(leases);
    }
    written
}

fn written(call: &Call, jobs: Vec<ActivatedJob>) -> Result<Response, Failure> {
    let mut writing = Writing::new(call.server.budgets.answers.nothing());
    writing.out().extend_from_slice(b"{\"jobs\":");
    writing.list(&JOB, jobs)?;
    writing.out().push(b'}');
    writing.finish()
}

pub(super) async fn complete(call: Call) -> Result<Response, Failure> {
    let mut fields = call.required(&COMPLETION)?;
    let worker = fields.text("workerId").unwrap_or_default();
    commanding(&call)?.complete(&call.parameter("jobId")?, &worker, fields.document("variables")).await?;
    Ok(answer::no_content())
}

pub(super) async fn fail(call: Call) -> Result<Response, Failure> {
    let mut fields = call.required(&FAILURE)?;
    let worker = fields.shared("workerId").unwrap_or_default();
    let retryable = fields.boolean("retryable").ok_or_else(|| Failure::invalid("retryable is needed"))?;
    let message = fields.shared("errorMessage").ok_or_else(|| Failure::invalid("errorMessage is needed"))?;
    commanding(&call)?.fail(&call.parameter("jobId")?, FailedJob { worker, retryable, message }).await?;
    Ok(answer::no_content())
}
