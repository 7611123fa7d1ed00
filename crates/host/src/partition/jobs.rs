//! Commands about jobs: completing, failing, throwing, updating; leases and back-offs that end; incidents that hold a job. Those that
//! end no wait and set no variables need no instance.

use std::sync::Arc;

use engine::{
    Document, ElementKey, Event, FailedJob, IncidentKey, IncidentKind, InstanceKey, JobKey, On, ThrownError, WaitEnd, Waited,
};
use model::Kind;
use queue::retry::{Verdict, after_failure, lease_end};
use store::log::{Answer, Caller, Code, FailJob, JobResult, Released, ThrowError, UpdateJob};
use store::row::{Availability, Job, JobKind, JobOrigin, JobState, Operation};
use store::{DueKind, Millis};

use super::Partition;
use super::admission::Unwanted;
use super::execute::{no_incident, unusable};
use super::needs::Needs;
use super::tick::Tick;
use super::unit::Stop;
use crate::sinks::QueueId;

impl Partition {
    pub(super) fn complete_job(
        &mut self,
        tick: &mut Tick,
        caller: &Caller,
        job: JobKey,
        variables: &Document,
        result: Option<&JobResult>,
    ) -> Result<Answer, Stop> {
        let what = "complete job";
        if self.workable(tick, caller, job, what)?.execution.is_some() {
            self.complete_execution(tick, job, variables);
            return Ok(Answer::Done);
        }
        let origin = self.origin_of(tick, caller, job, what)?;
        match (self.jobs.get(&job).map(|job| job.kind), result) {
            (Some(JobKind::Listener(event)), result) if event.is_of_task() => {
                return self.complete_task_listener(tick, (job, event, origin), variables, result);
            }
            (Some(JobKind::AdHoc), Some(JobResult::AdHoc(result))) => {
                return self.direct_ad_hoc(tick, (job, origin), variables, result);
            }
            // What it says of other work than its own counts for nothing.
            (Some(JobKind::Listener(_) | JobKind::AdHoc | JobKind::Element) | None, _) => {}
        }
        let element = origin.element_instance;
        let command = engine::Command::CompleteJob { job, element, variables: variables.clone() };
        self.step(tick, origin.instance, &command)?.map_err(|_| no_such_job(job, what))?;
        Ok(Answer::Done)
    }

    pub(super) fn fail_job(&mut self, tick: &mut Tick, caller: &Caller, fail: &FailJob) -> Result<Answer, Stop> {
        self.workable(tick, caller, fail.job, "fail job")?;
        let backoff = self.backoff(tick, fail)?;
        match backoff == fail.backoff {
            true => self.fail_because(tick, caller, fail, reason_of(&fail.message)),
            false => self.fail_because(tick, caller, &FailJob { backoff, ..fail.clone() }, reason_of(&fail.message)),
        }
    }

    /// The same, with what the incident says where no retries are left.
    pub(super) fn fail_because(
        &mut self,
        tick: &mut Tick,
        caller: &Caller,
        fail: &FailJob,
        reason: Arc<str>,
    ) -> Result<Answer, Stop> {
        let what = "fail job";
        let is_execution = self.workable(tick, caller, fail.job, what)?.execution.is_some();
        let verdict = after_failure(fail.retries, fail.backoff, tick.now);
        let availability = match verdict {
            Verdict::Ready => Availability::Ready,
            Verdict::Later { at } => Availability::BackingOff { until: at },
            Verdict::Stuck => Availability::Stuck,
        };
        self.change_job(tick, fail.job, |job| {
            job.state = JobState::Failed;
            job.retries = fail.retries.max(0);
            job.error_message = fail.message.clone();
            job.failed_with_retries_left = verdict != Verdict::Stuck;
            job.availability = availability;
        });
        self.audit_job(tick, fail.job, Operation::Fail, Some(&fail.message));
        if is_execution {
            self.fail_execution(tick, fail, verdict);
            return Ok(Answer::Done);
        }
        let stuck = (verdict == Verdict::Stuck).then_some(reason);
        if stuck.is_none() && fail.variables.is_empty() {
            return Ok(Answer::Done);
        }
        let origin = self.origin_of(tick, caller, fail.job, what)?;
        let failed = FailedJob { job: fail.job, element: origin.element_instance, variables: fail.variables.clone(), stuck };
        self.step(tick, origin.instance, &engine::Command::FailJob(failed))?.map_err(|_| no_such_job(fail.job, what))?;
        Ok(Answer::Done)
    }

