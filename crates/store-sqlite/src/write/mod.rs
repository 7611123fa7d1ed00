//! What is written, each function inside the writer's transaction.

mod changes;
mod commit;
mod decision;
mod definition;
mod execution;
mod inbox;
mod migrated;
mod outbox;
mod ownership;
mod user_task;
mod wait;

pub(crate) use commit::commit;
pub(crate) use inbox::append;
pub(crate) use ownership::{acquire, release, renew};
pub(crate) use wait::purge_waits;

use engine::PartitionId;
use rusqlite::{Connection, params};
use store::Millis;

use crate::failure::Failure;
use crate::statement;

/// Removes first answers and answers to requests that have expired; how many went.
pub(crate) fn purge_answers(
    connection: &Connection,
    partition: PartitionId,
    now: Millis,
    limit: usize,
) -> Result<usize, Failure> {
    let mut purged = 0;
    for sql in [statement::PURGE_FIRST_ANSWERS, statement::PURGE_ANSWERS] {
        purged += connection.prepare_cached(sql)?.execute(params![partition.0, now, limit as i64])?;
    }
    Ok(purged)
}
