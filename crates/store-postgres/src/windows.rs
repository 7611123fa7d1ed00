//! What the owner keeps windows of in memory.

use engine::{InstanceKey, JobKey, PartitionId};
use store::{Due, Error, Millis, ReadyAfter, ReadyJob, words};

use crate::Postgres;
use crate::call::Call;
use crate::reading::Reading;

impl Postgres {
    pub(crate) async fn ready_window(
        &self,
        partition: PartitionId,
        (job_type, tenant): (&str, &str),
        after: ReadyAfter,
        limit: usize,
    ) -> Result<Vec<ReadyJob>, Error> {
        let call = Call::new(include_str!("../sql/ready_jobs.sql"))
            .int(partition.0.into())
            .text(job_type)
            .text(tenant)
            .int(after.priority.into())
            .key(after.key.0)
            .limit(limit);
        let rows = self.owner.query(call).await?;
        let ready = |row| {
            let mut row = Reading::of(row);
            Ok(ReadyJob { key: JobKey(row.key()?), priority: row.get()? })
        };
        rows.iter().map(ready).collect()
    }

    pub(crate) async fn due_window(&self, partition: PartitionId, after: (Millis, u64), limit: usize) -> Result<Vec<Due>, Error> {
        let call = Call::new(include_str!("../sql/due.sql")).int(partition.0.into()).int(after.0).key(after.1).limit(limit);
        let rows = self.owner.query(call).await?;
        let due = |row| {
            let mut row = Reading::of(row);
            let (at, key) = (row.get()?, row.key()?);
            let (what, instance) = (row.get()?, row.key_maybe()?.map(InstanceKey));
            Ok(Due { at, key, what: words::due_kind(what, instance)? })
        };
        rows.iter().map(due).collect()
    }
}