    pub(super) fn throw_error(&mut self, tick: &mut Tick, caller: &Caller, throw: &ThrowError) -> Result<Answer, Stop> {
        let what = "throw an error for job";
        let is_execution = self.workable(tick, caller, throw.job, what)?.execution.is_some();
        let origin = if is_execution { None } else { Some(self.origin_of(tick, caller, throw.job, what)?) };
        if let (Some(origin), Some(job)) =
            (origin, self.jobs.get(&throw.job).filter(|job| matches!(job.kind, JobKind::Listener(_))))
        {
            let (kind, job_type, instance) = (job.kind.word(), &job.job_type, origin.instance);
            let reason = format!(
                "Cannot throw BPMN error from {kind} job with key '{}', type '{job_type}' and processInstanceKey '{instance}'",
                throw.job
            );
            return Err(Stop::refused(Code::InvalidState, reason));
        }
        self.change_job(tick, throw.job, |job| {
            job.state = JobState::ErrorThrown;
            job.error_code = throw.code.clone();
            job.error_message = throw.message.clone();
            job.failed_with_retries_left = 0 < job.retries;
            job.availability = Availability::Stuck;
        });
        self.audit_job(tick, throw.job, Operation::Throw, Some(&throw.message));
        let Some(origin) = origin else {
            self.throw_from_execution(tick, throw);
            return Ok(Answer::Done);
        };
        let thrown = ThrownError {
            job: throw.job,
            element: origin.element_instance,
            code: throw.code.clone(),
            message: throw.message.clone(),
            variables: throw.variables.clone(),
        };
        self.step(tick, origin.instance, &engine::Command::ThrowError(thrown))?.map_err(|_| no_such_job(throw.job, what))?;
        Ok(Answer::Done)
    }

    pub(super) fn update_job(&mut self, tick: &mut Tick, caller: &Caller, update: &UpdateJob) -> Result<Answer, Stop> {
        let job = self.reached_job(tick, caller, update.job)?.ok_or_else(|| no_such_job(update.job, "update job"))?;
        if update.retries.is_some_and(|retries| retries < 1) {
            let reason = format!("Expected to update job with key '{}' with a positive number of retries", update.job);
            return Err(Stop::refused(Code::InvalidArgument, reason));
        }
        if update.timeout.is_some() && job.availability != Availability::Leased {
            let reason = format!("Expected to update the timeout of job with key '{}', but it is not active", update.job);
            return Err(Stop::refused(Code::InvalidState, reason));
        }
        if let (Some(retries), true, Availability::Stuck) = (update.retries, job.execution.is_some(), job.availability) {
            // There is no incident to be resolved: whoever gives it retries wants it tried.
            return self.retry_execution(tick, caller, update.job, retries);
        }
        let now = tick.now;
        self.change_job(tick, update.job, |job| {
            if let Some(retries) = update.retries {
                job.retries = retries;
                job.state = JobState::RetriesUpdated;
            }
            if let Some(timeout) = update.timeout {
                job.deadline = Some(lease_end(timeout, now));
            }
        });
        Ok(Answer::Done)
    }

