//! Commands about jobs: completing, failing, throwing, updating; leases and back-offs that end; incidents that hold a job.

use std::sync::Arc;

use engine::{Document, Event, FailedJob, IncidentKey, IncidentKind, InstanceKey, JobEnd, JobKey, ThrownError};
use queue::retry::{Verdict, after_failure, lease_end};
use store::log::{Answer, Code, FailJob, Released, ThrowError, UpdateJob};
use store::row::{Availability, Job, JobState};

use super::Partition;
use super::execute::{Done, not_found, rejected};
use super::tick::Tick;
use crate::dispatch::QueueId;

impl Partition {
    pub(super) fn complete_job(&mut self, tick: &mut Tick, job: JobKey, variables: &Document) -> Done {
        let instance = match self.workable(job, "complete job") {
            Ok(instance) => instance,
            Err(done) => return *done,
        };
        let command = engine::Command::CompleteJob { job, variables: variables.clone() };
        match self.step(tick, instance, &command) {
            Some(Ok(events)) => {
                self.metrics.jobs_completed.inc();
                Done { answer: Answer::Done, instance: Some(instance), events }
            }
            Some(Err(_)) | None => no_such_job(job, "complete job"),
        }
    }

    pub(super) fn fail_job(&mut self, tick: &mut Tick, fail: &FailJob) -> Done {
        let instance = match self.workable(fail.job, "fail job") {
            Ok(instance) => instance,
            Err(done) => return *done,
        };
        self.metrics.jobs_failed.inc();
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
        let stuck = (verdict == Verdict::Stuck).then(|| reason_of(&fail.message));
        if stuck.is_none() && fail.variables.is_empty() {
            return Done { answer: Answer::Done, instance: Some(instance), events: Vec::new() };
        }
        let failed = FailedJob { job: fail.job, variables: fail.variables.clone(), stuck };
        match self.step(tick, instance, &engine::Command::FailJob(failed)) {
            Some(Ok(events)) => Done { answer: Answer::Done, instance: Some(instance), events },
            Some(Err(_)) | None => no_such_job(fail.job, "fail job"),
        }
    }

    pub(super) fn throw_error(&mut self, tick: &mut Tick, throw: &ThrowError) -> Done {
        let instance = match self.workable(throw.job, "throw an error for job") {
            Ok(instance) => instance,
            Err(done) => return *done,
        };
        self.change_job(tick, throw.job, |job| {
            job.state = JobState::ErrorThrown;
            job.error_code = throw.code.clone();
            job.error_message = throw.message.clone();
            job.failed_with_retries_left = 0 < job.retries;
            job.availability = Availability::Stuck;
        });
        let thrown = ThrownError {
            job: throw.job,
            code: throw.code.clone(),
            message: throw.message.clone(),
            variables: throw.variables.clone(),
        };
        match self.step(tick, instance, &engine::Command::ThrowError(thrown)) {
            Some(Ok(events)) => Done { answer: Answer::Done, instance: Some(instance), events },
            Some(Err(_)) | None => no_such_job(throw.job, "throw an error for job"),
        }
    }

