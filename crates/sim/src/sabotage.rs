//! Stores that break their contract on purpose, each in one way: so that it can be seen that the model notices.

use store::query::{Items, QueryPage};
use store::row::{Availability, PaceState, Subscription};
use store::{Commit, CountedJobs, Due, Loaded, Millis, ReadyAfter, ReadyJob};

use crate::world::World;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sabotage {
    /// Leased jobs never come due.
    ForgetsTimers,
    /// Some commits are acknowledged and forgotten.
    ForgetsCommits,
    /// Positions have gaps.
    SkipsPositions,
    /// Some rows of a commit are not written.
    LosesRows,
    /// A deposed owner can write.
    IgnoresEpochs,
    /// First answers to idempotency keys are forgotten.
    ForgetsKeys,
    /// The clock that is told is ahead of the clock that decides.
    TellsLaterTimes,
    /// Leased jobs look ready.
    ForgetsLeases,
    /// The first of a queue is not shown.
    HidesTheFirst,
    /// Searches do not show the newest.
    ReadsOldRows,
    /// Messages that are kept are not found.
    HidesMessages,
    /// Locks of message start events are not found.
    ForgetsLocks,
    /// The first that waits for a signal is not shown.
    HidesWaiting,
    /// Called instances are not found.
    HidesChildren,
    /// Nobody is counted as running.
    ForgetsRunning,
    /// It is forgotten when jobs were started.
    ForgetsStarts,
}

impl Sabotage {
    pub const ALL: [Self; 16] = [
        Self::ForgetsTimers,
        Self::ForgetsCommits,
        Self::SkipsPositions,
        Self::LosesRows,
        Self::IgnoresEpochs,
        Self::ForgetsKeys,
        Self::TellsLaterTimes,
        Self::ForgetsLeases,
        Self::HidesTheFirst,
        Self::ReadsOldRows,
        Self::HidesMessages,
        Self::ForgetsLocks,
        Self::HidesWaiting,
        Self::HidesChildren,
        Self::ForgetsRunning,
        Self::ForgetsStarts,
    ];

    /// The invariant that it breaks.
    pub fn breaks(self) -> u8 {
        match self {
            Self::ForgetsTimers => 0,
            Self::ForgetsCommits => 1,
            Self::SkipsPositions => 2,
            Self::LosesRows => 3,
            Self::IgnoresEpochs => 4,
            Self::ForgetsKeys => 5,
            Self::TellsLaterTimes => 6,
            Self::ForgetsLeases => 7,
            Self::HidesTheFirst | Self::ForgetsRunning | Self::ForgetsStarts => 8,
            Self::ReadsOldRows => 9,
            Self::HidesMessages | Self::ForgetsLocks => 13,
            Self::HidesWaiting => 14,
            Self::HidesChildren => 15,
        }
    }

    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|sabotage| format!("{sabotage:?}") == name)
    }
}

impl World {
    fn sabotages(&self, sabotage: Sabotage) -> bool {
        self.plan.sabotage == Some(sabotage)
    }

    pub(crate) fn forgets_commit(&self) -> bool {
        self.sabotages(Sabotage::ForgetsCommits) && self.between(0, 9) == 0
    }

    /// The commit as the database takes it.
    pub(crate) fn taken(&self, mut commit: Commit) -> Commit {
        if self.sabotages(Sabotage::LosesRows) && self.between(0, 9) == 0 {
            commit.changes.elements_changed.clear();
            commit.changes.jobs_changed.clear();
            commit.changes.timers_changed.clear();
            commit.changes.subscriptions_changed.clear();
        }
        if self.sabotages(Sabotage::IgnoresEpochs) {
            commit.fence.epoch = self.state().checker.log.epoch();
        }
        commit
    }

    pub(crate) fn told_time(&self, now: Millis) -> Millis {
        if self.sabotages(Sabotage::TellsLaterTimes) { now + 5_000 } else { now }
    }

