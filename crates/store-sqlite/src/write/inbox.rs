//! The inbox grows, and shrinks with what is answered.

use engine::PartitionId;
use rusqlite::{Connection, params};
use store::log::NewRequest;
use store::{AnswerRow, Backlog, Error, Millis};

use super::ownership::{self, until};
use crate::failure::Failure;
use crate::statement;

/// Puts requests at the end of the inbox, if there is room; their positions.
pub(crate) fn append(
    connection: &Connection,
    partition: PartitionId,
    requests: &[NewRequest],
    backlog: Backlog,
    now: Millis,
) -> Result<Vec<u64>, Failure> {
    ownership::ensure(connection, partition)?;
    let mut size = connection.prepare_cached(statement::INBOX_SIZE)?;
    let (tail, mut total, waiting, bytes): (i64, i64, i64, i64) =
        size.query_row([partition.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    let bytes_new: usize = requests.iter().map(|request| request.request.len()).sum();
    let has_room =
        waiting as u64 + requests.len() as u64 <= backlog.requests_max && bytes as u64 + bytes_new as u64 <= backlog.bytes_max;
    if !has_room {
        return Err(Error::Exhausted { what: "the inbox" }.into());
    }
    let mut insert = connection.prepare_cached(statement::APPEND_REQUEST)?;
    let positions = tail + 1..tail + 1 + requests.len() as i64;
    for (position, request) in positions.clone().zip(requests) {
        total += request.request.len() as i64;
        let expires = request.lives.map(|lives| until(now, lives));
        insert.execute(params![partition.0, position, request.kind, now, expires, request.request, total])?;
    }
    let mut grow = connection.prepare_cached(statement::GROW_INBOX)?;
    grow.execute(params![partition.0, positions.end - 1, total])?;
    Ok(positions.map(|position| position as u64).collect())
}

pub(super) fn answer(connection: &Connection, partition: PartitionId, rows: &[AnswerRow]) -> Result<(), Failure> {
    let mut insert = connection.prepare_cached(statement::ANSWER_REQUEST)?;
    for row in rows {
        insert.execute(params![partition.0, row.position as i64, row.kind, row.at, row.answer, row.expires])?;
    }
    Ok(())
}

/// Takes out all requests up to this one.
pub(super) fn clear(connection: &Connection, partition: PartitionId, to: u64) -> Result<(), Failure> {
    connection.prepare_cached(statement::CLEAR_INBOX)?.execute(params![partition.0, to as i64])?;
    Ok(())
}
