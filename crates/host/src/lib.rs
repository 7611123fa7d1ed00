//! The host: partitions, ticks, dispatch of jobs, caches, leases; and the handle by which edges use them.
//!
//! Reading order: [`Host`] (what an edge may ask), `partition` (one owner's state and its tick), `dispatch` (who gets which job),
//! `definitions` (compiled processes and decisions), `follow` (a server that does not own the partition), `drive` (the loops).
//!
//! Invariants:
//! - a caller is answered only after the commit that contains its command;
//! - everything in memory can be dropped at any moment and read again from the store;
//! - a tick never waits to fill a batch, and never does I/O between loading and committing.
//!
//! Deliberately absent: SQL, wire formats, authentication.

mod await_end;
mod await_jobs;
mod caution;
mod definitions;
mod dispatch;
mod drive;
mod expression;
mod follow;
mod handed;
mod handle;
mod hot;
mod json;
mod limits;
mod metrics;
mod partition;
mod recorder;

pub use definitions::{Compiled, CompiledDecisions, Definitions};
pub use drive::{Driver, Role, prepare};
pub use expression::EvaluatedExpression;
pub use handed::{ActivatedJobs, JobStream};
pub use handle::{Awaited, CommandOutcome, Error, Host, Poll, Subscription, Topology};
pub use limits::Limits;
pub use metrics::Metrics;
pub use partition::Parts;
