//! Leases and epochs.

use std::time::Duration;

use engine::PartitionId;
use rusqlite::{Connection, OptionalExtension, params};
use store::{Fence, Millis, Ownership, Renewed};

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
    let until_at_most = until(now, lease.saturating_mul(2));
    let taken = take.query_row(params![partition.0, owner, now, until(now, lease), until_at_most], |row| {
        Ok(Ownership {
            fence: Fence { partition, epoch: row.get(0)? },
            position: row.get::<_, i64>(1)? as u64,
            inbox_to: row.get::<_, i64>(2)? as u64,
            inbox_tail: row.get::<_, i64>(3)? as u64,
            next_key: row.get::<_, i64>(4)? as u64,
            now,
        })
    });
    Ok(taken.optional()?)
}

pub(crate) fn renew(connection: &Connection, fence: Fence, lease: Duration, now: Millis) -> Result<Option<Renewed>, Failure> {
    let inbox_tail = set_lease(connection, fence, until(now, lease))?;
    Ok(inbox_tail.map(|inbox_tail| Renewed { now, inbox_tail }))
}

pub(crate) fn release(connection: &Connection, fence: Fence) -> Result<(), Failure> {
    set_lease(connection, fence, 0)?;
    Ok(())
}

/// The last request of the inbox, if the epoch is still the latest.
fn set_lease(connection: &Connection, fence: Fence, until: Millis) -> Result<Option<u64>, Failure> {
    let mut renew = connection.prepare_cached(statement::RENEW_LEASE)?;
    let tail = renew.query_row(params![fence.partition.0, fence.epoch, until], |row| row.get::<_, i64>(0));
    Ok(tail.optional()?.map(|tail| tail as u64))
}

/// A partition comes into being when somebody first names it.
pub(super) fn ensure(connection: &Connection, partition: PartitionId) -> Result<(), Failure> {
    let mut insert = connection.prepare_cached(statement::INSERT_PARTITION)?;
    insert.execute(params![partition.0, partition.first_key() as i64])?;
    Ok(())
}

pub(super) fn until(now: Millis, lease: Duration) -> Millis {
    now.saturating_add(Millis::try_from(lease.as_millis()).unwrap_or(Millis::MAX))
}
