//! The edges: REST v2 and Zeebe gRPC as Camunda 8 clients speak them, and REST v1 for what is ours. Wire types live only here.
//!
//! Reading order: `error` (one mapping of `host::Error` to HTTP and gRPC), `document` (variables between JSON and the engine),
//! `rest` (one file per resource), `grpc` (one file per call).
//!
//! Deliberately absent: decisions about processes and jobs (`host`, `engine`), SQL.

pub mod document;
pub mod error;
mod fingerprint;
pub mod grpc;
mod json;
mod label;
pub mod rest;
