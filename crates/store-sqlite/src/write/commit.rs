//! A tick: fence check, log rows, changed rows, position.

use engine::PartitionId;
use rusqlite::{Connection, OptionalExtension, params};
use store::{Commit, CommitError};

use super::{changes, log};
use crate::failure::Failure;
use crate::statement;

/// Writes a tick, or says why not before anything is written.
pub(crate) fn commit(connection: &Connection, commit: &Commit) -> Result<Result<(), CommitError>, Failure> {
    let partition = commit.fence.partition;
    let (epoch, tail) = position(connection, partition)?;
    if epoch != commit.fence.epoch {
        return Ok(Err(CommitError::Deposed { epoch }));
    }
    if !commit.appended.is_empty() && tail != commit.tail {
        return Ok(Err(CommitError::Overtaken { tail }));
    }
    log::answer(connection, partition, &commit.processed)?;
    log::append_processed(connection, partition, &commit.appended, commit.now)?;
    changes::write(connection, partition, &commit.changes)?;
    let tail = tail + commit.appended.len() as u64;
    let mut update = connection.prepare_cached(statement::MOVE_PARTITION)?;
    update.execute(params![partition.0, tail as i64, commit.processed_to as i64, commit.next_key as i64])?;
    Ok(Ok(()))
}

/// Epoch and last position; zero of both where nobody has been yet.
pub(super) fn position(connection: &Connection, partition: PartitionId) -> Result<(i64, u64), Failure> {
    let mut select = connection.prepare_cached(statement::PARTITION_POSITION)?;
    let found = select.query_row([partition.0], |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64)));
    Ok(found.optional()?.unwrap_or((0, 0)))
}
