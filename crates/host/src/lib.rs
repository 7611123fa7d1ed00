//! The host: partitions, ticks, dispatch of jobs, caches, leases; and the handle by which edges use them.
//!
//! Reading order: [`Host`] (what an edge may ask), `drive` (the loops), `partition` (one owner's state and its ticks), `sinks` (how jobs
//! reach workers; who gets which is decided in `queue`), `definitions` (compiled processes and decisions), `follow` (a server that does
//! not own the partition).
//!
//! Invariants:
//! - a caller is answered only after the commit that contains its command;
//! - everything in memory can be dropped at any moment and read again from the store;
//! - a tick never waits to fill a batch; commands are done in memory, and what they need is read between rounds, never in the middle of one.
//!
//! Deliberately absent: SQL, wire formats, authentication.

mod announce;
mod await_end;
mod await_execution;
mod await_jobs;
mod await_listeners;
mod caught;
mod caution;
mod clock;
mod definitions;
mod drawing;
mod drive;
mod export;
mod expression;
mod flows;
mod follow;
mod handed;
mod handle;
mod happened;
mod hot;
mod json;
mod lease;
mod limits;
mod metrics;
mod partition;
mod patience;
mod pending;
mod purge;
mod purge_metrics;
mod queue_metrics;
mod queues;
mod recorder;
mod retention;
mod sinks;
mod source;
mod table;
mod traced;
mod under_way;
mod weigh;
mod workflow_metrics;

pub use announce::{ANNOUNCED, Announcing, Published, Publisher};
pub use clock::ClockMove;
pub use definitions::{Compiled, CompiledDecisions, Definitions};
pub use drawing::drawn;
pub use drive::{Driver, Role, prepare};
pub use export::{ExportMetrics, Exporter, Exporting};
pub use expression::EvaluatedExpression;
pub use handed::{ActivatedJobs, JobStream};
pub use handle::{Address, Awaited, CommandOutcome, Error, Host, Poll, Subscription, Topology, reachable, unique};
pub use happened::{Happened, Variable, What};
pub use limits::Limits;
pub use metrics::{CommandLabels, Metrics};
pub use partition::{Begun, Parts, parse_schedule};
pub use purge::PurgedRows;
pub use purge_metrics::PurgedLabels;
pub use queue_metrics::{ActionLabels, EventLabels, QuantileLabels};
pub use queues::{AGE_BOUNDS, GroupStatus, QueueReport, QueueStatus, drain, pause};
pub use retention::{Kept, KeptOf, Retention};
pub use schedule::Missed;
pub use traced::TARGET as TRACED;
pub use workflow_metrics::{Timed, WorkflowMetrics};
