//! The windows the owner keeps in memory.

use std::sync::Arc;

use engine::{InstanceKey, JobKey, PartitionId};
use rusqlite::{Connection, params};
use store::{Millis, ReadyJob, TimedJob};

use crate::failure::Failure;
use crate::statement;

/// Job type and tenant.
type Queue = (Arc<str>, Arc<str>);

pub(crate) fn ready_jobs(
    connection: &Connection,
    partition: PartitionId,
    (job_type, tenant): &Queue,
    after: JobKey,
    limit: usize,
) -> Result<Vec<ReadyJob>, Failure> {
    let mut select = connection.prepare_cached(statement::READY_JOBS)?;
    let rows = select.query_map(params![partition.0, job_type, tenant, after.0 as i64, limit as i64], |row| {
        Ok(ReadyJob {
            key: JobKey(row.get::<_, i64>(0)? as u64),
            instance: InstanceKey(row.get::<_, i64>(1)? as u64),
            job_type: job_type.clone(),
            tenant: tenant.clone(),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(crate) fn timed_jobs(
    connection: &Connection,
    partition: PartitionId,
    after: (Millis, JobKey),
    limit: usize,
) -> Result<Vec<TimedJob>, Failure> {
    let mut select = connection.prepare_cached(statement::TIMED_JOBS)?;
    let rows = select.query_map(params![partition.0, after.0, after.1.0 as i64, limit as i64], |row| {
        Ok(TimedJob { key: JobKey(row.get::<_, i64>(0)? as u64), at: row.get(1)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
