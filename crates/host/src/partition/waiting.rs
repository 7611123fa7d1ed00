//! What policies say about jobs that have come: how long they may wait, and when one that failed is tried again.

use std::sync::Arc;

use engine::JobKey;
use model::{JobTask, Kind, Retries};
use queue::adapt::Ran;
use queue::policy::{Overdue, Wait};
use queue::retry::{self, Retry};
use store::log::{Answer, FailJob};
use store::row::{Availability, Job, JobOrigin, JobState, Operation};
use store::{DueKind, Millis};

use super::Partition;
use super::admission::Unwanted;
use super::jobs::no_such_job;
use super::tick::Tick;
use super::unit::{Stop, queue_of};

/// What an execution that has waited too long says.
const WAITED_TOO_LONG: &str = "MAX_WAIT";

impl Partition {
    fn wait_of(&self, job: &Job) -> Option<Wait> {
        self.policies.applying(&queue_of(job))?.wait
    }

    /// How long a job that becomes ready now may wait.
    pub(super) fn may_wait_until(&self, key: JobKey, now: Millis) -> Option<Millis> {
        if !self.policies.has_waits() {
            return None;
        }
        self.jobs.get(&key).and_then(|job| self.wait_of(job)).map(|wait| now.saturating_add(wait.most))
    }

    /// A job has waited as long as it may, unless its policy has changed meanwhile.
    pub(super) fn waited(&mut self, tick: &mut Tick, key: JobKey) -> Result<Answer, Stop> {
        let Some(job) = self.job(tick, key)? else { return Err(no_such_job(key, "time out job")) };
        match job.wait_until {
            Some(until) if until <= tick.now => {}
            until => {
                // Not yet: it has begun to wait anew, or the clock was set back.
                self.postponed.extend(until.map(|at| (at, (key.0, DueKind::Job))));
                return Err(no_such_job(key, "time out job"));
            }
        }
        let Some(wait) = self.wait_of(job) else {
            self.change_job(tick, key, |job| job.wait_until = None);
            return Ok(Answer::Done);
        };
        let action = job.job_type.clone();
        let reason: Arc<str> =
            format!("The limit queue.maxWait is reached: the job of action '{action}' has waited {} ms", wait.most).into();
        match job.origin {
            Some(JobOrigin { instance, element_instance: element, .. }) => {
                if !self.runs(tick, &store::log::Caller::engine(), instance)? {
                    return Err(no_such_job(key, "time out job"));
                }
                tick.unit.unwanted.push(Unwanted { instance, element, job: key, reason });
            }
            None => self.give_up_execution(tick, key, wait.then, &reason),
        }
        Ok(Answer::Done)
    }

    fn give_up_execution(&mut self, tick: &mut Tick, key: JobKey, then: Overdue, reason: &Arc<str>) {
        let now = tick.now;
        self.change_job(tick, key, |job| {
            (job.state, job.availability) = match then {
                Overdue::Fail => (JobState::Failed, Availability::Stuck),
                Overdue::Cancel => (JobState::Cancelled, Availability::Done),
            };
            job.failed_with_retries_left = false;
            job.error_code = WAITED_TOO_LONG.into();
            job.error_message = reason.clone();
            job.ended = Some(now);
        });
        let operation = match then {
            Overdue::Fail => Operation::Fail,
            Overdue::Cancel => Operation::Cancel,
        };
        self.audit_job(tick, key, operation, Some(reason));
    }

    /// How long a job that failed waits for its next try: as its worker says, or its policy.
    pub(super) fn backoff(&self, tick: &Tick, fail: &FailJob) -> Result<Millis, Stop> {
        if fail.retries < 1 || 0 < fail.backoff || self.policies.is_empty() {
            return Ok(fail.backoff);
        }
        let Some(job) = self.jobs.get(&fail.job) else { return Ok(fail.backoff) };
        let Some(policy) = self.policies.applying(&queue_of(job)).and_then(|policy| policy.retry.as_ref()) else {
            return Ok(fail.backoff);
        };
        Ok(retry::delay(policy, self.tries(tick, job, fail, policy)?, fail.job.0))
    }

    /// The number of the try that failed. A job of a process does not count them: how many are left of those its element gives it tells.
    fn tries(&self, tick: &Tick, job: &Job, fail: &FailJob, policy: &Retry) -> Result<u32, Stop> {
        if let Some(execution) = &job.execution {
            return Ok(execution.attempts);
        }
        let Some(origin) = job.origin.filter(|_| !policy.is_always_the_same()) else { return Ok(1) };
        let Some(definition) = self.compiled(tick, origin.definition)? else { return Ok(1) };
        let mut given = job.retries;
        if let Kind::JobTask(JobTask { retries: Retries::Fixed(retries), .. }) = &definition.process.element(origin.element).kind
        {
            given = *retries;
        }
        Ok(u32::try_from(given.saturating_sub(fail.retries)).unwrap_or(1).max(1))
    }

    /// How a run came out, for limits that adapt.
    pub(super) fn judge_run(&mut self, before: &Job, after: &Job, now: Millis) {
        let since = before.execution.as_ref().and_then(|execution| execution.started).unwrap_or(before.updated);
        let ran = match after.state {
            JobState::Completed | JobState::ErrorThrown => Ran::Well { took: now - since },
            JobState::Failed | JobState::TimedOut => Ran::Badly,
            JobState::Created | JobState::RetriesUpdated | JobState::Cancelled | JobState::Migrated => return,
        };
        // One that is given back untaken has no worker.
        if !after.worker.is_empty() {
            self.dispatch.ended(&queue_of(after), ran);
        }
    }
}
