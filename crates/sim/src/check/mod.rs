//! The model: an independent record of what became durable and of what everybody was told, compared after every step.
//!
//! It knows the store's contract and the meaning of commands from outside; it shares no code with the host. Numbers of invariants are
//! those of ARCHITECTURE.md; 0 is that everything comes to an end once the faults stop.

mod attempts;
mod jobs;
mod log;
mod messages;
mod people;
mod queues;
mod seen;
mod signals;
mod state;
mod waits;

use engine::{Event, InstanceKey, JobKey};
use store::{Commit, Loaded, Millis, Wanted};

pub(crate) use attempts::{AttemptId, Told, What};
pub use seen::{SEEN, Seen};

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
    pub(crate) waits: waits::Waits,
    pub(crate) messages: messages::Messages,
    pub(crate) signals: signals::Signals,
    pub(crate) queues: queues::Queues,
    pub(crate) people: people::People,
    pub(crate) seen: Seen,
}

/// What a row of the log says.
pub(super) struct Happened {
    pub(super) kind: &'static str,
    pub(super) instance: InstanceKey,
    pub(super) events: Vec<Event>,
}

impl Checker {
    /// A commit has gone through; `loaded` is what the store holds now of the instances and jobs it names.
    pub(crate) fn landed(&mut self, commit: &Commit, now: Millis, loaded: &Loaded) -> Check {
        self.log.landed(commit, now)?;
        let happened: Vec<Happened> = commit.log.iter().filter_map(happened).collect();
        seen::count(&mut self.seen, commit, &happened);
        let mut failed: Vec<JobKey> = Vec::new();
        for Happened { instance, events, .. } in &happened {
            for event in events {
                if let Some(What::Fail(job)) = self.attempts.saw(event, *instance)? {
                    failed.push(job);
                }
            }
            self.state.apply(*instance, events);
        }
        self.state.definitions(&commit.changes)?;
        self.jobs.landed(commit, now, &failed, &self.attempts)?;
        self.queues.landed(commit, &mut self.seen)?;
        self.waits.landed(commit)?;
        self.people.landed(commit)?;
        for row in &commit.changes.migrated {
            self.jobs.migrated(row);
            self.waits.migrated(row);
            self.people.migrated(row);
        }
        let mut deaf = self.jobs.unreadable().clone();
        deaf.extend(self.state.suspended());
        deaf.extend(commit.changes.instances_suspended.iter().map(|(instance, _)| *instance));
        self.messages.landed(commit, &happened, &self.waits, &deaf)?;
        self.signals.landed(commit, &happened, &self.waits, &deaf)?;
        self.waits.compare(commit, loaded)?;
        self.messages.compare(commit, loaded)?;
        self.people.compare(loaded)?;
        for instance in touched(commit) {
            let rows = loaded.instances.iter().find(|loaded| loaded.instance.key == instance);
            self.state.compare(instance, rows)?;
            self.state.family(instance)?;
            if self.state.ended(instance).is_some() {
                self.waits.left_by(instance)?;
                self.people.left_by(instance)?;
            }
        }
        loaded.jobs.iter().try_for_each(|job| match job.execution {
            Some(_) => self.queues.compare(job),
            None => self.jobs.compare(job),
        })
    }

    /// What a caller was told about an attempt.
    pub(crate) fn told(&mut self, attempt: AttemptId, told: Told) -> Check {
        self.attempts.told(attempt, told, &self.state)
    }
}

fn happened(row: &store::LogRow) -> Option<Happened> {
    let events = store::format::decode_events(&row.events, |_| None).unwrap_or_default();
    Some(Happened { kind: row.kind, instance: row.instance?, events })
}

/// What to read back of what a commit has written.
pub(crate) fn wanted(commit: &Commit) -> Wanted {
    let changes = &commit.changes;
    let locks = changes.locks_new.iter().map(store::row::MessageLock::name).chain(changes.locks_gone.iter().cloned());
    let taken = changes.messages_taken.iter().map(|taken| taken.message);
    Wanted {
        instances: touched(commit),
        jobs: changes
            .jobs_new
            .iter()
            .chain(&changes.jobs_changed)
            .chain(&changes.executions_new)
            .chain(&changes.executions_changed)
            .map(|job| job.key)
            .collect(),
        timers: waits::wanted_timers(changes).into_iter().collect(),
        user_tasks: changes.user_tasks_new.iter().chain(&changes.user_tasks_changed).map(|row| row.key).collect(),
        subscriptions: waits::wanted_subscriptions(changes).into_iter().collect(),
        messages: changes.messages_new.iter().map(|row| row.key).chain(taken).collect(),
        locks: locks.collect(),
        ..Wanted::default()
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
