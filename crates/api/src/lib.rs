//! The edges: REST v2 and Zeebe gRPC as Camunda 8 clients speak them, and REST v1 for what is ours. Wire types live only here.
//!
//! Reading order: `error` (one mapping of `host::Error` to HTTP and gRPC), `document` (variables between JSON and the engine),
//! `listen` (connections), `bound` (how long a request may be), `budget` (bytes held for callers), `caller` (who asks), `rest` (one file per resource), `grpc` (one file per call), `workflow` (JSON workflows,
//! for both).
//!
//! Deliberately absent: decisions about processes and jobs (`host`, `engine`), SQL.

mod bound;
pub mod budget;
mod caller;
pub mod document;
mod drain;
pub mod error;
mod fingerprint;
pub mod grpc;
mod json;
mod label;
pub mod listen;
pub mod rest;
mod task_listener;
mod traced;
mod workflow;
