//! The model: an independent record of what became durable and of what everybody was told, compared after every step.
//!
//! It knows the store's contract and the meaning of commands from outside; it shares no code with the host. Numbers of invariants are
//! those of ARCHITECTURE.md; 0 is that everything comes to an end once the faults stop.

mod attempts;
mod jobs;
mod log;
mod state;

use engine::{InstanceKey, JobKey};
use store::{Commit, Loaded, Millis};

pub(crate) use attempts::{AttemptId, Told, What};

/// A promise that was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    pub invariant: u8,
    pub what: String,
}

pub(crate) type Check = Result<(), Violation>;

fn ensure(invariant: u8, holds: bool, what: impl FnOnce() -> String) -> Check {
    if holds { Ok(()) } else { Err(Violation { invariant, what: what() }) }
}

#[derive(Default)]
pub(crate) struct Checker {
    pub(crate) log: log::Log,
    pub(crate) state: state::State,
    pub(crate) jobs: jobs::Jobs,
    pub(crate) attempts: attempts::Attempts,
}

impl Checker {
    /// A commit has gone through; `loaded` is what the store holds now of the instances and jobs it names.
    pub(crate) fn landed(&mut self, commit: &Commit, now: Millis, loaded: &Loaded) -> Check {
        self.log.landed(commit, now)?;
        let mut failed: Vec<JobKey> = Vec::new();
        for row in &commit.log {
            let Some(instance) = row.instance else { continue };
            let events = store::format::decode_events(&row.events, |_| None).unwrap_or_default();
            for event in &events {
                if let Some(What::Fail(job)) = self.attempts.saw(event, instance)? {
                    failed.push(job);
                }
            }
            self.state.apply(instance, &events);
        }
        self.state.definitions(&commit.changes)?;
        self.jobs.landed(commit, now, &failed, &self.attempts)?;
        let touched = touched(commit);
        for instance in touched {
            let rows = loaded.instances.iter().find(|loaded| loaded.instance.key == instance);
            self.state.compare(instance, rows)?;
        }
        loaded.jobs.iter().try_for_each(|job| self.jobs.compare(job))
    }

    /// What a caller was told about an attempt.
    pub(crate) fn told(&mut self, attempt: AttemptId, told: Told) -> Check {
        self.attempts.told(attempt, told, &self.state)
    }
}

/// The instances a commit is about.
pub(crate) fn touched(commit: &Commit) -> Vec<InstanceKey> {
    let rows = commit.log.iter().filter_map(|row| row.instance);
    let jobs = commit.changes.jobs_changed.iter().filter_map(|job| Some(job.origin?.instance));
    let mut touched: Vec<_> = rows.chain(jobs).collect();
    touched.sort_unstable();
    touched.dedup();
    touched
}
