//! Queues with limits: jobs by group, how many there are, and policies.

use std::sync::Arc;

use engine::{JobKey, PartitionId};
use rusqlite::{Connection, Params, Row, ToSql, params};
use store::row::{PaceState, PolicyVersion};
use store::{AgedJob, CountedJobs, Millis, QueueRef, QueueSize, ReadyAfter, ReadyJob, format};

use crate::failure::Failure;
use crate::statement;

type Group = Option<Arc<str>>;

pub(crate) fn grouped_jobs(
    connection: &Connection,
    queue: QueueRef<'_>,
    of: Option<&Group>,
    after: ReadyAfter,
    limit: usize,
) -> Result<Vec<(ReadyJob, Group)>, Failure> {
    let sql = match of {
        None => statement::READY_JOBS_OF_ALL_GROUPS,
        Some(None) => statement::READY_JOBS_OF_NO_GROUP,
        Some(Some(_)) => statement::READY_JOBS_OF_GROUP,
    };
    let (key, limit) = (after.key.0 as i64, limit as i64);
    let mut which: Vec<&dyn ToSql> = vec![&queue.partition.0, &queue.job_type, &queue.tenant, &after.priority, &key, &limit];
    if let Some(Some(group)) = of {
        which.push(group);
    }
    let mut select = connection.prepare_cached(sql)?;
    let job = |row: &Row<'_>| {
        let job = ReadyJob { key: JobKey(row.get::<_, i64>(0)? as u64), priority: row.get(1)? };
        Ok((job, row.get(2)?))
    };
    let jobs = select.query_map(&*which, job)?;
    Ok(jobs.collect::<Result<_, _>>()?)
}

pub(crate) fn aged_jobs(
    connection: &Connection,
    queue: QueueRef<'_>,
    (of, ageing): (Option<&Group>, Millis),
    (rank, key): (i64, JobKey),
    limit: usize,
) -> Result<Vec<AgedJob>, Failure> {
    let mut select = connection.prepare_cached(statement::AGED_JOBS)?;
    let QueueRef { partition, job_type, tenant } = queue;
    let group = of.and_then(|group| group.as_deref());
    let which = params![partition.0, job_type, tenant, ageing, rank, key.0 as i64, limit as i64, of.is_some(), group];
    let job = |row: &Row<'_>| Ok(AgedJob { key: JobKey(row.get::<_, i64>(0)? as u64), rank: row.get(1)?, group: row.get(2)? });
    let jobs = select.query_map(which, job)?;
    Ok(jobs.collect::<Result<_, _>>()?)
}

pub(crate) fn paces(connection: &Connection, queue: QueueRef<'_>) -> Result<Vec<PaceState>, Failure> {
    let mut select = connection.prepare_cached(statement::PACES)?;
    let mut rows = select.query(params![queue.partition.0, queue.job_type, queue.tenant])?;
    let mut paces = Vec::new();
    while let Some(row) = rows.next()? {
        paces.push(PaceState {
            job_type: queue.job_type.into(),
            tenant: queue.tenant.into(),
            bucket: row.get(0)?,
            starts: format::decode_starts(row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?)?,
            until: row.get(2)?,
        });
    }
    Ok(paces)
}

pub(crate) fn count_jobs(connection: &Connection, queue: QueueRef<'_>, which: CountedJobs) -> Result<Vec<(Group, u64)>, Failure> {
    let mut select = connection.prepare_cached(match which {
        CountedJobs::Running => statement::COUNT_RUNNING_JOBS,
        CountedJobs::Waiting => statement::COUNT_WAITING_JOBS,
        CountedJobs::Retrying => statement::COUNT_RETRYING_JOBS,
    })?;
    let count = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64));
    let counts = select.query_map(params![queue.partition.0, queue.job_type, queue.tenant], count)?;
    Ok(counts.collect::<Result<_, _>>()?)
}

pub(crate) fn queue_sizes(connection: &Connection, partition: PartitionId) -> Result<Vec<QueueSize>, Failure> {
    let mut select = connection.prepare_cached(statement::QUEUE_SIZES)?;
    let size = |row: &Row<'_>| {
        let count = |column| row.get::<_, i64>(column).map(|count| count as u64);
        Ok(QueueSize {
            job_type: row.get(0)?,
            tenant: row.get(1)?,
            ready: count(2)?,
            scheduled: count(3)?,
            running: count(4)?,
            oldest: row.get(5)?,
        })
    };
    let sizes = select.query_map([partition.0], size)?;
    Ok(sizes.collect::<Result<_, _>>()?)
}

pub(crate) fn jobs_before(connection: &Connection, queue: QueueRef<'_>, place: ReadyAfter) -> Result<u64, Failure> {
    let mut select = connection.prepare_cached(statement::JOBS_BEFORE)?;
    let which = params![queue.partition.0, queue.job_type, queue.tenant, place.priority, place.key.0 as i64];
    Ok(select.query_row(which, |row| row.get::<_, i64>(0))? as u64)
}

pub(crate) fn policies(connection: &Connection, partition: PartitionId) -> Result<Vec<PolicyVersion>, Failure> {
    read(connection, statement::POLICIES, [partition.0])
}

pub(crate) fn policy_versions(
    connection: &Connection,
    partition: PartitionId,
    reference: &str,
) -> Result<Vec<PolicyVersion>, Failure> {
    read(connection, statement::POLICY_VERSIONS, params![partition.0, reference])
}

fn read(connection: &Connection, sql: &str, which: impl Params) -> Result<Vec<PolicyVersion>, Failure> {
    let mut select = connection.prepare_cached(sql)?;
    let mut rows = select.query(which)?;
    let mut versions = Vec::new();
    while let Some(row) = rows.next()? {
        versions.push(PolicyVersion {
            reference: row.get(0)?,
            version: row.get(1)?,
            policy: format::decode_policy(row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?)?,
            changed: row.get(3)?,
            changed_by: row.get(4)?,
        });
    }
    Ok(versions)
}
