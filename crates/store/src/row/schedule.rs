//! Executions that come again and again, and what has happened in queues.

use std::sync::Arc;

use engine::JobKey;
use queue::stats::Stats;

use crate::Millis;
use crate::log::NewExecution;

/// What is submitted again and again.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    pub key: u64,
    pub tenant: Arc<str>,
    /// What people call it.
    pub reference: Arc<str>,
    pub action: Arc<str>,
    /// Cron, or an interval, as it was written.
    pub cron: Arc<str>,
    /// Of cron; UTC if it says nothing.
    pub time_zone: Option<Arc<str>>,
    /// What is submitted.
    pub execution: NewExecution,
    pub paused: bool,
    /// Since when its occurrences are counted.
    pub armed: Millis,
    /// Which occurrence is next, from 1.
    pub number: u64,
    /// When that is; nothing if there is none.
    pub due: Option<Millis>,
    pub created: Millis,
    pub changed: Millis,
    pub changed_by: Arc<str>,
    pub last: Option<LastOccurrence>,
}

/// What became of the last occurrence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastOccurrence {
    /// When it was planned.
    pub at: Millis,
    /// What was submitted, or what was there before with its unique key.
    pub execution: Option<JobKey>,
    /// Why nothing was.
    pub refused: Option<Arc<str>>,
}

/// What has happened in a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueStats {
    pub job_type: Arc<str>,
    pub tenant: Arc<str>,
    pub waiting: u64,
    pub running: u64,
    pub stats: Stats,
    pub updated: Millis,
}

impl QueueStats {
    /// What whoever looks at the table itself reads, beside what it goes on from.
    pub const COLUMNS: usize = 17;

    /// In the order of the table: what waits and runs, totals, percentiles in milliseconds, when it last moved, since when it is stuck.
    pub fn columns(&self) -> [Option<i64>; Self::COLUMNS] {
        let Stats { totals, waits, runs, .. } = &self.stats;
        let count = |count: u64| Some(i64::try_from(count).unwrap_or(i64::MAX));
        [
            count(self.waiting),
            count(self.running),
            count(totals.enqueued),
            count(totals.started),
            count(totals.completed),
            count(totals.failed),
            count(totals.timed_out),
            count(totals.cancelled),
            waits.percentile(500),
            waits.percentile(950),
            waits.percentile(990),
            runs.percentile(500),
            runs.percentile(950),
            runs.percentile(990),
            Some(self.stats.progressed),
            self.stats.stuck_since,
            Some(self.updated),
        ]
    }
}
