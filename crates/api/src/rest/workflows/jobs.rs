//! Jobs as workers of JSON workflows know them.

use std::time::Duration;

use axum::response::Response;
use host::ActivatedJobs;
use store::log::{ActivatedJob, Failed, Thrown};

use super::{commanding, workflows};
use crate::error::Failure;
use crate::rest::answer;
use crate::rest::call::Call;
use crate::rest::describe::Kind;
use crate::rest::jobs::hand_out;
use crate::rest::layout::{Cell, Layout, column, optional};
use crate::rest::shape::{Field, Fields, Shape, field};
use crate::rest::time;
use crate::workflow::{Holder, PollJobs};

pub(super) static POLL: Shape = Shape {
    name: "WorkflowJobPoll",
    fields: &[
        field("workerId", Kind::Text, "The worker's name").required(),
        field("jobTypes", Kind::Texts, "Types of jobs; those of the first are given out first").required(),
        field("maxJobs", Kind::Int32, "How many jobs at most, 1 to 100; 1 if left out"),
        field("leaseSeconds", Kind::Int32, "For how many seconds, 5 to 3600; 60 if left out"),
        field("waitSeconds", Kind::Int32, "How many seconds to wait for a job if there is none; not at all if left out"),
    ],
};

pub(super) const LEASE: Field =
    field("lease", Kind::Int64, "The number of the lease, as it came with the job: what is said for an older one is refused");

pub(super) static COMPLETION: Shape = Shape {
    name: "WorkflowJobCompletion",
    fields: &[
        field("workerId", Kind::Text, "The worker's name").required(),
        LEASE,
        field("variables", Kind::Object, "Merged into the variables of the instance"),
    ],
};

pub(super) static FAILURE: Shape = Shape {
    name: "WorkflowJobFailure",
    fields: &[
        field("workerId", Kind::Text, "The worker's name").required(),
        LEASE,
        field("retryable", Kind::Boolean, "Whether to try again while retries are left").required(),
        field("errorMessage", Kind::Text, "What happened").required(),
        field("retryAfter", Kind::Text, "A duration such as PT5S before the next try; as the model says if left out"),
        field("variables", Kind::Object, "Variables for the task alone; of an execution, its result so far"),
    ],
};

pub(super) static ERROR: Shape = Shape {
    name: "WorkflowJobError",
    fields: &[
        field("workerId", Kind::Text, "The worker's name").required(),
        LEASE,
        field("errorCode", Kind::Text, "The code by which it is caught").required(),
        field("errorMessage", Kind::Text, "Why"),
        field("variables", Kind::Object, "Variables for whoever catches it"),
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
        column("lease", Kind::Int64, |job| Cell::Number(job.lease.into())),
        // What an earlier worker said of how far it came.
        optional("progress", Kind::Object, |job| Cell::maybe(job.progress.as_deref(), Cell::Json)),
        // Whose trace its instance or execution was started from.
        optional("traceContext", Kind::Object, |job| Cell::maybe(job.trace.as_deref(), Cell::Json)),
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
    hand_out(&call, &JOB, polled.into_iter().flat_map(ActivatedJobs::take).collect())
}

pub(super) async fn complete(call: Call) -> Result<Response, Failure> {
    let mut fields = call.required(&COMPLETION)?;
    let holder = holder(&mut fields)?;
    commanding(&call)?.complete(&call.parameter("jobId")?, holder, fields.document("variables")).await?;
    Ok(answer::no_content())
}

pub(super) async fn fail(call: Call) -> Result<Response, Failure> {
    let mut fields = call.required(&FAILURE)?;
    let holder = holder(&mut fields)?;
    let backoff = fields.text("retryAfter").map(|text| time::duration(&text, "retryAfter")).transpose()?;
    let failed = Failed {
        retryable: fields.boolean("retryable").ok_or_else(|| Failure::invalid("retryable is needed"))?,
        message: fields.shared("errorMessage").ok_or_else(|| Failure::invalid("errorMessage is needed"))?,
        backoff,
        variables: fields.document("variables"),
    };
    commanding(&call)?.fail(&call.parameter("jobId")?, holder, failed).await?;
    Ok(answer::no_content())
}

pub(super) async fn throw(call: Call) -> Result<Response, Failure> {
    let mut fields = call.required(&ERROR)?;
    let holder = holder(&mut fields)?;
    let thrown = Thrown {
        code: fields.shared("errorCode").unwrap_or_default(),
        message: fields.shared("errorMessage").unwrap_or_default(),
        variables: fields.document("variables"),
    };
    commanding(&call)?.throw(&call.parameter("jobId")?, holder, thrown).await?;
    Ok(answer::no_content())
}

/// Who says it, and for which lease.
pub(super) fn holder(fields: &mut Fields<'_>) -> Result<Holder, Failure> {
    let worker = fields.shared("workerId").unwrap_or_default();
    Ok(Holder { worker, lease: lease(fields)? })
}

pub(super) fn lease(fields: &mut Fields<'_>) -> Result<Option<u32>, Failure> {
    let lease = fields.number("lease").map(u32::try_from).transpose();
    lease.map_err(|_| Failure::invalid("lease is the number that came with the job"))
}