    /// A lease or a back-off has come to its end, unless something happened to the job meanwhile.
    pub(super) fn job_due(&mut self, tick: &mut Tick, key: JobKey) -> Result<Answer, Stop> {
        let Some(job) = self.job(tick, key)? else { return Err(no_such_job(key, "time out job")) };
        match job.availability {
            Availability::Leased if job.deadline.is_some_and(|deadline| deadline <= tick.now) => {
                if let Some(lease) = self.unheard(job) {
                    let until = lease_end(lease, tick.now);
                    self.jobs.change(&key, tick.number, |job| job.deadline = Some(until));
                    return Ok(Answer::Done);
                }
                self.change_job(tick, key, |job| {
                    job.state = JobState::TimedOut;
                    job.availability = Availability::Ready;
                });
                self.audit_job(tick, key, Operation::TimeOut, None);
            }
            Availability::BackingOff { until } if until <= tick.now => {
                self.change_job(tick, key, |job| job.availability = Availability::Ready);
            }
            Availability::Leased | Availability::BackingOff { .. } => {
                // Not yet: it was made longer, or the clock was set back since it was taken out of the timeline.
                let due = job.availability.due(job.deadline);
                self.postponed.extend(due.map(|at| (at, (key.0, DueKind::Job))));
                return Err(no_such_job(key, "time out job"));
            }
            Availability::Ready => return self.waited(tick, key),
            Availability::Held | Availability::Stuck | Availability::Done => return Err(no_such_job(key, "time out job")),
        }
        Ok(Answer::Done)
    }

    /// Jobs a worker never took: the lease is given back if it is still that one.
    pub(super) fn release(&mut self, tick: &mut Tick, jobs: &[Released]) -> Result<Answer, Stop> {
        let unknown: Vec<_> = jobs.iter().map(|released| released.job).filter(|key| !self.jobs.knows(key)).collect();
        let unknown: Vec<_> = unknown.into_iter().filter(|key| !tick.known.unusable.contains_key(&key.0)).collect();
        if !unknown.is_empty() {
            return Err(Needs::jobs(unknown).into());
        }
        for released in jobs {
            let Some(job) = self.jobs.get(&released.job) else { continue };
            let is_that_one = job.deadline == Some(released.deadline) && [0, job.leases].contains(&released.lease);
            if job.availability == Availability::Leased && is_that_one {
                self.give_back(tick, released.job, Availability::Ready);
                // It never got there.
                self.change_job(tick, released.job, |job| job.dispatched = None);
            }
        }
        Ok(Answer::Done)
    }

    pub(super) fn resolve_incident(&mut self, tick: &mut Tick, caller: &Caller, key: IncidentKey) -> Result<Answer, Stop> {
        let instance = self.instance_of_incident(tick, caller, key)?;
        let incident = self.hot.get(instance).and_then(|hot| hot.instance.incidents.get(&key)).cloned();
        let incident = incident.ok_or_else(|| no_incident(key))?;
        let job = match incident.job {
            Some(job) => self.job(tick, job)?.map(|job| (job.key, job.retries)),
            None => None,
        };
        if let Some((job, retries)) = job
            && is_for_retries(incident.kind)
            && retries < 1
        {
            let reason = format!(
                "Expected to resolve incident with key '{key}', but job with key '{job}' has no retries left: give it retries first"
            );
            return Err(Stop::refused(Code::InvalidState, reason));
        }
        self.step(tick, instance, &engine::Command::ResolveIncident { incident: key })?.map_err(|_| no_incident(key))?;
        if let Some((job, _)) = job {
            self.change_job(tick, job, |job| job.availability = Availability::Ready);
        }
        Ok(Answer::Done)
    }

