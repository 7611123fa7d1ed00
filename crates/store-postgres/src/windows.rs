//! What the owner keeps windows of in memory, and the upkeep it does.

use std::sync::Arc;

use engine::{InstanceKey, JobKey, PartitionId};
use store::{Error, Millis, ReadyJob, TimedJob};

use crate::Postgres;
use crate::call::Call;
use crate::reading::Reading;

impl Postgres {
    pub(crate) async fn ready_window(
        &self,
        partition: PartitionId,
        job_type: &str,
        tenant: &str,
        after: JobKey,
        limit: usize,
    ) -> Result<Vec<ReadyJob>, Error> {
        let call = Call::new(include_str!("../sql/ready_jobs.sql"))
            .int(partition.0.into())
            .text(job_type)
            .text(tenant)
            .key(after.0)
            .limit(limit);
        let rows = self.owner.query(call).await?;
        let (job_type, tenant): (Arc<str>, Arc<str>) = (job_type.into(), tenant.into());
        let ready = |row| {
            let mut row = Reading::of(row);
            Ok(ReadyJob {
                key: JobKey(row.key()?),
                instance: InstanceKey(row.key()?),
                job_type: job_type.clone(),
                tenant: tenant.clone(),
            })
        };
        rows.iter().map(ready).collect()
    }

    pub(crate) async fn timed_window(
        &self,
        partition: PartitionId,
        after: (Millis, JobKey),
        limit: usize,
    ) -> Result<Vec<TimedJob>, Error> {
        let call =
            Call::new(include_str!("../sql/timed_jobs.sql")).int(partition.0.into()).int(after.0).key(after.1.0).limit(limit);
        let rows = self.owner.query(call).await?;
        let timed = |row| {
            let mut row = Reading::of(row);
            Ok(TimedJob { key: JobKey(row.key()?), at: row.get()? })
        };
        rows.iter().map(timed).collect()
    }

    pub(crate) async fn purge_first_answers(&self, partition: PartitionId, now: Millis, limit: usize) -> Result<usize, Error> {
        let call = Call::new(include_str!("../sql/purge_idempotent.sql")).int(partition.0.into()).int(now).limit(limit);
        Ok(self.owner.query(call).await?.len())
    }
}
