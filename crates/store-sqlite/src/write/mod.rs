//! What is written, each function inside the writer's transaction.

mod audit;
mod batch;
mod changes;
mod commit;
mod decision;
mod definition;
mod execution;
mod inbox;
pub(crate) mod insert;
mod migrated;
mod outbox;
mod ownership;
mod retention;
mod room;
mod schedule;
mod user_task;
mod wait;

pub(crate) use commit::commit;
pub(crate) use inbox::append;
pub(crate) use ownership::{acquire, release, renew};
pub(crate) use retention::{count_aged, purge, purge_instances, put_export_place};
pub(crate) use room::give_back;
