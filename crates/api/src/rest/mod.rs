//! REST: the Orchestration Cluster API of Camunda 8 under `/v2`, and what is ours under `/v1`, with JSON workflows.
//!
//! Reading order: `operation` (what is served, as data), `dispatch` (from a request to its operation and back), `call` (what a handler is
//! given), then one file per resource. Requests are described by `shape` (commands) and `search` (searches), answers by `layout`;
//! the router, the readers, the writers and `/openapi.json` all work from these tables.

mod actions;
mod answer;
mod audit;
mod backup;
mod batch_operations;
mod body;
mod call;
mod clock;
mod cluster;
mod commands;
mod conditionals;
mod config;
mod contract;
mod dead_letters;
mod decision_definitions;
mod decision_evaluation;
mod decision_instances;
mod decision_requirements;
mod deployments;
mod describe;
mod dispatch;
mod documents;
mod element_instances;
mod executions;
mod expressions;
mod forms;
mod global_listeners;
mod incidents;
mod jobs;
mod layout;
mod media;
mod messages;
mod multipart;
mod openapi;
mod operation;
mod path;
mod policies;
mod process_definitions;
mod process_instances;
mod purge;
mod queue_stats;
mod resources;
mod schedules;
mod search;
mod shape;
mod signals;
mod statistics;
#[cfg(test)]
mod tests;
mod time;
mod timers;
mod upload;
mod user_tasks;
mod variables;
mod visitors;
mod waits;
mod workflows;

pub use config::Config;
pub use dispatch::router;
pub use visitors::Visitors;
