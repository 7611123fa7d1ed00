//! Workers and clients for Caudal: JSON workflows, BPMN processes, direct executions and queues.
//!
//! Begin with [`Registry`], [`Runner`] and [`Client`]. A handler is an async function from a [`JobContext`] and its variables, of any type that serde reads, to
//! variables or a [`Failure`]. [`EngineClient`] is what a runner asks of a server: [`Rest`] stands behind it, `Grpc` with the feature `grpc`,
//! and `Kafka` with the feature `kafka`. The
//! feature `opentelemetry` has traces and metrics of jobs, the feature `testing` fake jobs and a real server for tests.

mod backoff;
mod client;
mod context;
mod engine;
mod error;
#[cfg(feature = "grpc")]
mod grpc;
mod http;
#[cfg(feature = "kafka")]
mod kafka;
mod registry;
mod rest;
mod runner;
mod telemetry;
#[cfg(feature = "testing")]
pub mod testing;

pub use client::{
    Client, Deployed, Execution, Filter, Instance, Message, Page, Resource, Start, Started, Status, StepExecution, Submit,
};
pub use context::{JobContext, Loss};
pub use engine::{Beat, EngineClient, Job, Poll, Progress, Standing};
pub use error::{Error, Failure};
#[cfg(feature = "grpc")]
pub use grpc::Grpc;
pub use http::Options;
#[cfg(feature = "kafka")]
pub use kafka::{Kafka, KafkaOptions};
pub use registry::{Outcome, Registry};
pub use rest::Rest;
pub use runner::{Runner, shutdown_signal};

/// JSON as it came, with every digit.
pub type Raw = Box<serde_json::value::RawValue>;
