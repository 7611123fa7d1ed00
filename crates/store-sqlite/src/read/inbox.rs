//! Partitions and their inboxes.

use engine::PartitionId;
use rusqlite::{Connection, OptionalExtension, params};
use store::log::{Received, RequestStatus};
use store::{Millis, PartitionStatus};

use crate::failure::Failure;
use crate::statement;

pub(crate) fn partitions(connection: &Connection, now: Millis) -> Result<Vec<PartitionStatus>, Failure> {
    let mut select = connection.prepare_cached(statement::LIST_PARTITIONS)?;
    let rows = select.query_map([now], |row| {
        Ok(PartitionStatus {
            partition: PartitionId(row.get(0)?),
            epoch: row.get(1)?,
            position: row.get::<_, i64>(2)? as u64,
            inbox_to: row.get::<_, i64>(3)? as u64,
            inbox_tail: row.get::<_, i64>(4)? as u64,
            owner: row.get(5)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(crate) fn inbox(
    connection: &Connection,
    partition: PartitionId,
    after: u64,
    limit: usize,
    bytes_max: usize,
) -> Result<Vec<Received>, Failure> {
    let mut select = connection.prepare_cached(statement::WAITING_REQUESTS)?;
    let mut rows = select.query(params![partition.0, after as i64, limit as i64])?;
    let (mut bytes, mut received) = (0, Vec::new());
    while let Some(row) = rows.next()? {
        let request = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
        bytes += request.len();
        if bytes_max < bytes && !received.is_empty() {
            break;
        }
        let position = row.get::<_, i64>(0)? as u64;
        received.push(Received { position, request: request.to_vec(), at: row.get(2)?, expires: row.get(3)? });
    }
    Ok(received)
}

/// In the order of positions, each once.
pub(crate) fn statuses(
    connection: &Connection,
    partition: PartitionId,
    mut positions: Vec<u64>,
) -> Result<Vec<RequestStatus>, Failure> {
    positions.sort_unstable();
    positions.dedup();
    let mut select = connection.prepare_cached(statement::REQUEST_STATUS)?;
    let mut statuses = Vec::with_capacity(positions.len());
    for position in positions {
        let status = select.query_row(params![partition.0, position as i64], |row| {
            Ok(RequestStatus { position, kind: row.get(0)?, at: row.get(1)?, answer: row.get(2)? })
        });
        statuses.extend(status.optional()?);
    }
    Ok(statuses)
}
