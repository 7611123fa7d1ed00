//! Pure policy of jobs and queues: who gets what when. Time is a value called `now`; nothing here waits, stores or logs.
//!
//! - [`retry`]: what a failure means: ready again, ready later, or stuck.
//! - [`Ready`]: the bounded window of jobs of one queue that wait for a worker, strictly in order of their keys.
//! - [`Timeline`]: the bounded window of things that happen at a time, the nearest first.
//!
//! Both windows are caches of a table: each knows up to where it is complete, and asks for more only past that point.

mod ready;
pub mod retry;
mod timeline;

pub use ready::{Ready, Refill};
pub use timeline::Timeline;

/// Milliseconds since 1970, UTC.
pub type Millis = i64;
