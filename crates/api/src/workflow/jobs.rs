//! Jobs: handed out by type, completed once, failed as often as they may be tried.

use std::sync::Arc;
use std::time::Duration;

use engine::{Document, JobKey};
use futures_util::future::select_all;
use host::{ActivatedJobs, Poll, Timed};
use queue::claim::Claim;
use store::log::{Answer, Became, Command, Failed, Report, Reported, Said, Thrown};
use store::query::{Entity, Field, Items};
use store::row::{ExecutionState, JobState};

use super::{Workflows, failed, is, key};
use crate::error::{Failure, Reason};

pub(crate) const JOBS_MAX: u32 = 100;
pub(crate) const JOB_TYPES_MAX: usize = 100;
pub(crate) const LEASE_SECONDS: std::ops::RangeInclusive<i64> = 5..=3_600;
const LEASE_SECONDS_DEFAULT: i64 = 60;

pub(crate) struct PollJobs {
    pub(crate) worker: Arc<str>,
    pub(crate) job_types: Vec<Arc<str>>,
    pub(crate) max: Option<i64>,
    pub(crate) lease_seconds: Option<i64>,
    /// How long to wait for a job if there is none.
    pub(crate) wait: Option<Duration>,
}

/// Who says something of a job, and for which lease.
#[derive(Debug, Clone)]
pub(crate) struct Holder {
    pub(crate) worker: Arc<str>,
    /// Its number; without it the name of the worker has to do.
    pub(crate) lease: Option<u32>,
}

impl Holder {
    pub(crate) fn claim(&self) -> Claim {
        Claim { worker: Some(self.worker.clone()), lease: self.lease }
    }
}

/// What became of a job that nobody can do any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    Completed,
    Cancelled,
}

impl PollJobs {
    /// How many jobs, and for how many seconds.
    pub(crate) fn check(&self) -> Result<(u32, i64), Failure> {
        check_worker(&self.worker)?;
        let types = self.job_types.len();
        if types == 0 || self.job_types.iter().any(|job_type| job_type.trim().is_empty()) {
            return Err(Failure::invalid("jobTypes must name at least one job type, none of them empty"));
        }
        if JOB_TYPES_MAX < types {
            return Err(Failure::invalid(format!("jobTypes has {types} names: at most {JOB_TYPES_MAX} are allowed")));
        }
        let max = self.max.unwrap_or(1);
        let Some(max) = u32::try_from(max).ok().filter(|max| (1..=JOBS_MAX).contains(max)) else {
            return Err(Failure::invalid(format!("maxJobs is {max}, but must be 1 to {JOBS_MAX}")));
        };
        let lease = self.lease_seconds.unwrap_or(LEASE_SECONDS_DEFAULT);
        if !LEASE_SECONDS.contains(&lease) {
            let (least, most) = (LEASE_SECONDS.start(), LEASE_SECONDS.end());
            return Err(Failure::invalid(format!("leaseSeconds is {lease}, but must be {least} to {most}")));
        }
        Ok((max, lease))
    }
}

impl Workflows {
    /// Jobs of these types, those of the first type first. Whoever drops them gives them back.
    pub(crate) async fn poll(&self, poll: &PollJobs) -> Result<Vec<ActivatedJobs>, Failure> {
        let (max, lease) = poll.check()?;
        if let Some(announced) = poll.job_types.iter().find(|job_type| self.host.announces(job_type)) {
            let reason = format!("Jobs of type '{announced}' are announced on Kafka: there is nothing to poll for");
            return Err(Failure::new(Reason::Gone, reason));
        }
        let _timed = Timed::new(&self.host.metrics().workflows.poll_seconds);
        let ask = |job_type: &Arc<str>, max: u32, wait: Option<Duration>| {
            self.host.activate(Poll {
                job_type: job_type.clone(),
                worker: poll.worker.clone(),
                timeout: lease * 1_000,
                max,
                tenants: vec![self.caller.home()],
                fetch: Vec::new(),
                wait,
            })
        };
        if let ([only], wait) = (poll.job_types.as_slice(), poll.wait) {
            return Ok(vec![ask(only, max, wait).await.map_err(failed)?]);
        }
        let (mut found, mut left) = (Vec::new(), max);
        for job_type in &poll.job_types {
            let jobs = ask(job_type, left, None).await.map_err(failed)?;
            left -= u32::try_from(jobs.len()).unwrap_or(left).min(left);
            if !jobs.is_empty() {
                found.push(jobs);
            }
            if left == 0 {
                break;
            }
        }
        let (true, Some(wait)) = (found.is_empty(), poll.wait) else { return Ok(found) };
        let mut waiting: Vec<_> = poll.job_types.iter().map(|job_type| Box::pin(ask(job_type, max, Some(wait)))).collect();
        while !waiting.is_empty() {
            let (answered, _, others) = select_all(waiting).await;
            let jobs = answered.map_err(failed)?;
            if !jobs.is_empty() {
                return Ok(vec![jobs]);
            }
            waiting = others;
        }
        Ok(Vec::new())
    }