    pub(crate) fn told_positions(&self, mut positions: Vec<u64>) -> Vec<u64> {
        if self.sabotages(Sabotage::SkipsPositions) && self.between(0, 9) == 0 {
            positions.iter_mut().for_each(|position| *position += 1);
        }
        positions
    }

    pub(crate) fn told_rows(&self, mut loaded: Loaded) -> Loaded {
        if self.sabotages(Sabotage::ForgetsKeys) {
            loaded.idempotent.clear();
        }
        if self.sabotages(Sabotage::ForgetsLeases) {
            for job in loaded.jobs.iter_mut().filter(|job| job.availability == Availability::Leased) {
                job.availability = Availability::Ready;
            }
        }
        if self.sabotages(Sabotage::HidesMessages) {
            loaded.groups.iter_mut().for_each(|group| group.messages.clear());
        }
        if self.sabotages(Sabotage::ForgetsLocks) {
            loaded.locks.clear();
        }
        if self.sabotages(Sabotage::HidesChildren) {
            loaded.instances.retain(|loaded| loaded.instance.parent.is_none());
        }
        loaded
    }

    pub(crate) fn told_waiting(&self, mut rows: Vec<Subscription>) -> Vec<Subscription> {
        if self.sabotages(Sabotage::HidesWaiting) && !rows.is_empty() {
            rows.remove(0);
        }
        rows
    }

    pub(crate) fn told_ready(&self, mut jobs: Vec<ReadyJob>, job_type: &str, after: ReadyAfter, limit: usize) -> Vec<ReadyJob> {
        if self.sabotages(Sabotage::HidesTheFirst) && 1 < jobs.len() {
            jobs.remove(0);
        }
        if self.sabotages(Sabotage::ForgetsLeases) {
            jobs.extend(self.state().checker.jobs.leased(job_type, after.key));
            jobs.sort_by_key(|job| job.key);
            jobs.truncate(limit);
        }
        jobs
    }

    pub(crate) fn told_counts(&self, mut counts: Vec<(queue::Group, u64)>, which: CountedJobs) -> Vec<(queue::Group, u64)> {
        if self.sabotages(Sabotage::ForgetsRunning) && which == CountedJobs::Running {
            counts.clear();
        }
        counts
    }

    pub(crate) fn told_paces(&self, mut paces: Vec<PaceState>) -> Vec<PaceState> {
        if self.sabotages(Sabotage::ForgetsStarts) {
            paces.clear();
        }
        paces
    }

    pub(crate) fn told_due(&self, mut due: Vec<Due>) -> Vec<Due> {
        if self.sabotages(Sabotage::ForgetsTimers) {
            due.clear();
        }
        due
    }

    pub(crate) fn told_page(&self, mut page: QueryPage) -> QueryPage {
        if self.sabotages(Sabotage::ReadsOldRows) && self.between(0, 9) == 0 {
            match &mut page.items {
                Items::Definitions(items) => items.clear(),
                Items::Instances(items) => items.clear(),
                Items::Elements(items) => items.clear(),
                Items::Variables(items) => items.clear(),
                Items::Jobs(items) => items.clear(),
                Items::Incidents(items) => items.clear(),
                Items::Requirements(items) => items.clear(),
                Items::Decisions(items) => items.clear(),
                Items::EvaluatedDecisions(items) => items.clear(),
                Items::Timers(items) => items.clear(),
                Items::UserTasks(items) => items.clear(),
                Items::Executions(items) => items.clear(),
                Items::Operations(items) | Items::Audit(items) => items.clear(),
                Items::DeadLetters(items) => items.clear(),
                Items::Batches(items) => items.clear(),
                Items::BatchItems(items) => items.clear(),
                Items::MessageSubscriptions(items) | Items::Waits(items) => items.clear(),
                Items::MessageCorrelations(items) => items.clear(),
            }
        }
        page
    }
}
