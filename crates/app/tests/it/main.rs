//! The binary as its users have it: servers are started, spoken to over the network and by the command line, killed and started again.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod backup;
mod book;
#[path = "../../../kafka/tests/broker/mod.rs"]
mod broker;
#[cfg(feature = "kafka")]
mod brokered;
mod check;
mod connections;
mod evaluate;
#[cfg(feature = "kafka")]
mod export;
#[path = "../../../host/tests/it/given.rs"]
mod given;
mod health;
#[cfg(feature = "kafka")]
mod kafka;
mod later;
mod limits;
mod manual;
mod operate;
mod place;
mod previous;
mod queues;
mod retention;
mod scenarios;
mod server;
mod settings;
mod telemetry;
mod tls;
mod together;
mod visitors;
