//! Jobs announced on Kafka: a topic for each job type, keyed by instance, so that those of one instance stay in order. Beside them, what
//! happened: one topic, likewise.
//!
//! Deliberately absent: consuming, but for the bench. Workers say over REST or gRPC what became of a job.

mod document;
mod event;
mod listener;
mod publisher;
mod stream;
mod topics;
mod wave;

pub use event::JobDispatchEvent;
pub use listener::{Listener, make_topic};
pub use publisher::{Kafka, Mechanism, Options, Sasl, Tls};
pub use stream::Stream;
