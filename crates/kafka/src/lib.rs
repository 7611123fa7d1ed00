//! Jobs announced on Kafka: a topic for each job type, keyed by instance, so that those of one instance stay in order.
//!
//! Deliberately absent: consuming. Workers say over REST or gRPC what became of a job.

mod event;
mod publisher;

pub use event::JobDispatchEvent;
pub use publisher::{Kafka, Mechanism, Options, Sasl, Tls};
