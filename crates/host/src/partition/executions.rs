//! Work that belongs to no process: submitting it, and what its workers and its senders do with it. It is a row among the jobs, and
//! everything that happens to it is a change of that row.

use std::sync::Arc;

use engine::{Document, JobKey};
use queue::retry::Verdict;
use store::Millis;
use store::log::{
    Answer, Caller, Code, CompletedExecutions, FailJob, NewExecution, NewUnique, OnConflict, Submit, Submitted,
    SubmittedExecution, ThrowError,
};
use store::row::{Availability, Execution, ExecutionState, Job, JobKind, JobState, Operation, Unique, UniqueName};

use super::Partition;
use super::admission::Gate;
use super::needs::Needs;
use super::tick::Tick;
use super::unit::Stop;
use crate::json;
use crate::sinks::QueueId;
use crate::weigh::Weigh;

/// Who has a unique key.
#[derive(Debug, Clone)]
pub(super) struct Holder {
    pub(super) job: JobKey,
    pub(super) until: Option<Millis>,
}

impl Weigh for Holder {}

/// How a unique key that another has is dealt with.
enum Conflict {
    /// The other is the answer.
    Returned,
    /// The other gives way.
    Replaced,
}

impl Partition {
    pub(super) fn submit(&mut self, tick: &mut Tick, submit: &Submit) -> Result<Answer, Stop> {
        let queue = QueueId { job_type: submit.action.clone(), tenant: submit.tenant.clone() };
        self.refuse_while_draining(&submit.action)?;
        let mut gate = self.gate(&queue)?;
        let mut executions = Vec::with_capacity(submit.executions.len());
        for new in &submit.executions {
            executions.push(self.submit_one(tick, submit, new, gate.as_mut())?);
        }
        Ok(Answer::Submitted(Submitted { at: tick.now, executions }))
    }

    pub(super) fn submit_one(
        &mut self,
        tick: &mut Tick,
        submit: &Submit,
        new: &NewExecution,
        gate: Option<&mut Gate>,
    ) -> Result<SubmittedExecution, Stop> {
        let Submit { tenant, action, .. } = submit;
        let mut replaced = None;
        if let Some(unique) = &new.unique {
            let name = (tenant.clone(), action.clone(), unique.key.clone());
            if let Some(other) = self.in_the_way(tick, &name)? {
                match self.conflict(unique, other)? {
                    Conflict::Returned => return Ok(SubmittedExecution { job: other, is_new: false, group: None }),
                    Conflict::Replaced => replaced = Some(other),
                }
            }
        }
        let (mut group, mut wait_until) = (None, None);
        if let Some(gate) = gate {
            wait_until = gate.wait_until(tick.now);
            let value = |document: &'_ Document, name: &str| document.iter().position(|(one, _)| **one == *name);
            group = gate.group(|name| match value(&new.group, name) {
                Some(place) => Some(&new.group[place].1),
                None => value(&new.input, name).map(|place| &new.input[place].1),
            });
            if let Some(other) = replaced.and_then(|other| self.jobs.get(&other)) {
                gate.leave(&other.group);
            }
            self.admit(gate, &group).map_err(|refusal| gate.refused(refusal))?;
        }
        if let Some(other) = replaced {
            self.cancel_row(tick, other);
        }
        let key = JobKey(self.keys.take());
        let new = new_execution(key, (tenant, action), new, tick.now);
        let job = Job {
            headers: tick.unit.trace.clone(),
            group: group.clone(),
            wait_until: wait_until.filter(|_| new.availability == Availability::Ready),
            ..new
        };
        if let (Some(name), Some(unique)) = (job.unique_name(), job.execution.as_ref().and_then(|one| one.unique.as_ref())) {
            self.unique.put(name, Holder { job: key, until: unique.until }, tick.number);
        }
        self.jobs.put(key, job, tick.number);
        Ok(SubmittedExecution { job: key, is_new: true, group })
    }

