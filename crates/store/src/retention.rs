//! What goes once it is old: the lists that retention works through, for every store the same.
//!
//! A table of what belongs to instances, with the columns `key` and `instance`, is one word in [`BELONGING`]; what has an age of its own is
//! one variant of [`Aged`]. The host decides when (`host/src/retention.rs`), a store only removes. Who deletes an instance works through
//! the same list.

use std::sync::Arc;

use engine::InstanceKey;

use crate::Millis;

/// Tables whose rows belong to an instance and go with it, by the column `instance`; each has a `key`. (Those of [`BESIDE`] and
/// candidates, which have none, are removed beside them.)
pub const BELONGING: [&str; 9] = [
    "elements",
    "variables",
    "jobs",
    "incidents",
    "timers",
    "subscriptions",
    "message_correlations",
    "user_tasks",
    "evaluated_decisions",
];

/// As [`BELONGING`], but without a `key`.
pub const BESIDE: [&str; 1] = ["instance_tags"];

/// Tables that name an instance and do not go with it: it leaves nothing in them when it ends, or they have an age of their own.
pub const STAYING: [&str; 9] =
    ["tokens", "turns", "compensations", "message_locks", "dispatch_outbox", "documents", "log", "audit", "batch_items"];

/// What goes by its own age, whatever becomes of anything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Aged {
    /// Rows of the log, by when they were written.
    Log,
    /// Executions that are over, by their end. One whose unique key is still taken stays.
    Executions,
    /// Decisions that were evaluated without a process, by when.
    Evaluations,
    /// Timers that were fired or cancelled, by when.
    Timers,
    /// Subscriptions that are closed, by when.
    Subscriptions,
    /// Correlations of messages, by when.
    Correlations,
    /// First answers to idempotency keys, by when they expire.
    FirstAnswers,
    /// Answers to requests of the inbox, by when they expire.
    Answers,
    /// Starts of jobs that limit no others any more.
    Paces,
    /// What the audit trail has written down, by when.
    Audit,
    /// Items of operations over many that are over, by the end of their operation.
    BatchItems,
    /// Operations over many, by their end, once they have no items.
    Batches,
}

impl Aged {
    pub const ALL: [Self; 12] = [
        Self::Log,
        Self::Executions,
        Self::Evaluations,
        Self::Timers,
        Self::Subscriptions,
        Self::Correlations,
        Self::FirstAnswers,
        Self::Answers,
        Self::Paces,
        Self::Audit,
        Self::BatchItems,
        Self::Batches,
    ];

    /// What people call it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Executions => "executions",
            Self::Evaluations => "evaluations",
            Self::Timers => "timers",
            Self::Subscriptions => "subscriptions",
            Self::Correlations => "correlations",
            Self::FirstAnswers => "idempotency-keys",
            Self::Answers => "answers",
            Self::Paces => "paces",
            Self::Audit => "audit",
            Self::BatchItems => "batch-items",
            Self::Batches => "batches",
        }
    }
}

/// An instance that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    pub key: InstanceKey,
    pub ended: Millis,
    pub process_id: Arc<str>,
    pub tenant: Arc<str>,
    /// It goes with the one that called it.
    pub is_called: bool,
}

/// Where a window of finished instances goes on: after this end and key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FinishedAfter {
    pub ended: Millis,
    pub key: InstanceKey,
}

impl FinishedAfter {
    /// Before every one.
    pub const START: Self = Self { ended: Millis::MIN, key: InstanceKey(0) };
}

/// What one step has removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Purged {
    pub instances: usize,
    /// Those of the instances that nobody called.
    pub roots: usize,
    /// Those of the instances included.
    pub rows: usize,
    /// Whether anything of what was asked for is left, since the step was full.
    pub is_cut: bool,
}