    /// Follows the engine's waits for workers: new jobs are ready, closed ones are done.
    pub(super) fn follow_jobs(&mut self, tick: &mut Tick, instance: InstanceKey, events: &[Event]) -> Result<(), Stop> {
        let (mut unknown, mut unknown_tasks) = (Vec::new(), Vec::new());
        for event in events {
            match event {
                Event::WaitOpened(opened) => {
                    if let On::Job { job_type, retries, headers, listener } = &opened.on
                        && let Some(origin) = self.origin_in(instance, opened.element, events)
                    {
                        let headers = match listener {
                            None => headers.clone(),
                            Some(event) => Some(self.headers_for_listener(tick, &origin, *event, &mut unknown_tasks)?),
                        };
                        let definition = &self.hot.get(instance).expect("it was just stepped").definition;
                        let tenant = definition.row.tenant.clone();
                        let kind = match (listener, &definition.process.element(origin.element).kind) {
                            (Some(event), _) => JobKind::Listener(*event),
                            (None, Kind::AdHoc(_)) => JobKind::AdHoc,
                            (None, _) => JobKind::Element,
                        };
                        let job = new_job(opened.key.job(), origin, (job_type.clone(), tenant), *retries, tick.now);
                        let mut job = Job { headers, kind, ..job };
                        if !self.policies.is_empty() {
                            self.ask_policy(tick, &mut job, origin)?;
                        }
                        self.jobs.put(job.key, job, tick.number);
                    }
                }
                Event::WaitClosed { key, on: Waited::Job, end, .. } => {
                    let key = key.job();
                    if tick.known.unusable.contains_key(&key.0) {
                        return Err(unusable(&tick.known.unusable[&key.0]));
                    }
                    match self.jobs.knows(&key) {
                        true => self.close_job(tick, key, *end),
                        false => unknown.push(key),
                    }
                }
                _ => {}
            }
        }
        match unknown.is_empty() && unknown_tasks.is_empty() {
            true => Ok(()),
            false => {
                let mut needs = Needs::jobs(unknown);
                needs.add(Needs::user_tasks(unknown_tasks));
                Err(needs.into())
            }
        }
    }

    /// Puts a new job into its group; one that its queue does not take is remembered.
    fn ask_policy(&self, tick: &mut Tick, job: &mut Job, origin: JobOrigin) -> Result<(), Stop> {
        let queue = QueueId { job_type: job.job_type.clone(), tenant: job.tenant.clone() };
        let gate = match tick.unit.gates.remove(&queue) {
            Some(gate) => Some(gate),
            None => self.gate(&queue)?,
        };
        let Some(mut gate) = gate else { return Ok(()) };
        if !gate.parameters().is_empty() {
            let hot = self.hot.get(origin.instance).expect("it was just stepped");
            let visible = engine::visible(&hot.instance, origin.element_instance, gate.parameters());
            job.group = gate.group(|name| visible.iter().find(|(one, _)| **one == *name).map(|(_, value)| value));
        }
        job.wait_until = gate.wait_until(tick.now);
        if let Err(refusal) = self.admit(&mut gate, &job.group) {
            let reason = gate.reason(refusal).into();
            let JobOrigin { instance, element_instance: element, .. } = origin;
            tick.unit.unwanted.push(Unwanted { instance, element, job: job.key, reason });
        }
        tick.unit.gates.insert(queue, gate);
        Ok(())
    }

    /// The element that waits: alive, or entered and gone in the same step.
    pub(super) fn origin_in(&self, instance: InstanceKey, key: ElementKey, events: &[Event]) -> Option<JobOrigin> {
        let hot = self.hot.get(instance)?;
        let alive = hot.instance.elements.get(&key).map(|element| element.element);
        let entered = || {
            events.iter().find_map(|event| match event {
                Event::Entered { key: entered, element, .. } if *entered == key => Some(*element),
                _ => None,
            })
        };
        let element = alive.or_else(entered)?;
        Some(JobOrigin { instance, definition: hot.instance.definition, element, element_instance: key })
    }

    fn close_job(&mut self, tick: &Tick, key: JobKey, end: WaitEnd) {
        let now = tick.now;
        self.change_job(tick, key, |job| {
            job.availability = Availability::Done;
            match end {
                WaitEnd::Completed => {
                    job.state = JobState::Completed;
                    job.ended = Some(now);
                }
                WaitEnd::Cancelled => {
                    job.state = JobState::Cancelled;
                    job.failed_with_retries_left = false;
                    job.ended = Some(now);
                }
                WaitEnd::ErrorThrown => job.state = JobState::ErrorThrown,
            }
        });
    }

