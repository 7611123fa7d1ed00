//! The storage seam: what a partition owner and an API need of a database, as intentions, batched, with `now` passed in.
//!
//! Reading order: [`Store`] (the trait), [`log`] (commands and what callers are told), [`row`] (what tables hold),
//! [`Commit`] (what one tick writes in one transaction), [`query`] (what searches ask), [`memory`] (the reference model),
//! [`conformance`] (what every implementation must pass).
//!
//! Invariants every implementation keeps:
//! - positions of an inbox are gapless and become visible in order: they are taken under the lock of the inbox's row, inside the
//!   transaction that commits them; those of the log are given by its owner, who alone writes it;
//! - a commit writes all or nothing, and nothing unless its fence still holds and the commit before it was written;
//! - a read that starts after a commit was acknowledged sees that commit.
//!
//! Deliberately absent: SQL drivers, compiled processes, any decision about what a command means.

pub mod backup;
pub mod batch;
pub mod change;
mod commit;
pub mod conformance;
pub mod contents;
mod contract;
pub mod documents;
mod error;
pub mod format;
pub mod log;
pub mod memory;
mod migrated;
mod pattern;
pub mod query;
pub mod retention;
pub mod row;
pub mod sql;
pub mod words;

pub use commit::{
    AnswerRow, BatchItemChange, Changes, Commit, ElementChange, IncidentChange, InstanceChange, LogRow, MessageTaken,
    SubscriptionChange, VariableChange,
};
pub use contract::{
    AGES, AgedJob, Backlog, Broken, CountedJobs, Due, DueKind, Fence, GROUP_MAX, Loaded, LoadedGroup, LoadedInstance, Logged,
    MessageGroup, Millis, Named, OutboxSize, Ownership, PartitionStatus, QueueRef, QueueSize, ReadyAfter, ReadyJob, Renewed,
    Store, Wanted,
};
pub use error::{CommitError, Error};
pub use migrated::{MigratedRow, MigratedTable};
