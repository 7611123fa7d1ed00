//! The simulator: servers, workers, clients and a bad connection to the store, in one thread, from one seed, with the real host.
//!
//! Reading order: [`Plan`] (what a seed plays), [`Fault`] (what goes wrong), `story` (one run), `check` (what must hold after every step).
//!
//! Invariants:
//! - the same plan gives the same run, to the last byte: time is virtual, chance comes from the seed, there is one thread;
//! - the model in `check` shares no code with the host.
//!
//! Deliberately absent: real time, real disks, threads. What SQLite and PostgreSQL do is the conformance suite's.

mod call;
mod check;
mod client;
mod fault;
mod link;
mod operator;
mod plan;
mod process;
mod queues;
mod rng;
mod sabotage;
mod sender;
mod server;
mod shrink;
mod story;
mod worker;
mod world;

pub use check::{SEEN, Seen, Violation};
pub use fault::{Fault, Faults};
pub use plan::{Names, Plan};
pub use sabotage::Sabotage;
pub use shrink::{relevant, shrink};
pub use story::{Recording, play};
pub use world::Report;
