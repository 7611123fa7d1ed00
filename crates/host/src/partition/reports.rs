//! What workers say of jobs, each for the lease it was given: done, failed, a BPMN error, still at it, given back, not now. What is said for a lease
//! that somebody else has by now changes nothing.

use engine::JobKey;
use queue::claim::{Claim, Leased, Standing, is_last, standing};
use queue::retry::{BACKOFF_MAX, lease_end};
use store::Millis;
use store::log::{Answer, Became, Caller, Code, FailAttempt, FailJob, Failed, Report, Reported, Said, ThrowError, Thrown};
use store::row::{Availability, Job, JobKind, JobState, Operation};

use super::Partition;
use super::jobs::no_such_job;
use super::needs::Needs;
use super::tick::Tick;
use super::unit::Stop;
use crate::announce::ANNOUNCED;

/// How many reports a command has: those about jobs of processes step instances, and have commands of their own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Company {
    Alone,
    Many,
}

impl Partition {
    pub(super) fn report(&mut self, tick: &mut Tick, caller: &Caller, reports: &[Report]) -> Result<Answer, Stop> {
        let is_unknown = |key: &JobKey| !self.jobs.knows(key) && !tick.known.unusable.contains_key(&key.0);
        let unknown: Vec<_> = reports.iter().map(|report| report.job).filter(is_unknown).collect();
        if !unknown.is_empty() {
            return Err(Needs::jobs(unknown).into());
        }
        let company = if reports.len() == 1 { Company::Alone } else { Company::Many };
        let mut reported = Vec::with_capacity(reports.len());
        for report in reports {
            let became = match self.report_one(tick, caller, report, company) {
                Err(Stop::Refused(rejection)) if company == Company::Many => Became::Refused(rejection),
                became => became?,
            };
            if became == Became::Lost {
                self.metrics.workflows.lock_conflicts.inc();
            }
            reported.push(Reported { job: report.job, became });
        }
        Ok(Answer::Reported(reported))
    }

    /// What is refused has changed nothing.
    fn report_one(&mut self, tick: &mut Tick, caller: &Caller, report: &Report, company: Company) -> Result<Became, Stop> {
        let Some(job) = self.reached_job(tick, caller, report.job)? else { return Ok(Became::Gone) };
        let claim = claimed(&report.claim, job);
        let stands = standing(&claim, leased(job));
        let needs_company = job.execution.is_none() && company == Company::Many;
        match (&report.said, stands) {
            (_, Standing::Lost) => return Ok(Became::Lost),
            (Said::Completed { .. } | Said::Failed(_) | Said::Thrown(_), _) if needs_company => return Ok(Became::Alone),
            (Said::Completed { variables }, Standing::Held | Standing::Open) => {
                self.complete_job(tick, caller, report.job, variables, None)?;
            }
            // Once is enough: by this lease, or by another after it.
            (Said::Failed(_), Standing::Open) if is_failed(job) => {
                let is_again = is_last(&claim, leased(job));
                return Ok(if is_again { Became::Taken { until: None } } else { Became::Lost });
            }
            (Said::Failed(failed), Standing::Held | Standing::Open) => {
                self.fail_reported(tick, caller, (report.job, &report.claim), failed)?;
            }
            (Said::Thrown(_), Standing::Open) if job.state == JobState::ErrorThrown => {
                let is_again = is_last(&claim, leased(job));
                return Ok(if is_again { Became::Taken { until: None } } else { Became::Lost });
            }
            // Not a matter of when it was said, as other refusals are: it never can be.
            (Said::Thrown(_), Standing::Held | Standing::Open) if matches!(job.kind, JobKind::Listener(_)) => {
                let reason = format!("Job '{}' is a listener's: no BPMN error can be thrown from it", report.job);
                return Err(Stop::refused(Code::InvalidArgument, reason));
            }
            (Said::Thrown(thrown), Standing::Held | Standing::Open) => {
                let Thrown { code, message, variables } = thrown.clone();
                self.throw_error(tick, caller, &ThrowError { job: report.job, code, message, variables })?;
            }
            (Said::Alive { lease, progress }, Standing::Held) => {
                let until = self.go_on(tick, report.job, *lease, progress.as_ref());
                return Ok(Became::Taken { until });
            }
            (Said::Returned, Standing::Held) => self.hand_back(tick, report.job, Availability::Ready),
            (Said::Snoozed { delay }, Standing::Held) => {
                let until = tick.now.saturating_add((*delay).clamp(0, BACKOFF_MAX));
                let later = if tick.now < until { Availability::BackingOff { until } } else { Availability::Ready };
                self.hand_back(tick, report.job, later);
            }
            // It is anybody's already.
            (Said::Returned, Standing::Open) => {}
            (Said::Alive { .. } | Said::Snoozed { .. }, Standing::Open) => return Ok(Became::Lost),
        }
        Ok(Became::Taken { until: None })
    }