    pub(super) fn update_job(&mut self, tick: &mut Tick, update: &UpdateJob) -> Answer {
        let Some(job) = self.find_job(update.job) else {
            return no_such_job(update.job, "update job").answer;
        };
        if update.retries.is_some_and(|retries| retries < 1) {
            let reason = format!("Expected to update job with key '{}' with a positive number of retries", update.job);
            return rejected(Code::InvalidArgument, reason).answer;
        }
        if update.timeout.is_some() && job.availability != Availability::Leased {
            let reason = format!("Expected to update the timeout of job with key '{}', but it is not active", update.job);
            return rejected(Code::InvalidState, reason).answer;
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
        Answer::Done
    }

    /// A lease or a back-off has come to its end, unless something happened to the job meanwhile.
    pub(super) fn job_due(&mut self, tick: &mut Tick, key: JobKey) -> Answer {
        let Some(job) = self.find_job(key) else { return Answer::Done };
        match job.availability {
            Availability::Leased if job.deadline.is_some_and(|deadline| deadline <= tick.now) => {
                self.metrics.jobs_timed_out.inc();
                self.change_job(tick, key, |job| {
                    job.state = JobState::TimedOut;
                    job.availability = Availability::Ready;
                });
            }
            Availability::BackingOff { until } if until <= tick.now => {
                self.change_job(tick, key, |job| job.availability = Availability::Ready);
            }
            Availability::Leased
            | Availability::BackingOff { .. }
            | Availability::Ready
            | Availability::Stuck
            | Availability::Done => {}
        }
        Answer::Done
    }

    /// Jobs a worker never took: the lease is given back if it is still that one.
    pub(super) fn release(&mut self, tick: &mut Tick, jobs: &[Released]) {
        for released in jobs {
            let Some(job) = self.find_job(released.job) else { continue };
            if job.availability == Availability::Leased && job.deadline == Some(released.deadline) {
                self.change_job(tick, released.job, |job| {
                    job.availability = Availability::Ready;
                    job.worker = "".into();
                    job.deadline = None;
                });
            }
        }
    }

    pub(super) fn resolve_incident(&mut self, tick: &mut Tick, key: IncidentKey) -> Done {
        let missing = || not_found(format!("Expected to resolve incident with key '{key}', but no such incident was found"));
        let hot = |this: &Self, instance| this.hot.get(instance).and_then(|hot| hot.instance.incidents.get(&key).cloned());
        let Some(instance) = tick.owners.get(&key.0).copied() else { return missing() };
        let Some(incident) = hot(self, instance) else { return missing() };
        let job = incident.job.and_then(|job| self.find_job(job)).map(|job| (job.key, job.retries));
        if let Some((job, retries)) = job
            && incident.kind == IncidentKind::JobNoRetries
            && retries < 1
        {
            let reason = format!(
                "Expected to resolve incident with key '{key}', but job with key '{job}' has no retries left: give it retries first"
            );
            return rejected(Code::InvalidState, reason);
        }
        match self.step(tick, instance, &engine::Command::ResolveIncident { incident: key }) {
            Some(Ok(events)) => {
                if let Some((job, _)) = job {
                    self.change_job(tick, job, |job| job.availability = Availability::Ready);
                }
                Done { answer: Answer::Done, instance: Some(instance), events }
            }
            Some(Err(_)) | None => missing(),
        }
    }

    /// Follows the engine's waits for workers: new jobs are ready, closed ones are done.
    pub(super) fn follow_jobs(&mut self, tick: &mut Tick, instance: InstanceKey, events: &[Event]) {
        for event in events {
            match event {
                Event::JobOpened(opened) => {
                    let Some(hot) = self.hot.get(instance) else { continue };
                    let Some(element) = hot.instance.elements.get(&opened.element).map(|element| element.element) else {
                        continue;
                    };
                    let job = Job {
                        key: opened.key,
                        instance,
                        definition: hot.instance.definition,
                        element,
                        element_instance: opened.element,
                        job_type: opened.job_type.clone(),
                        tenant: hot.definition.row.tenant.clone(),
                        state: JobState::Created,
                        availability: Availability::Ready,
                        retries: opened.retries,
                        worker: "".into(),
                        deadline: None,
                        error_code: "".into(),
                        error_message: "".into(),
                        failed_with_retries_left: false,
                        created: tick.now,
                        updated: tick.now,
                        ended: None,
                    };
                    self.metrics.jobs_created.inc();
                    self.dispatch.ready(&queue_of(&job), job.key, instance);
                    tick.recorder.job_new(&job);
                    self.hot.add_job(job);
                }
                Event::JobClosed { key, end, .. } => self.close_job(tick, *key, *end),
                _ => {}
            }
        }
    }

    fn close_job(&mut self, tick: &mut Tick, key: JobKey, end: JobEnd) {
        let Some(mut job) = self.hot.remove_job(key) else { return };
        self.out_of_windows(&job);
        job.availability = Availability::Done;
        job.updated = tick.now;
        match end {
            JobEnd::Completed => {
                job.state = JobState::Completed;
                job.ended = Some(tick.now);
            }
            JobEnd::Cancelled => {
                job.state = JobState::Cancelled;
                job.failed_with_retries_left = false;
                job.ended = Some(tick.now);
            }
            JobEnd::ErrorThrown => job.state = JobState::ErrorThrown,
        }
        tick.recorder.job(&job);
    }

    /// Changes a job and puts it where its new availability belongs.
    fn change_job(&mut self, tick: &mut Tick, key: JobKey, change: impl FnOnce(&mut Job)) {
        let Some(before) = self.find_job(key).cloned() else { return };
        self.out_of_windows(&before);
        let Some(job) = self.hot.get_mut(before.instance).and_then(|hot| hot.jobs.get_mut(&key)) else { return };
        change(job);
        job.updated = tick.now;
        let job = job.clone();
        tick.recorder.job(&job);
        match job.availability {
            Availability::Ready => self.dispatch.ready(&queue_of(&job), key, job.instance),
            Availability::Leased => {
                if let Some(deadline) = job.deadline {
                    self.timeline.insert(deadline, key.0);
                }
            }
            Availability::BackingOff { until } => self.timeline.insert(until, key.0),
            Availability::Stuck | Availability::Done => {}
        }
    }

    fn out_of_windows(&mut self, job: &Job) {
        match job.availability {
            Availability::Ready => self.dispatch.not_ready(&queue_of(job), job.key),
            Availability::Leased => {
                if let Some(deadline) = job.deadline {
                    self.timeline.remove(deadline, job.key.0);
                }
            }
            Availability::BackingOff { until } => self.timeline.remove(until, job.key.0),
            Availability::Stuck | Availability::Done => {}
        }
    }

    fn find_job(&self, key: JobKey) -> Option<&Job> {
        let instance = self.hot.instance_of(key)?;
        self.hot.get(instance)?.jobs.get(&key)
    }

    /// The instance of a job that a worker may still act on: any that is not done and that no incident holds.
    fn workable(&self, key: JobKey, what: &str) -> Result<InstanceKey, Box<Done>> {
        let Some(job) = self.find_job(key) else {
            return Err(Box::new(no_such_job(key, what)));
        };
        if job.availability == Availability::Stuck {
            let state = if job.state == JobState::ErrorThrown { "ERROR_THROWN" } else { "FAILED" };
            let reason = format!("Expected to {what} with key '{key}', but it is in state '{state}'");
            return Err(Box::new(rejected(Code::InvalidState, reason)));
        }
        Ok(job.instance)
    }
}

fn no_such_job(key: JobKey, what: &str) -> Done {
    not_found(format!("Expected to {what} with key '{key}', but no such job was found"))
}

fn queue_of(job: &Job) -> QueueId {
    QueueId { tenant: job.tenant.clone(), job_type: job.job_type.clone() }
}

fn reason_of(message: &Arc<str>) -> Arc<str> {
    if message.is_empty() { "No more retries left.".into() } else { message.clone() }
}
