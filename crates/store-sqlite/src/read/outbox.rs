//! What is to be announced through a broker.

use engine::{ElementKey, InstanceKey, JobKey, PartitionId};
use rusqlite::{Connection, Row, params};
use store::OutboxSize;
use store::row::{Announcement, AnnouncementKey};

use crate::failure::Failure;
use crate::statement;

pub(crate) fn outbox(
    connection: &Connection,
    partition: PartitionId,
    after: AnnouncementKey,
    limit: usize,
    bytes_max: usize,
) -> Result<Vec<Announcement>, Failure> {
    let mut select = connection.prepare_cached(statement::OUTBOX)?;
    let mut rows = select.query(params![partition.0, after.0 as i64, limit as i64])?;
    let (mut bytes, mut found) = (0, Vec::new());
    while let Some(row) = rows.next()? {
        let row = announcement(row)?;
        bytes += row.payload.len();
        if bytes_max < bytes && !found.is_empty() {
            break;
        }
        found.push(row);
    }
    Ok(found)
}

fn announcement(row: &Row<'_>) -> rusqlite::Result<Announcement> {
    let key = |column| row.get::<_, i64>(column).map(|key| key as u64);
    Ok(Announcement {
        key: AnnouncementKey(key(0)?),
        job: JobKey(key(1)?),
        instance: InstanceKey(key(2)?),
        element_instance: ElementKey(key(3)?),
        job_type: row.get(4)?,
        tenant: row.get(5)?,
        retries: row.get(6)?,
        created: row.get(7)?,
        payload: row.get(8)?,
        lease: row.get(9)?,
        element_id: row.get(10)?,
        progress: row.get(11)?,
        trace: row.get(12)?,
    })
}

pub(crate) fn outbox_size(connection: &Connection, partition: PartitionId) -> Result<OutboxSize, Failure> {
    let mut select = connection.prepare_cached(statement::OUTBOX_SIZE)?;
    let count = |row: &Row<'_>, column| row.get::<_, i64>(column).map(|count| count as u64);
    Ok(select.query_row([partition.0], |row| Ok(OutboxSize { rows: count(row, 0)?, bytes: count(row, 1)? }))?)
}
