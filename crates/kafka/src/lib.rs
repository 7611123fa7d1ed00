//! Jobs announced on Kafka: a topic for each job type, keyed by instance, so that those of one instance stay in order. Beside them, what
//! happened: one topic, likewise.
//!
//! Deliberately absent: consuming. Workers say over REST or gRPC what became of a job.

mod document;
mod event;
mod publisher;
mod stream;

pub use event::JobDispatchEvent;
pub use publisher::{Kafka, Mechanism, Options, Sasl, Tls};
pub use stream::Stream;
