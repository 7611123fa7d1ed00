//! What workers say of jobs between getting and doing them: still at it, given back, not now.

use std::sync::Arc;

use axum::http::Method;
use axum::response::Response;
use store::Millis;
use store::log::Said;

use super::jobs::{LEASE, holder, lease};
use super::workflows;
use crate::error::Failure;
use crate::rest::call::Call;
use crate::rest::describe::Kind;
use crate::rest::layout::{Cell, Layout, column, optional};
use crate::rest::operation::{Input, Operation, Output};
use crate::rest::shape::{Field, Fields, Shape, field};
use crate::rest::{answer, time};
use crate::workflow::{self, Holder, LeaseStatus as Status, OneReport, Standing};

const WORKER: Field = field("workerId", Kind::Text, "The worker's name");
const LEASE_FOR: Field =
    field("leaseSeconds", Kind::Int32, "For how many seconds from now, 5 to 3600; as long as it was if left out");
const PROGRESS: Field = field("progress", Kind::Fields(&PROGRESSED), "How far it has come; as before if left out");
const JOB_ID: Field = field("jobId", Kind::Text, "The job");

pub(in crate::rest) static OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::POST,
        path: "/v1/jobs/{jobId}/heartbeat",
        id: "heartbeatJob",
        summary: "A worker is still at it: longer lease, progress; the answer says whether it still has the job",
        input: Input::Required(&HEARTBEAT),
        query: &[],
        output: Output::Object(&STANDING),
        failures: &[404, 504],
        run: |call| Box::pin(heartbeat(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v1/jobs/heartbeat",
        id: "heartbeatJobs",
        summary: "The same of up to 1,000 jobs, each by itself",
        input: Input::Required(&HEARTBEATS),
        query: &[],
        output: Output::Object(&STANDINGS),
        failures: &[404, 504],
        run: |call| Box::pin(heartbeats(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v1/jobs/{jobId}/release",
        id: "releaseJob",
        summary: "A worker gives a job back: somebody else may have it at once, and no attempt is used up",
        input: Input::Required(&RELEASE),
        query: &[],
        output: Output::NoContent,
        failures: &[404, 409, 504],
        run: |call| Box::pin(release(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v1/jobs/release",
        id: "releaseJobs",
        summary: "The same of up to 1,000 jobs, each by itself",
        input: Input::Required(&RELEASES),
        query: &[],
        output: Output::Object(&STANDINGS),
        failures: &[404, 504],
        run: |call| Box::pin(releases(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v1/jobs/{jobId}/snooze",
        id: "snoozeJob",
        summary: "A worker puts a job off: nobody gets it before a time is over, and no attempt is used up",
        input: Input::Required(&SNOOZE),
        query: &[],
        output: Output::NoContent,
        failures: &[404, 409, 504],
        run: |call| Box::pin(snooze(call)),
    },
];

static PROGRESSED: Shape = Shape {
    name: "JobProgress",
    fields: &[
        field("percent", Kind::Int32, "0 to 100"),
        field("message", Kind::Text, "For people"),
        field("data", Kind::Object, "For whoever goes on from here"),
    ],
};

static HEARTBEAT: Shape = Shape { name: "JobHeartbeat", fields: &[WORKER.required(), LEASE, LEASE_FOR, PROGRESS] };

static HEARTBEATS: Shape = Shape {
    name: "JobHeartbeats",
    fields: &[WORKER.required(), LEASE_FOR, field("jobs", Kind::FieldsList(&HEARTBEAT_OF_ONE), "1 to 1,000 of them").required()],
};

static HEARTBEAT_OF_ONE: Shape = Shape { name: "JobHeartbeatOfOne", fields: &[JOB_ID.required(), LEASE, PROGRESS] };

static RELEASE: Shape = Shape { name: "JobRelease", fields: &[WORKER.required(), LEASE] };

static RELEASES: Shape = Shape {
    name: "JobReleases",
    fields: &[WORKER.required(), field("jobs", Kind::FieldsList(&RELEASE_OF_ONE), "1 to 1,000 of them").required()],
};

static RELEASE_OF_ONE: Shape = Shape { name: "JobReleaseOfOne", fields: &[JOB_ID.required(), LEASE] };

static SNOOZE: Shape = Shape {
    name: "JobSnooze",
    fields: &[
        WORKER.required(),
        LEASE,
        field("duration", Kind::Text, "For how long: a duration after ISO 8601, such as PT5M").required(),
    ],
};

static STANDING: Layout<Standing> = Layout {
    name: "JobStanding",
    columns: &[
        column("jobId", Kind::Text, |standing| Cell::Text(&standing.job)),
        column("status", Kind::Word(Status::WORDS), |standing| Cell::Text(standing.status.word())),
        optional("lockExpiresAt", Kind::Time, |standing| Cell::maybe(standing.until, Cell::Time)),
    ],
};

static STANDINGS: Layout<Vec<Standing>> = Layout {
    name: "JobStandings",
    columns: &[column("jobs", Kind::NestedList(&STANDING), |all| Cell::Nested(Box::new(|out| STANDING.write_list(out, all))))],
};

async fn heartbeat(call: Call) -> Result<Response, Failure> {
    let mut fields = call.required(&HEARTBEAT)?;
    let holder = holder(&mut fields)?;
    let said = Said::Alive { lease: lease_for(&mut fields)?, progress: progress(&mut fields)? };
    let (id, workflows) = (call.parameter("jobId")?, workflows(&call));
    let became = workflows.report(&id, holder, said).await?;
    let standing = workflows.standing(id, became, Status::Held).await;
    match standing.status == Status::Unknown {
        true => Err(Failure::not_found(format!("There is no job '{}'", standing.job))),
        false => Ok(answer::ok(STANDING.to_vec(&standing))),
    }
}

async fn heartbeats(call: Call) -> Result<Response, Failure> {
    let mut fields = call.required(&HEARTBEATS)?;
    let lease_for = lease_for(&mut fields)?;
    many(&call, fields, Status::Held, |fields| Ok(Said::Alive { lease: lease_for, progress: progress(fields)? })).await
}

async fn releases(call: Call) -> Result<Response, Failure> {
    let fields = call.required(&RELEASES)?;
    many(&call, fields, Status::Released, |_| Ok(Said::Returned)).await
}

async fn many(
    call: &Call,
    mut fields: Fields<'_>,
    taken: Status,
    said: impl Fn(&mut Fields<'_>) -> Result<Said, Failure>,
) -> Result<Response, Failure> {
    let worker: Arc<str> = fields.shared("workerId").unwrap_or_default();
    let mut reports = Vec::new();
    for mut one in fields.objects("jobs") {
        let job = one.text("jobId").ok_or_else(|| Failure::invalid("jobId is needed"))?.into_owned();
        let holder = Holder { worker: worker.clone(), lease: lease(&mut one)? };
        reports.push(OneReport { job, holder, said: said(&mut one)? });
    }
    Ok(answer::ok(STANDINGS.to_vec(&workflows(call).report_many(reports, taken).await?)))
}

async fn release(call: Call) -> Result<Response, Failure> {
    let mut fields = call.required(&RELEASE)?;
    let holder = holder(&mut fields)?;
    give_up(&call, holder, Said::Returned).await
}

async fn snooze(call: Call) -> Result<Response, Failure> {
    let mut fields = call.required(&SNOOZE)?;
    let holder = holder(&mut fields)?;
    let duration = fields.text("duration").ok_or_else(|| Failure::invalid("duration is needed"))?;
    let delay = time::duration(&duration, "duration")?;
    give_up(&call, holder, Said::Snoozed { delay }).await
}

async fn give_up(call: &Call, holder: Holder, said: Said) -> Result<Response, Failure> {
    let (id, workflows) = (call.parameter("jobId")?, workflows(call));
    let became = workflows.report(&id, holder, said).await?;
    workflows.given_up(&id, became).await?;
    Ok(answer::no_content())
}

fn lease_for(fields: &mut Fields<'_>) -> Result<Option<Millis>, Failure> {
    workflow::lease_for(fields.number("leaseSeconds"))
}

fn progress(fields: &mut Fields<'_>) -> Result<Option<Arc<str>>, Failure> {
    let Some(mut given) = fields.object("progress") else { return Ok(None) };
    let (percent, message) = (given.number("percent"), given.text("message"));
    workflow::progress(percent, message.as_deref(), &given.document("data")).map(Some)
}
