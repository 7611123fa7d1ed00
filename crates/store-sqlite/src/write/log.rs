//! The log grows.

use engine::PartitionId;
use rusqlite::{Connection, params};
use store::log::NewCommand;
use store::{LogRow, Millis};

use super::ownership;
use crate::failure::Failure;
use crate::statement;

/// Puts commands at the end of the log; their positions.
pub(crate) fn append(
    connection: &Connection,
    partition: PartitionId,
    commands: &[NewCommand],
    now: Millis,
) -> Result<Vec<u64>, Failure> {
    ownership::ensure(connection, partition)?;
    let mut grow = connection.prepare_cached(statement::GROW_LOG)?;
    let tail: i64 = grow.query_row(params![partition.0, commands.len() as i64], |row| row.get(0))?;
    let first = tail as u64 + 1 - commands.len() as u64;
    let mut insert = connection.prepare_cached(statement::APPEND_COMMAND)?;
    for (position, command) in (first..).zip(commands) {
        insert.execute(params![partition.0, position as i64, command.kind, now, command.request])?;
    }
    Ok((first..first + commands.len() as u64).collect())
}

/// Commands that enter the log with the commit that processed them.
pub(super) fn append_processed(
    connection: &Connection,
    partition: PartitionId,
    rows: &[LogRow],
    now: Millis,
) -> Result<(), Failure> {
    let mut insert = connection.prepare_cached(statement::APPEND_PROCESSED)?;
    for row in rows {
        let instance = row.instance.map(|key| key.0 as i64);
        insert.execute(params![partition.0, row.position as i64, row.kind, now, instance, row.events, row.answer])?;
    }
    Ok(())
}

/// Commands that were in the log already.
pub(super) fn answer(connection: &Connection, partition: PartitionId, rows: &[LogRow]) -> Result<(), Failure> {
    let mut update = connection.prepare_cached(statement::ANSWER_COMMAND)?;
    for row in rows {
        let instance = row.instance.map(|key| key.0 as i64);
        update.execute(params![partition.0, row.position as i64, instance, row.events, row.answer])?;
    }
    Ok(())
}
