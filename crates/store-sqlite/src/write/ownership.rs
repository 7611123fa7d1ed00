//! Leases and epochs.

use std::time::Duration;

use engine::PartitionId;
use rusqlite::{Connection, OptionalExtension, params};
use store::{Fence, Millis, Ownership, Renewed};

use super::commit::position;
use crate::failure::Failure;
use crate::statement;

pub(crate) fn acquire(
    connection: &Connection,
    partition: PartitionId,
    owner: &str,
    lease: Duration,
    now: Millis,
) -> Result<Option<Ownership>, Failure> {
    ensure(connection, partition)?;
    let mut take = connection.prepare_cached(statement::TAKE_PARTITION)?;
    let taken = take.query_row(params![partition.0, owner, now, until(now, lease)], |row| {
        Ok(Ownership {
            fence: Fence { partition, epoch: row.get(0)? },
            tail: row.get::<_, i64>(1)? as u64,
            processed_to: row.get::<_, i64>(2)? as u64,
            next_key: row.get::<_, i64>(3)? as u64,
            now,
        })
    });
    Ok(taken.optional()?)
}

/// Whether the epoch is still the latest.
pub(crate) fn renew(connection: &Connection, fence: Fence, lease: Duration, now: Millis) -> Result<Option<Renewed>, Failure> {
    if !set_lease(connection, fence, until(now, lease))? {
        return Ok(None);
    }
    let (_, tail) = position(connection, fence.partition)?;
    Ok(Some(Renewed { now, tail }))
}

pub(crate) fn release(connection: &Connection, fence: Fence) -> Result<(), Failure> {
    set_lease(connection, fence, 0)?;
    Ok(())
}

fn set_lease(connection: &Connection, fence: Fence, until: Millis) -> Result<bool, Failure> {
    let mut renew = connection.prepare_cached(statement::RENEW_LEASE)?;
    Ok(0 < renew.execute(params![fence.partition.0, fence.epoch, until])?)
}

/// A partition comes into being when somebody first names it.
pub(super) fn ensure(connection: &Connection, partition: PartitionId) -> Result<(), Failure> {
    let mut insert = connection.prepare_cached(statement::INSERT_PARTITION)?;
    insert.execute(params![partition.0, partition.first_key() as i64])?;
    Ok(())
}

fn until(now: Millis, lease: Duration) -> Millis {
    now.saturating_add(Millis::try_from(lease.as_millis()).unwrap_or(Millis::MAX))
}