    /// The execution because of which there can be no other with its unique key.
    fn in_the_way(&self, tick: &Tick, name: &UniqueName) -> Result<Option<JobKey>, Stop> {
        if !self.unique.knows(name) {
            let mut needs = Needs::default();
            needs.wanted.unique.push(name.clone());
            return Err(needs.into());
        }
        let Some(holder) = self.unique.get(name) else { return Ok(None) };
        if holder.until.is_some_and(|until| tick.now < until) {
            return Ok(Some(holder.job));
        }
        if !self.jobs.knows(&holder.job) {
            return Err(Needs::jobs(vec![holder.job]).into());
        }
        let is_open = self.jobs.get(&holder.job).is_some_and(|job| !job.execution_state().has_ended());
        Ok(is_open.then_some(holder.job))
    }

    /// What becomes of a submission whose unique key another has. Nothing is done about the other yet.
    fn conflict(&self, unique: &NewUnique, other: JobKey) -> Result<Conflict, Stop> {
        match unique.on_conflict {
            OnConflict::Return => return Ok(Conflict::Returned),
            OnConflict::Replace => {
                if !self.jobs.knows(&other) {
                    return Err(Needs::jobs(vec![other]).into());
                }
                if self.jobs.get(&other).is_some_and(|job| job.execution_state() == ExecutionState::Waiting) {
                    return Ok(Conflict::Replaced);
                }
            }
            OnConflict::Reject => {}
        }
        let key = &unique.key;
        let reason = format!("Expected to submit an execution with unique key '{key}', but execution '{other}' has it");
        Err(Stop::refused(Code::AlreadyExists, reason))
    }

    /// Each by itself: one that is refused leaves the others alone.
    pub(super) fn complete_executions(
        &mut self,
        tick: &mut Tick,
        caller: &Caller,
        jobs: &[(JobKey, Document)],
    ) -> Result<Answer, Stop> {
        let is_unknown = |key: &JobKey| !self.jobs.knows(key) && !tick.known.unusable.contains_key(&key.0);
        let unknown: Vec<_> = jobs.iter().map(|(key, _)| *key).filter(is_unknown).collect();
        if !unknown.is_empty() {
            return Err(Needs::jobs(unknown).into());
        }
        let mut completed = CompletedExecutions::default();
        for (key, variables) in jobs {
            match self.workable(tick, caller, *key, "complete job") {
                Ok(job) if job.execution.is_none() => completed.others.push(*key),
                Ok(_) => self.complete_execution(tick, *key, variables),
                Err(Stop::Refused(rejection)) => completed.refused.push((*key, rejection)),
                Err(needs @ Stop::Needs(_)) => return Err(needs),
            }
        }
        Ok(Answer::CompletedExecutions(completed))
    }

    pub(super) fn complete_execution(&mut self, tick: &Tick, key: JobKey, variables: &Document) {
        let now = tick.now;
        self.change_job(tick, key, |job| {
            job.state = JobState::Completed;
            job.availability = Availability::Done;
            job.ended = Some(now);
            leave_result(job, variables);
        });
    }

    /// A worker failed it and has said how often it may still be tried.
    pub(super) fn fail_execution(&mut self, tick: &Tick, fail: &FailJob, verdict: Verdict) {
        let ended = (verdict == Verdict::Stuck).then_some(tick.now);
        self.change_job(tick, fail.job, |job| {
            job.ended = ended;
            if !fail.variables.is_empty() {
                leave_result(job, &fail.variables);
            }
        });
    }

    /// There is nobody to catch an error: it has failed.
    pub(super) fn throw_from_execution(&mut self, tick: &Tick, throw: &ThrowError) {
        let now = tick.now;
        self.change_job(tick, throw.job, |job| {
            job.ended = Some(now);
            if !throw.variables.is_empty() {
                leave_result(job, &throw.variables);
            }
        });
    }

