//! What is read, each function inside one snapshot.

mod batch;
mod decision;
mod definition;
mod export;
mod inbox;
mod listener;
mod load;
mod outbox;
mod queue;
mod retention;
mod schedule;
mod search;
mod user_task;
mod wait;
mod window;

pub(crate) use batch::{batch_operation, open_items};
pub(crate) use decision::{decision_named, requirements, requirements_named};
pub(crate) use definition::{
    definition, definition_before, definition_version, has_running, process_named, resource, running_definitions,
};
pub(crate) use export::{export_place, happened};
pub(crate) use inbox::{inbox, partitions, statuses};
pub(crate) use listener::global_listeners;
pub(crate) use load::load;
pub(crate) use outbox::{outbox, outbox_size};
pub(crate) use queue::{aged_jobs, count_jobs, grouped_jobs, jobs_before, paces, policies, policy_versions, queue_sizes};
pub(crate) use retention::{finished, weights};
pub(crate) use schedule::{queue_stats, schedules, waiting_since};
pub(crate) use search::{count, search};
pub(crate) use user_task::{form, forms_named};
pub(crate) use wait::{condition_starts, signal_subscriptions, starts_of};
pub(crate) use window::{due, ready_jobs};
