//! Jobs: handed out by type, completed once, failed as often as they may be tried.

use std::sync::Arc;
use std::time::Duration;

use engine::{Document, JobKey};
use futures_util::future::select_all;
use host::{ActivatedJobs, Poll, Timed};
use store::log::{Command, FailAttempt};
use store::query::{Entity, Field, Items, JobView};
use store::row::JobState;

use super::{Workflows, failed, is, key};
use crate::error::{Failure, Reason};

pub(crate) const JOBS_MAX: u32 = 100;
pub(crate) const JOB_TYPES_MAX: usize = 100;
const LEASE_SECONDS: std::ops::RangeInclusive<i64> = 5..=3_600;
const LEASE_SECONDS_DEFAULT: i64 = 60;

pub(crate) struct PollJobs {
    pub(crate) worker: Arc<str>,
    pub(crate) job_types: Vec<Arc<str>>,
    pub(crate) max: Option<i64>,
    pub(crate) lease_seconds: Option<i64>,
    /// How long to wait for a job if there is none.
    pub(crate) wait: Option<Duration>,
}

pub(crate) struct FailedJob {
    pub(crate) worker: Arc<str>,
    pub(crate) retryable: bool,
    pub(crate) message: Arc<str>,
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

    /// Done is done: a second completion is no error and has no effect.
    pub(crate) async fn complete(&self, id: &str, worker: &str, variables: Document) -> Result<(), Failure> {
        check_worker(worker)?;
        let job = job_key(id)?;
        match self.submit(Command::CompleteJob { job, variables, result: None }).await {
            Ok(_) => Ok(()),
            Err(failure) if failure.reason == Reason::NotFound => match self.job(id, job).await?.state {
                JobState::Completed => Ok(()),
                _ => Err(Failure::new(Reason::InvalidState, format!("Job '{id}' was cancelled"))),
            },
            Err(failure) if failure.reason == Reason::InvalidState => {
                Err(Failure::new(Reason::InvalidState, format!("Job '{id}' has failed")))
            }
            Err(failure) => Err(failure),
        }
    }

    /// Of a job that is over, or with somebody else, nothing changes.
    pub(crate) async fn fail(&self, id: &str, failed: FailedJob) -> Result<(), Failure> {
        check_worker(&failed.worker)?;
        let job = job_key(id)?;
        let FailedJob { worker, retryable, message } = failed;
        match self.submit(Command::FailAttempt(FailAttempt { job, worker, retryable, message })).await {
            Ok(_) => Ok(()),
            Err(failure) if matches!(failure.reason, Reason::NotFound | Reason::InvalidState) => {
                self.job(id, job).await.map(drop)
            }
            Err(failure) => Err(failure),
        }
    }

    async fn job(&self, id: &str, job: JobKey) -> Result<JobView, Failure> {
        match self.first(Entity::Jobs, vec![is(Field::JobKey, job.0)]).await? {
            Items::Jobs(mut views) if !views.is_empty() => Ok(views.swap_remove(0)),
            _ => Err(no_job(id)),
        }
    }
}

fn check_worker(worker: &str) -> Result<(), Failure> {
    match worker.trim().is_empty() {
        true => Err(Failure::invalid("workerId is needed, and must not be empty")),
        false => Ok(()),
    }
}

fn job_key(id: &str) -> Result<JobKey, Failure> {
    key(id).map(JobKey).ok_or_else(|| no_job(id))
}

fn no_job(id: &str) -> Failure {
    Failure::not_found(format!("There is no job '{id}'"))
}