    pub(super) fn cancel_execution(&mut self, tick: &mut Tick, caller: &Caller, key: JobKey) -> Result<Answer, Stop> {
        self.execution(tick, caller, key, "cancel")?;
        self.cancel_row(tick, key);
        Ok(Answer::Done)
    }

    fn cancel_row(&mut self, tick: &mut Tick, key: JobKey) {
        let now = tick.now;
        self.change_job(tick, key, |job| {
            job.state = JobState::Cancelled;
            job.availability = Availability::Done;
            job.failed_with_retries_left = false;
            job.ended = Some(now);
        });
        self.audit_job(tick, key, Operation::Cancel, None);
    }

    pub(super) fn retry_execution(
        &mut self,
        tick: &mut Tick,
        caller: &Caller,
        key: JobKey,
        retries: i32,
    ) -> Result<Answer, Stop> {
        let job = self.execution(tick, caller, key, "retry")?;
        let state = job.execution_state();
        if state != ExecutionState::Failed {
            let reason = format!("Expected to retry execution '{key}', but it is in state '{}'", state.word());
            return Err(Stop::refused(Code::InvalidState, reason));
        }
        if let Some(name) = job.unique_name()
            && let Some(other) = self.in_the_way(tick, &name)?
            && other != key
        {
            let reason = format!("Expected to retry execution '{key}', but execution '{other}' has its unique key '{}'", name.2);
            return Err(Stop::refused(Code::AlreadyExists, reason));
        }
        self.change_job(tick, key, |job| {
            job.state = JobState::RetriesUpdated;
            job.retries = retries;
            job.availability = Availability::Ready;
            job.ended = None;
        });
        self.hold_unique(tick, key);
        Ok(Answer::Done)
    }

    /// It counts for its unique key again.
    fn hold_unique(&mut self, tick: &Tick, key: JobKey) {
        let Some(job) = self.jobs.get(&key) else { return };
        let until = job.execution.as_ref().and_then(|execution| execution.unique.as_ref()?.until);
        if let Some(name) = job.unique_name()
            && self.unique.knows(&name)
        {
            self.unique.put(name, Holder { job: key, until }, tick.number);
        }
    }

    fn execution(&self, tick: &Tick, caller: &Caller, key: JobKey, what: &str) -> Result<&Job, Stop> {
        let job = self.reached_job(tick, caller, key)?.filter(|job| job.execution.is_some());
        job.ok_or_else(|| {
            let reason = format!("Expected to {what} execution '{key}', but there is none that has not ended");
            Stop::refused(Code::NotFound, reason)
        })
    }
}

fn leave_result(job: &mut Job, variables: &Document) {
    if let Some(execution) = &mut job.execution {
        execution.result = Some(json::object(variables).into());
    }
}

fn new_execution(key: JobKey, (tenant, action): (&Arc<str>, &Arc<str>), new: &NewExecution, now: Millis) -> Job {
    let unique = new.unique.as_ref();
    let unique = unique.map(|unique| Unique { key: unique.key.clone(), until: unique.window.map(|window| now + window) });
    let execution = Execution { input: json::object(&new.input).into(), result: None, attempts: 0, started: None, unique };
    let availability = match new.run_at {
        Some(until) if now < until => Availability::BackingOff { until },
        Some(_) | None => Availability::Ready,
    };
    Job {
        kind: JobKind::Element,
        denied: None,
        key,
        origin: None,
        job_type: action.clone(),
        tenant: tenant.clone(),
        priority: new.priority,
        headers: None,
        state: JobState::Created,
        availability,
        retries: new.retries,
        worker: Arc::default(),
        deadline: None,
        error_code: Arc::default(),
        error_message: Arc::default(),
        failed_with_retries_left: false,
        created: now,
        updated: now,
        ended: None,
        group: None,
        execution: Some(Box::new(execution)),
        dispatched: None,
        wait_until: None,
        leases: 0,
        progress: None,
    }
}
