//! Partitions and their logs.

use engine::PartitionId;
use rusqlite::{Connection, OptionalExtension, params};
use store::log::{CommandStatus, Pending};
use store::{Millis, PartitionStatus};

use crate::failure::Failure;
use crate::statement;

pub(crate) fn partitions(connection: &Connection, now: Millis) -> Result<Vec<PartitionStatus>, Failure> {
    let mut select = connection.prepare_cached(statement::LIST_PARTITIONS)?;
    let rows = select.query_map([now], |row| {
        Ok(PartitionStatus {
            partition: PartitionId(row.get(0)?),
            epoch: row.get(1)?,
            tail: row.get::<_, i64>(2)? as u64,
            processed_to: row.get::<_, i64>(3)? as u64,
            owner: row.get(4)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(crate) fn pending(
    connection: &Connection,
    partition: PartitionId,
    after: u64,
    limit: usize,
) -> Result<Vec<Pending>, Failure> {
    let mut select = connection.prepare_cached(statement::PENDING_COMMANDS)?;
    let rows = select.query_map(params![partition.0, after as i64, limit as i64], |row| {
        let request: Option<Vec<u8>> = row.get(1)?;
        Ok(Pending { position: row.get::<_, i64>(0)? as u64, request: request.unwrap_or_default() })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// In the order of positions, each once.
pub(crate) fn statuses(
    connection: &Connection,
    partition: PartitionId,
    mut positions: Vec<u64>,
) -> Result<Vec<CommandStatus>, Failure> {
    positions.sort_unstable();
    positions.dedup();
    let mut select = connection.prepare_cached(statement::COMMAND_STATUS)?;
    let mut statuses = Vec::with_capacity(positions.len());
    for position in positions {
        let status = select.query_row(params![partition.0, position as i64], |row| {
            Ok(CommandStatus { position, kind: row.get(0)?, at: row.get(1)?, processed: row.get(2)?, answer: row.get(3)? })
        });
        statuses.extend(status.optional()?);
    }
    Ok(statuses)
}
