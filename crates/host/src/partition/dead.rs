//! Jobs without retries: of processes, held by an incident, and executions that have failed.

use engine::JobKey;
use store::log::{Answer, Caller, Code};
use store::row::{Availability, JobState};

use super::Partition;
use super::jobs::no_such_job;
use super::tick::Tick;
use super::unit::Stop;

impl Partition {
    /// Lets a job that nobody tries any more be tried again, so often; its incident is resolved with it.
    pub(super) fn retry_job(&mut self, tick: &mut Tick, caller: &Caller, key: JobKey, retries: i32) -> Result<Answer, Stop> {
        let what = "retry job";
        let job = self.reached_job(tick, caller, key)?.ok_or_else(|| no_such_job(key, what))?;
        if job.execution.is_some() {
            return self.retry_execution(tick, caller, key, retries);
        }
        if job.availability != Availability::Stuck {
            let reason = format!("Expected to {what} with key '{key}', but it is not stuck");
            return Err(Stop::refused(Code::InvalidState, reason));
        }
        let origin = self.origin_of(tick, caller, key, what)?;
        let hot = self.hot.get(origin.instance).expect("it runs");
        let incident = hot.instance.incidents.iter().find(|(_, incident)| incident.job == Some(key)).map(|(key, _)| *key);
        let incident = incident.ok_or_else(|| no_such_job(key, what))?;
        self.change_job(tick, key, |job| {
            job.retries = retries;
            job.state = JobState::RetriesUpdated;
        });
        self.resolve_incident(tick, caller, incident)
    }
}
