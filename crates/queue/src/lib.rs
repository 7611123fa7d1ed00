//! Pure policy of jobs and queues: who gets what when. Time is a value called `now`; nothing here waits, stores or logs.
//!
//! - [`retry`]: what a failure means: ready again, ready later, or stuck.
//! - [`Dispatch`]: who gets which job: ready jobs and waiting workers, in order on both sides.
//! - [`Ready`]: the bounded window of jobs of one queue that wait for a worker, by priority and key.
//! - [`Timeline`]: the bounded window of things that happen at a time, the nearest first.
//!
//! Both windows are caches of a table: each knows up to where it is complete, and asks for more only past that point.

mod dispatch;
mod ready;
pub mod retry;
mod timeline;

pub use dispatch::{Dispatch, Line, Match, Room, WaiterId};
pub use ready::{Place, Ready, Refill};
pub use timeline::{Later, Timeline};

/// Milliseconds since 1970, UTC.
pub type Millis = i64;
