//! A worker has done many jobs. Executions are completed by one command; each job of a process by one of its own, at the same time.

use axum::response::Response;
use bytes::Bytes;
use engine::{Document, JobKey};
use futures_util::future::join_all;
use store::log::{Answer, Command, Rejection};

use crate::error::{self, Failure, Reason};
use crate::rest::answer;
use crate::rest::call::Call;
use crate::rest::describe::Kind;
use crate::rest::layout::{Cell, Layout, column};
use crate::rest::shape::{Shape, field};

/// Jobs in one request.
const JOBS_MAX: usize = 1_000;

pub(super) static COMPLETION: Shape =
    Shape { name: "JobsCompletionRequest", fields: &[field("jobs", Kind::FieldsList(&JOB), "1 to 1,000 of them").required()] };

static JOB: Shape = Shape {
    name: "JobsCompletionJob",
    fields: &[field("jobKey", Kind::Key, "The job").required(), field("variables", Kind::Object, "What came of it")],
};

pub(super) struct Outcome {
    completed: usize,
    refused: Vec<Refused>,
}

struct Refused {
    job: JobKey,
    failure: Failure,
}

pub(super) static COMPLETED: Layout<Outcome> = Layout {
    name: "JobsCompletionResult",
    columns: &[
        column("completed", Kind::Int32, |outcome| Cell::Number(outcome.completed as i64)),
        column("refused", Kind::NestedList(&REFUSED), |outcome| {
            Cell::Nested(Box::new(|out| REFUSED.write_list(out, &outcome.refused)))
        }),
    ],
};

static REFUSED: Layout<Refused> = Layout {
    name: "JobsCompletionRefused",
    columns: &[
        column("jobKey", Kind::Key, |refused| Cell::Key(refused.job.0)),
        column("status", Kind::Int32, |refused| Cell::Number(refused.failure.reason.http_status().into())),
        column("title", Kind::Text, |refused| Cell::Text(refused.failure.reason.title())),
        column("detail", Kind::Text, |refused| Cell::Text(&refused.failure.detail)),
    ],
};

pub(super) async fn many(mut call: Call) -> Result<Response, Failure> {
    let given = call.required(&COMPLETION)?.objects("jobs");
    if !(1..=JOBS_MAX).contains(&given.len()) {
        let count = given.len();
        return Err(Failure::invalid(format!("The value for jobs has {count} items but must have 1 to {JOBS_MAX}.")));
    }
    let mut jobs = Vec::with_capacity(given.len());
    for mut fields in given {
        let key = fields.key("jobKey")?.ok_or_else(|| Failure::invalid("No jobKey provided."))?;
        jobs.push((JobKey(key), fields.document("variables")));
    }
    let count = jobs.len();
    let request = call.request(Command::CompleteExecutions { jobs: jobs.clone() })?;
    call.body = Bytes::new();
    let answer = call.host().submit(request).await.map_err(|error| Failure::of_command("COMPLETE", error))?;
    let Answer::CompletedExecutions(done) = answer else {
        tracing::error!(?answer, "an answer that does not fit the command");
        return Err(Failure::new(Reason::Internal, "The server answered with something unexpected"));
    };
    let rejected = |(job, rejection): (JobKey, Rejection)| Refused { job, failure: error::rejected("COMPLETE", &rejection) };
    let mut refused: Vec<_> = done.refused.into_iter().map(rejected).collect();
    jobs.retain(|(job, _)| done.others.contains(job));
    let others = join_all(jobs.into_iter().map(|(job, variables)| complete(&call, job, variables))).await;
    refused.extend(others.into_iter().flatten());
    Ok(answer::ok(COMPLETED.to_vec(&Outcome { completed: count - refused.len(), refused })))
}

/// Why it was not done, if it was not.
async fn complete(call: &Call, job: JobKey, variables: Document) -> Option<Refused> {
    let command = Command::CompleteJob { job, variables, result: None };
    let request = store::log::Request { caller: call.caller.of_command(), command, idempotency: None };
    let done = call.host().submit(request).await;
    done.err().map(|error| Refused { job, failure: Failure::of_command("COMPLETE", error) })
}
