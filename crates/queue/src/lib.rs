//! Pure policy of jobs and queues: who gets what when. Time is a value called `now`; nothing here waits, stores or logs.
//!
//! - [`claim`]: whether what a worker says of a job still counts.
//! - [`backoff`]: how long a failed job waits.
//! - [`retry`]: what a failure means: ready again, ready later, or stuck.
//! - [`Dispatch`]: who gets which job: ready jobs and waiting workers, in order on both sides.
//! - [`policy`]: which limits hold for a queue. [`Limited`]: the window of a queue that has some, by groups.
//! - [`Ready`]: the bounded window of jobs of one queue that wait for a worker, by priority and key.
//! - [`stats`]: what has happened in a queue.
//! - [`Timeline`]: the bounded window of things that happen at a time, the nearest first.
//!
//! All windows are caches of a table: each knows up to where it is complete, and asks for more only past that point.

pub mod backoff;
pub mod claim;
mod dispatch;
mod limited;
pub mod policy;
mod ready;
pub mod retry;
pub mod stats;
mod timeline;

pub use dispatch::{Dispatch, Line, Match, Room, WaiterId};
pub use limited::{Ask, Group, Limited, Rules};
pub use ready::{Place, Ready, Refill};
pub use timeline::{Later, Timeline};

/// Milliseconds since 1970, UTC.
pub type Millis = i64;
