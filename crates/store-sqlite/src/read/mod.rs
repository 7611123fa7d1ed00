//! What is read, each function inside one snapshot.

mod decision;
mod definition;
mod load;
mod log;
mod search;
mod window;

pub(crate) use decision::{decision_counters, latest_decisions, latest_requirements, requirements};
pub(crate) use definition::{
    definition, definition_before, definition_version, has_running, latest_definitions, resource, running_definitions,
    version_counters,
};
pub(crate) use load::load;
pub(crate) use log::{partitions, pending, statuses};
pub(crate) use search::search;
pub(crate) use window::{ready_jobs, timed_jobs};
