//! The storage seam: what a partition owner and an API need of a database, as intentions, batched, with `now` passed in.
//!
//! Reading order: [`Store`] (the trait), [`log`] (commands and what became of them), [`row`] (what tables hold),
//! [`Commit`] (what one tick writes in one transaction), [`query`] (what searches ask), [`memory`] (the reference model),
//! [`conformance`] (what every implementation must pass).
//!
//! Invariants every implementation keeps:
//! - positions of a partition are gapless and become visible in order: they are taken under the partition row's lock,
//!   inside the transaction that commits them;
//! - a commit writes all or nothing, and nothing unless its fence still holds;
//! - a read that starts after a commit was acknowledged sees that commit.
//!
//! Deliberately absent: SQL drivers, compiled processes, any decision about what a command means.

mod commit;
pub mod conformance;
mod contract;
mod error;
pub mod format;
pub mod log;
pub mod memory;
mod pattern;
pub mod query;
pub mod row;
pub mod sql;
pub mod words;

pub use commit::{Changes, Commit, ElementChange, IncidentChange, InstanceChange, LogRow, VariableChange};
pub use contract::{
    DecisionCounters, Fence, Loaded, LoadedInstance, Millis, Ownership, PartitionStatus, ReadyJob, Renewed, Store, TimedJob,
    Wanted,
};
pub use error::{CommitError, Error};