    pub(super) fn change_job(&mut self, tick: &Tick, key: JobKey, change: impl FnOnce(&mut Job)) {
        let now = tick.now;
        let wait_until = self.may_wait_until(key, now);
        self.jobs.change(&key, tick.number, |job| {
            let was_ready = job.availability == Availability::Ready;
            change(job);
            job.updated = now;
            match job.availability {
                Availability::Ready if was_ready => {}
                Availability::Ready => job.wait_until = wait_until,
                Availability::Leased
                | Availability::BackingOff { .. }
                | Availability::Held
                | Availability::Stuck
                | Availability::Done => job.wait_until = None,
            }
        });
    }

    /// A job that is not done, if there is one under this key.
    pub(super) fn job(&self, tick: &Tick, key: JobKey) -> Result<Option<&Job>, Stop> {
        if let Some(what) = tick.known.unusable.get(&key.0) {
            return Err(unusable(what));
        }
        match self.jobs.knows(&key) {
            true => Ok(self.jobs.get(&key).filter(|job| job.availability != Availability::Done)),
            false => Err(Needs::jobs(vec![key]).into()),
        }
    }

    pub(super) fn reached_job(&self, tick: &Tick, caller: &Caller, key: JobKey) -> Result<Option<&Job>, Stop> {
        Ok(self.job(tick, key)?.filter(|job| caller.tenants.has(&job.tenant)))
    }

    /// A job that a worker may still act on: any that is not done and that no incident holds.
    pub(super) fn workable(&self, tick: &Tick, caller: &Caller, key: JobKey, what: &str) -> Result<&Job, Stop> {
        let job = self.reached_job(tick, caller, key)?.ok_or_else(|| no_such_job(key, what))?;
        if job.availability == Availability::Stuck {
            let state = if job.state == JobState::ErrorThrown { "ERROR_THROWN" } else { "FAILED" };
            let reason = format!("Expected to {what} with key '{key}', but it is in state '{state}'");
            return Err(Stop::refused(Code::InvalidState, reason));
        }
        Ok(job)
    }

    /// The element instance that waits for a job; its instance is in memory.
    pub(super) fn origin_of(&mut self, tick: &Tick, caller: &Caller, key: JobKey, what: &str) -> Result<JobOrigin, Stop> {
        let origin = self.jobs.get(&key).and_then(|job| job.origin).ok_or_else(|| no_such_job(key, what))?;
        match self.runs(tick, caller, origin.instance)? {
            true => Ok(origin),
            false => Err(no_such_job(key, what)),
        }
    }
}

fn new_job(key: JobKey, origin: JobOrigin, queue: (Arc<str>, Arc<str>), retries: i32, now: Millis) -> Job {
    let (job_type, tenant) = queue;
    Job {
        key,
        origin: Some(origin),
        job_type,
        tenant,
        priority: 0,
        headers: None,
        kind: JobKind::Element,
        state: JobState::Created,
        availability: Availability::Ready,
        retries,
        worker: Arc::default(),
        deadline: None,
        error_code: Arc::default(),
        error_message: Arc::default(),
        failed_with_retries_left: false,
        denied: None,
        created: now,
        updated: now,
        ended: None,
        group: None,
        execution: None,
        dispatched: None,
        wait_until: None,
        leases: 0,
        progress: None,
    }
}

pub(super) fn no_such_job(key: JobKey, what: &str) -> Stop {
    Stop::not_found(format!("Expected to {what} with key '{key}', but no such job was found"))
}

fn is_for_retries(kind: IncidentKind) -> bool {
    matches!(
        kind,
        IncidentKind::JobNoRetries
            | IncidentKind::AdHocNoRetries
            | IncidentKind::ExecutionListenerNoRetries
            | IncidentKind::TaskListenerNoRetries
    )
}

fn reason_of(message: &Arc<str>) -> Arc<str> {
    if message.is_empty() { "No more retries left.".into() } else { message.clone() }
}