    /// Of a lease without numbers, by those who know only their own name.
    pub(super) fn fail_attempt(&mut self, tick: &mut Tick, caller: &Caller, fail: &FailAttempt) -> Result<Answer, Stop> {
        let FailAttempt { job, worker, retryable, message } = fail.clone();
        let failed = Failed { retryable, message, backoff: None, variables: Vec::new() };
        let report = Report { job, claim: Claim { worker: Some(worker), lease: None }, said: Said::Failed(failed) };
        match self.report_one(tick, caller, &report, Company::Alone)? {
            Became::Gone => Err(no_such_job(job, "fail job")),
            Became::Taken { .. } | Became::Lost | Became::Alone | Became::Refused(_) => Ok(Answer::Done),
        }
    }

    /// How many retries that leaves is counted here, and how long to wait is for the worker to say, or for the model, or for the policy.
    fn fail_reported(
        &mut self,
        tick: &mut Tick,
        caller: &Caller,
        (key, claim): (JobKey, &Claim),
        failed: &Failed,
    ) -> Result<(), Stop> {
        let what = "fail job";
        let Some(job) = self.job(tick, key)? else { return Err(no_such_job(key, what)) };
        let retries = if failed.retryable { (job.retries - 1).max(0) } else { 0 };
        let (created, is_process) = (job.created, job.execution.is_none());
        let mut number = job.execution.as_ref().map_or(1, |execution| execution.attempts);
        let worker = claim.worker.clone().unwrap_or_else(|| job.worker.clone());
        let mut variables = failed.variables.clone();
        if is_process {
            let origin = self.origin_of(tick, caller, key, what)?;
            let (kept, attempt) = self.attempt(&origin, (created, tick.now), &worker, &failed.message);
            variables.push(kept);
            number = attempt;
        }
        let said = failed.backoff.or_else(|| self.backoff_of(key, number));
        let mut fail = FailJob { job: key, retries, message: failed.message.clone(), backoff: said.unwrap_or(0), variables };
        if said.is_none() {
            fail.backoff = self.backoff(tick, &fail)?;
        }
        if 0 < retries {
            self.metrics.workflows.retries.inc();
        }
        let why = if failed.retryable { "RetriesExhausted" } else { "NotRetryable" };
        self.fail_because(tick, caller, &fail, format!("{why}: {}", failed.message).into())?;
        Ok(())
    }

    /// Its worker keeps it. That is no news of the job itself, so it does not count as an update.
    fn go_on(
        &mut self,
        tick: &Tick,
        key: JobKey,
        lease: Option<Millis>,
        progress: Option<&std::sync::Arc<str>>,
    ) -> Option<Millis> {
        let now = tick.now;
        self.jobs.change(&key, tick.number, |job| {
            if let Some(lease) = lease {
                job.deadline = Some(lease_end(lease, now));
            }
            if let Some(progress) = progress {
                job.progress = Some(progress.clone());
            }
        });
        self.jobs.get(&key).and_then(|job| job.deadline)
    }

    /// A worker that had it does not want it now.
    fn hand_back(&mut self, tick: &mut Tick, key: JobKey, then: Availability) {
        self.audit_job(tick, key, Operation::Release, None);
        self.give_back(tick, key, then);
    }

    /// As if it had not been handed out, but for the number of the lease.
    pub(super) fn give_back(&mut self, tick: &Tick, key: JobKey, then: Availability) {
        self.change_job(tick, key, |job| {
            job.availability = then;
            job.worker = "".into();
            job.deadline = None;
            if let Some(execution) = &mut job.execution {
                execution.attempts = execution.attempts.saturating_sub(1);
            }
        });
    }
}

fn leased(job: &Job) -> Leased<'_> {
    Leased { lasts: job.availability == Availability::Leased, worker: &job.worker, lease: job.leases }
}

/// Whoever heard of a job that was announced may speak for its lease.
fn claimed(claim: &Claim, job: &Job) -> Claim {
    Claim { worker: claim.worker.clone().filter(|_| *job.worker != *ANNOUNCED), lease: claim.lease }
}

fn is_failed(job: &Job) -> bool {
    job.state == JobState::Failed || job.availability == Availability::Stuck
}
