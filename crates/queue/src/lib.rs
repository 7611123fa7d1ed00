//! Pure policy of jobs and queues: who gets what when. Time is a value called `now`; nothing here waits, stores or logs.
//!
//! - [`claim`]: whether what a worker says of a job still counts.
//! - [`backoff`]: how long a failed job waits.
//! - [`retry`]: what a failure means: ready again, ready later, or stuck.
//! - [`Dispatch`]: who gets which job: ready jobs and waiting workers, in order on both sides.
//! - [`policy`]: which limits hold for a queue. [`Limited`]: the window of a queue that has some, by groups. [`Rules`]: what it goes by.
//! - [`Pace`]: how fast jobs may start. [`adapt`]: a limit that finds its own height.
//! - [`Ready`]: the bounded window of jobs of one queue that wait for a worker, by priority and key.
//! - [`stats`]: what has happened in a queue.
//! - [`Timeline`]: the bounded window of things that happen at a time, the nearest first.
//!
//! All windows are caches of a table: each knows up to where it is complete, and asks for more only past that point.

pub mod adapt;
pub mod backoff;
pub mod claim;
mod dispatch;
mod limited;
mod pace;
pub mod policy;
mod ready;
pub mod retry;
mod rules;
mod slots;
pub mod stats;
mod timeline;

pub use dispatch::{Dispatch, Line, Match, Pool, Room, WaiterId};
pub use limited::{Ask, Limited};
pub use pace::{Pace, Starts};
pub use ready::{Place, Ready, Refill, Seat};
pub use rules::{Group, Rules};
pub use slots::{Bucket, Counted, Paced};
pub use timeline::{Later, Timeline};

/// Milliseconds since 1970, UTC.
pub type Millis = i64;
