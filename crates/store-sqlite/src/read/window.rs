//! The windows the owner keeps in memory.

use engine::{InstanceKey, JobKey, PartitionId};
use rusqlite::{Connection, params};
use store::{Due, Millis, ReadyAfter, ReadyJob, words};

use super::load::{key_at, key_maybe, text_at};
use crate::failure::Failure;
use crate::statement;

pub(crate) fn ready_jobs(
    connection: &Connection,
    partition: PartitionId,
    (job_type, tenant): (&str, &str),
    after: ReadyAfter,
    limit: usize,
) -> Result<Vec<ReadyJob>, Failure> {
    let mut select = connection.prepare_cached(statement::READY_JOBS)?;
    let which = params![partition.0, job_type, tenant, after.priority, after.key.0 as i64, limit as i64];
    let rows =
        select.query_map(which, |row| Ok(ReadyJob { key: JobKey(row.get::<_, i64>(0)? as u64), priority: row.get(1)? }))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(crate) fn due(
    connection: &Connection,
    partition: PartitionId,
    after: (Millis, u64),
    limit: usize,
) -> Result<Vec<Due>, Failure> {
    let mut select = connection.prepare_cached(statement::DUE)?;
    let mut rows = select.query(params![partition.0, after.0, after.1 as i64, limit as i64])?;
    let mut due = Vec::new();
    while let Some(row) = rows.next()? {
        let instance = key_maybe(row, 3)?.map(InstanceKey);
        due.push(Due { at: row.get(0)?, key: key_at(row, 1)?, what: words::due_kind(text_at(row, 2)?, instance)? });
    }
    Ok(due)
}
