//! A tick: fence check, log, answers, changed rows, position.

use engine::PartitionId;
use rusqlite::{Connection, OptionalExtension, params};
use store::{Commit, CommitError, LogRow, Millis};

use super::{changes, inbox};
use crate::failure::Failure;
use crate::statement;

/// Writes a tick, or says why not before anything is written.
pub(crate) fn commit(connection: &Connection, commit: &Commit) -> Result<Result<(), CommitError>, Failure> {
    let partition = commit.fence.partition;
    let state = match state(connection, partition)? {
        // Nobody ever owned it.
        None => return Ok(Err(CommitError::Deposed { epoch: 0 })),
        Some(State { epoch, .. }) if epoch != commit.fence.epoch => return Ok(Err(CommitError::Deposed { epoch })),
        Some(State { next_key, .. }) if next_key != commit.first_key => return Ok(Err(CommitError::OutOfOrder { next_key })),
        Some(state) => state,
    };
    append_to_log(connection, partition, &commit.log, commit.now)?;
    inbox::answer(connection, partition, &commit.answers)?;
    if state.inbox_to < commit.inbox_to {
        inbox::clear(connection, partition, commit.inbox_to)?;
    }
    changes::write(connection, partition, &commit.changes)?;
    let position = commit.log.last().map_or(state.position, |row| row.position);
    let mut update = connection.prepare_cached(statement::MOVE_PARTITION)?;
    let (first, last) = commit.changes.starts();
    update.execute(params![partition.0, position as i64, commit.next_key as i64, commit.inbox_to as i64, first, last])?;
    Ok(Ok(()))
}

struct State {
    epoch: i64,
    next_key: u64,
    position: u64,
    inbox_to: u64,
}

fn state(connection: &Connection, partition: PartitionId) -> Result<Option<State>, Failure> {
    let mut select = connection.prepare_cached(statement::PARTITION_STATE)?;
    let found = select.query_row([partition.0], |row| {
        Ok(State {
            epoch: row.get(0)?,
            next_key: row.get::<_, i64>(1)? as u64,
            position: row.get::<_, i64>(2)? as u64,
            inbox_to: row.get::<_, i64>(3)? as u64,
        })
    });
    Ok(found.optional()?)
}

fn append_to_log(connection: &Connection, partition: PartitionId, rows: &[LogRow], now: Millis) -> Result<(), Failure> {
    statement::APPEND_TO_LOG.all(connection, rows, |row, values| {
        let instance = row.instance.map(|key| key.0 as i64);
        values.put(params![partition.0, row.position as i64, row.kind, now, instance, row.events])
    })
}
