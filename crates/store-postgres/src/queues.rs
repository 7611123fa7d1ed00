//! Queues with limits: jobs by group, how many there are, and policies.

use std::sync::Arc;

use engine::{JobKey, PartitionId};
use store::row::{GlobalListeners, PaceState, PolicyVersion};
use store::{AgedJob, CountedJobs, Error, Millis, QueueRef, QueueSize, ReadyAfter, ReadyJob, format};
use tokio_postgres::Row;

use crate::Postgres;
use crate::call::Call;
use crate::reading::{Reading, only};

type Group = Option<Arc<str>>;

impl Postgres {
    pub(crate) async fn ready_groups(
        &self,
        queue: QueueRef<'_>,
        of: Option<Group>,
        after: ReadyAfter,
        limit: usize,
    ) -> Result<Vec<(ReadyJob, Group)>, Error> {
        let sql = match &of {
            None => include_str!("../sql/ready_jobs_of_all_groups.sql"),
            Some(None) => include_str!("../sql/ready_jobs_of_no_group.sql"),
            Some(Some(_)) => include_str!("../sql/ready_jobs_of_group.sql"),
        };
        let call = of_queue(sql, queue).int(after.priority.into()).key(after.key.0).limit(limit);
        let call = match &of {
            Some(Some(group)) => call.text(group),
            None | Some(None) => call,
        };
        let job = |row| {
            let mut row = Reading::of(row);
            Ok((ReadyJob { key: JobKey(row.key()?), priority: row.get()? }, row.text_maybe()?))
        };
        self.owner.query(call).await?.iter().map(job).collect()
    }

    pub(crate) async fn ready_aged(
        &self,
        queue: QueueRef<'_>,
        (of, ageing): (Option<Group>, Millis),
        (rank, key): (i64, JobKey),
        limit: usize,
    ) -> Result<Vec<AgedJob>, Error> {
        let (which, group) = match &of {
            None => (0, ""),
            Some(None) => (1, ""),
            Some(Some(group)) => (2, &**group),
        };
        let call = of_queue(include_str!("../sql/aged_jobs.sql"), queue).int(ageing).int(rank).key(key.0).limit(limit);
        let job = |row| {
            let mut row = Reading::of(row);
            Ok(AgedJob { key: JobKey(row.key()?), rank: row.get()?, group: row.text_maybe()? })
        };
        self.owner.query(call.int(which).text(group)).await?.iter().map(job).collect()
    }

    pub(crate) async fn paces_of(&self, queue: QueueRef<'_>) -> Result<Vec<PaceState>, Error> {
        let pace = |row| {
            let mut row = Reading::of(row);
            Ok(PaceState {
                job_type: queue.job_type.into(),
                tenant: queue.tenant.into(),
                bucket: row.text()?,
                starts: format::decode_starts(row.get()?)?,
                until: row.get()?,
            })
        };
        self.owner.query(of_queue(include_str!("../sql/paces.sql"), queue)).await?.iter().map(pace).collect()
    }

    pub(crate) async fn jobs_counted(&self, queue: QueueRef<'_>, which: CountedJobs) -> Result<Vec<(Group, u64)>, Error> {
        let sql = match which {
            CountedJobs::Running => include_str!("../sql/count_running_jobs.sql"),
            CountedJobs::Waiting => include_str!("../sql/count_waiting_jobs.sql"),
            CountedJobs::Retrying => include_str!("../sql/count_retrying_jobs.sql"),
        };
        let count = |row| {
            let mut row = Reading::of(row);
            Ok((row.text_maybe()?, row.key()?))
        };
        self.owner.query(of_queue(sql, queue)).await?.iter().map(count).collect()
    }

    pub(crate) async fn sizes_of_queues(&self, partition: PartitionId) -> Result<Vec<QueueSize>, Error> {
        let size = |row| {
            let mut row = Reading::of(row);
            let (job_type, tenant) = (row.text()?, row.text()?);
            let (ready, scheduled, running) = (row.key()?, row.key()?, row.key()?);
            Ok(QueueSize { job_type, tenant, ready, scheduled, running, oldest: row.get()? })
        };
        let call = Call::new(include_str!("../sql/queue_sizes.sql")).int(partition.0.into());
        self.owner.query(call).await?.iter().map(size).collect()
    }

    pub(crate) async fn ready_before(&self, queue: QueueRef<'_>, place: ReadyAfter) -> Result<u64, Error> {
        let call = of_queue(include_str!("../sql/jobs_before.sql"), queue).int(place.priority.into()).key(place.key.0);
        only(&self.owner.query(call).await?)?.key()
    }

    pub(crate) async fn newest_policies(&self, partition: PartitionId) -> Result<Vec<PolicyVersion>, Error> {
        let call = Call::new(include_str!("../sql/policies.sql")).int(partition.0.into());
        self.owner.query(call).await?.iter().map(policy).collect()
    }

    pub(crate) async fn versions_of_policy(&self, partition: PartitionId, reference: &str) -> Result<Vec<PolicyVersion>, Error> {
        let call = Call::new(include_str!("../sql/policy_versions.sql")).int(partition.0.into()).text(reference);
        self.owner.query(call).await?.iter().map(policy).collect()
    }
}

impl Postgres {
    pub(crate) async fn newest_listeners(&self, partition: PartitionId, limit: usize) -> Result<Vec<GlobalListeners>, Error> {
        let call = Call::new(include_str!("../sql/global_listeners.sql")).int(partition.0.into()).limit(limit);
        let version = |row: &Row| {
            let mut row = Reading::of(row);
            Ok(GlobalListeners {
                version: u32::try_from(row.get::<i32>()?).map_err(Error::corrupt)?,
                listeners: format::decode_listeners(row.get()?)?,
                changed: row.get()?,
                changed_by: row.text()?,
            })
        };
        self.owner.query(call).await?.iter().map(version).collect()
    }
}

fn of_queue<'a>(sql: &'static str, queue: QueueRef<'a>) -> Call<'a> {
    Call::new(sql).int(queue.partition.0.into()).text(queue.job_type).text(queue.tenant)
}

fn policy(row: &Row) -> Result<PolicyVersion, Error> {
    let mut row = Reading::of(row);
    Ok(PolicyVersion {
        reference: row.text()?,
        version: u32::try_from(row.get::<i32>()?).map_err(Error::corrupt)?,
        policy: format::decode_policy(row.get()?)?,
        changed: row.get()?,
        changed_by: row.text()?,
    })
}
