//! A worker has done many jobs. Executions are completed by one command; each job of a process by one of its own, at the same time.

use axum::response::Response;
use bytes::Bytes;
use engine::{Document, JobKey};
use futures_util::future::join_all;
use queue::claim::Claim;
use store::log::{Answer, Became, Command, Rejection, Report, Reported, Said};

use crate::error::{self, Failure, Reason};
use crate::rest::answer;
use crate::rest::call::Call;
use crate::rest::describe::Kind;
use crate::rest::layout::{Cell, Layout, column};
use crate::rest::shape::{Shape, field};
use crate::workflow::lost;

/// Jobs in one request.
const JOBS_MAX: usize = 1_000;

pub(super) static COMPLETION: Shape =
    Shape { name: "JobsCompletionRequest", fields: &[field("jobs", Kind::FieldsList(&JOB), "1 to 1,000 of them").required()] };

static JOB: Shape = Shape {
    name: "JobsCompletionJob",
    fields: &[
        field("jobKey", Kind::Key, "The job").required(),
        field("lease", Kind::Int64, "The number of the lease, as it came with the job: an older one is refused"),
        field("variables", Kind::Object, "What came of it"),
    ],
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

/// What a worker has done: with the number of its lease, if it says so.
#[derive(Clone)]
struct Done {
    job: JobKey,
    lease: Option<u32>,
    variables: Document,
}

pub(super) async fn many(mut call: Call) -> Result<Response, Failure> {
    let given = call.required(&COMPLETION)?.objects("jobs");
    if !(1..=JOBS_MAX).contains(&given.len()) {
        let count = given.len();
        return Err(Failure::invalid(format!("The value for jobs has {count} items but must have 1 to {JOBS_MAX}.")));
    }
    let mut jobs = Vec::with_capacity(given.len());
    for mut fields in given {
        let key = fields.key("jobKey")?.ok_or_else(|| Failure::invalid("No jobKey provided."))?;
        let lease = fields.number("lease").map(u32::try_from).transpose();
        let lease = lease.map_err(|_| Failure::invalid("lease is the number that came with the job"))?;
        jobs.push(Done { job: JobKey(key), lease, variables: fields.document("variables") });
    }
    call.body = Bytes::new();
    let count = jobs.len();
    let (mut refused, others) = match jobs.iter().any(|done| done.lease.is_some()) {
        true => completed_by_lease(&call, &jobs).await?,
        false => completed(&call, &jobs).await?,
    };
    jobs.retain(|done| others.contains(&done.job));
    let others = join_all(jobs.into_iter().map(|done| complete(&call, done))).await;
    refused.extend(others.into_iter().flatten());
    Ok(answer::ok(COMPLETED.to_vec(&Outcome { completed: count - refused.len(), refused })))
}

/// Who was refused, and which jobs belong to processes.
type Judged = (Vec<Refused>, Vec<JobKey>);

async fn completed(call: &Call, jobs: &[Done]) -> Result<Judged, Failure> {
    let jobs = jobs.iter().map(|done| (done.job, done.variables.clone())).collect();
    match submit(call, Command::CompleteExecutions { jobs }).await? {
        Answer::CompletedExecutions(done) => {
            let rejected =
                |(job, rejection): (JobKey, Rejection)| Refused { job, failure: error::rejected("COMPLETE", &rejection) };
            Ok((done.refused.into_iter().map(rejected).collect(), done.others))
        }
        other => Err(unexpected(&other)),
    }
}

async fn completed_by_lease(call: &Call, jobs: &[Done]) -> Result<Judged, Failure> {
    let reported = match submit(call, Command::Report { reports: jobs.iter().map(report).collect() }).await? {
        Answer::Reported(reported) => reported,
        other => return Err(unexpected(&other)),
    };
    let (mut refused, mut others) = (Vec::new(), Vec::new());
    for Reported { job, became } in reported {
        match became {
            Became::Alone => others.push(job),
            became => refused.extend(why(job, became).map(|failure| Refused { job, failure })),
        }
    }
    Ok((refused, others))
}

fn report(done: &Done) -> Report {
    let claim = Claim { worker: None, lease: done.lease };
    Report { job: done.job, claim, said: Said::Completed { variables: done.variables.clone() } }
}

/// Why it is not done, if it is not.
fn why(job: JobKey, became: Became) -> Option<Failure> {
    match became {
        Became::Taken { .. } | Became::Alone => None,
        Became::Lost => Some(lost(&job.to_string())),
        Became::Gone => Some(Failure::not_found(format!("There is no open job with key '{job}'"))),
        Became::Refused(rejection) => Some(error::rejected("COMPLETE", &rejection)),
    }
}

async fn submit(call: &Call, command: Command) -> Result<Answer, Failure> {
    let request = call.request(command)?;
    call.host().submit(request).await.map_err(|error| Failure::of_command("COMPLETE", error))
}

fn unexpected(answer: &Answer) -> Failure {
    tracing::error!(?answer, "an answer that does not fit the command");
    Failure::new(Reason::Internal, "The server answered with something unexpected")
}

/// Why it was not done, if it was not.
async fn complete(call: &Call, done: Done) -> Option<Refused> {
    let job = done.job;
    let command = match done.lease {
        Some(_) => Command::Report { reports: vec![report(&done)] },
        None => Command::CompleteJob { job, variables: done.variables, result: None },
    };
    let request = call.caller.request(command, None);
    let failure = match call.host().submit(request).await {
        Ok(Answer::Reported(mut reported)) => reported.pop().and_then(|reported| why(job, reported.became)),
        Ok(_) => None,
        Err(error) => Some(Failure::of_command("COMPLETE", error)),
    };
    failure.map(|failure| Refused { job, failure })
}