    /// Done is done: a second completion is no error and has no effect. One for a lease that somebody else has by now is refused.
    pub(crate) async fn complete(&self, id: &str, holder: Holder, variables: Document) -> Result<(), Failure> {
        match self.report(id, holder, Said::Completed { variables }).await {
            Ok(Became::Gone) => match self.over(id).await? {
                Over::Completed => Ok(()),
                Over::Cancelled => Err(cancelled(id)),
            },
            Ok(Became::Lost) => Err(lost(id)),
            Ok(Became::Taken { .. } | Became::Alone | Became::Refused(_)) => Ok(()),
            Err(failure) if failure.reason == Reason::InvalidState => {
                Err(Failure::new(Reason::InvalidState, format!("Job '{id}' has failed")))
            }
            Err(failure) => Err(failure),
        }
    }

    /// Of a job that is over nothing changes; nor of one that somebody else has, which is refused.
    pub(crate) async fn fail(&self, id: &str, holder: Holder, failed: Failed) -> Result<(), Failure> {
        match self.report(id, holder, Said::Failed(failed)).await {
            Ok(Became::Gone) => self.over(id).await.map(drop),
            Ok(Became::Lost) => Err(lost(id)),
            Ok(Became::Taken { .. } | Became::Alone | Became::Refused(_)) => Ok(()),
            Err(failure) if failure.reason == Reason::InvalidState => Ok(()),
            Err(failure) => Err(failure),
        }
    }

    /// Thrown once: saying so again is no error and has no effect. One for a lease that somebody else has by now is refused.
    pub(crate) async fn throw(&self, id: &str, holder: Holder, thrown: Thrown) -> Result<(), Failure> {
        if thrown.code.is_empty() {
            return Err(Failure::invalid("errorCode is needed, and must not be empty"));
        }
        match self.report(id, holder, Said::Thrown(thrown)).await? {
            Became::Gone => match self.over(id).await? {
                Over::Completed => Ok(()),
                Over::Cancelled => Err(cancelled(id)),
            },
            Became::Lost => Err(lost(id)),
            Became::Taken { .. } | Became::Alone | Became::Refused(_) => Ok(()),
        }
    }

    /// What a worker says of one job.
    pub(crate) async fn report(&self, id: &str, holder: Holder, said: Said) -> Result<Became, Failure> {
        check_worker(&holder.worker)?;
        let claim = holder.claim();
        let reported = self.reports(vec![Report { job: job_key(id)?, claim, said }]).await?;
        let became = reported.into_iter().next().map(|one| one.became);
        became.ok_or_else(|| Failure::new(Reason::Internal, "The server answered with something unexpected"))
    }

    /// What a worker says of many, in the same order.
    pub(crate) async fn reports(&self, reports: Vec<Report>) -> Result<Vec<Reported>, Failure> {
        match self.submit(Command::Report { reports }).await? {
            Answer::Reported(reported) => Ok(reported),
            other => Err(super::definitions::unexpected(&other)),
        }
    }

    /// What became of a job that is not open any more.
    pub(crate) async fn over(&self, id: &str) -> Result<Over, Failure> {
        let job = job_key(id)?;
        if let Items::Jobs(views) = self.first(Entity::Jobs, vec![is(Field::JobKey, job.0)]).await?
            && let Some(view) = views.first()
        {
            return Ok(if view.state == JobState::Cancelled { Over::Cancelled } else { Over::Completed });
        }
        match self.first(Entity::Executions, vec![is(Field::ExecutionKey, job.0)]).await? {
            Items::Executions(views) if !views.is_empty() => {
                Ok(if views[0].state == ExecutionState::Cancelled { Over::Cancelled } else { Over::Completed })
            }
            _ => Err(no_job(id)),
        }
    }
}

pub(crate) fn lost(id: &str) -> Failure {
    let detail = format!("The lease of job '{id}' was lost: another worker has it, and nothing was changed");
    Failure::new(Reason::InvalidState, detail)
}

pub(crate) fn cancelled(id: &str) -> Failure {
    Failure::new(Reason::InvalidState, format!("Job '{id}' was cancelled"))
}

pub(crate) fn check_worker(worker: &str) -> Result<(), Failure> {
    match worker.trim().is_empty() {
        true => Err(Failure::invalid("workerId is needed, and must not be empty")),
        false => Ok(()),
    }
}

pub(crate) fn job_key(id: &str) -> Result<JobKey, Failure> {
    key(id).map(JobKey).ok_or_else(|| no_job(id))
}

fn no_job(id: &str) -> Failure {
    Failure::not_found(format!("There is no job '{id}'"))
}
