//! What is submitted again and again, and what has happened in queues.

use engine::PartitionId;
use rusqlite::{Connection, params};
use store::row::{QueueStats, Schedule};
use store::{AGES, Millis, QueueRef, format};

use crate::failure::Failure;
use crate::statement;

pub(crate) fn schedules(connection: &Connection, partition: PartitionId) -> Result<Vec<Schedule>, Failure> {
    let mut select = connection.prepare_cached(statement::SCHEDULES)?;
    let mut rows = select.query([partition.0])?;
    let mut schedules = Vec::new();
    while let Some(row) = rows.next()? {
        schedules.push(format::decode_schedule(row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?)?);
    }
    Ok(schedules)
}

pub(crate) fn queue_stats(
    connection: &Connection,
    partition: PartitionId,
    job_type: Option<&str>,
) -> Result<Vec<QueueStats>, Failure> {
    let mut select = connection.prepare_cached(statement::QUEUE_STATS)?;
    let mut rows = select.query(params![partition.0, job_type])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        all.push(QueueStats {
            job_type: row.get(0)?,
            tenant: row.get(1)?,
            waiting: row.get::<_, i64>(2)? as u64,
            running: row.get::<_, i64>(3)? as u64,
            updated: row.get(4)?,
            stats: format::decode_stats(row.get_ref(5)?.as_blob().map_err(rusqlite::Error::from)?)?,
        });
    }
    Ok(all)
}

pub(crate) fn waiting_since(
    connection: &Connection,
    queue: QueueRef<'_>,
    before: [Millis; AGES],
) -> Result<[u64; AGES], Failure> {
    let mut select = connection.prepare_cached(statement::WAITING_SINCE)?;
    let [a, b, c, d, e, f] = before;
    let which = params![queue.partition.0, queue.job_type, queue.tenant, a, b, c, d, e, f];
    let counts = select.query_row(which, |row| {
        let mut counts = [0; AGES];
        for (place, count) in counts.iter_mut().enumerate() {
            *count = row.get::<_, i64>(place)? as u64;
        }
        Ok(counts)
    });
    Ok(counts?)
}
