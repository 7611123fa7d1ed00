//! What is written, each function inside the writer's transaction.

mod changes;
mod commit;
mod decision;
mod definition;
mod log;
mod ownership;

pub(crate) use commit::commit;
pub(crate) use log::append;
pub(crate) use ownership::{acquire, release, renew};

use engine::PartitionId;
use rusqlite::{Connection, params};
use store::Millis;

use crate::failure::Failure;
use crate::statement;

/// Removes first answers that have expired; how many went.
pub(crate) fn purge_idempotent(
    connection: &Connection,
    partition: PartitionId,
    now: Millis,
    limit: usize,
) -> Result<usize, Failure> {
    let mut purge = connection.prepare_cached(statement::PURGE_ANSWERS)?;
    Ok(purge.execute(params![partition.0, now, limit as i64])?)
}
