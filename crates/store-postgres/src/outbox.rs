//! What is to be announced through a broker.

use engine::{ElementKey, InstanceKey, JobKey, PartitionId};
use store::row::{Announcement, AnnouncementKey};
use store::{Error, OutboxSize};
use tokio_postgres::Row;

use crate::Postgres;
use crate::call::Call;
use crate::reading::{Reading, only};

impl Postgres {
    pub(crate) async fn to_be_announced(
        &self,
        partition: PartitionId,
        after: AnnouncementKey,
        limit: usize,
        bytes_max: usize,
    ) -> Result<Vec<Announcement>, Error> {
        let call =
            Call::new(include_str!("../sql/outbox.sql")).int(partition.0.into()).key(after.0).limit(limit).limit(bytes_max);
        self.owner.query(call).await?.iter().map(announcement).collect()
    }

    pub(crate) async fn size_of_outbox(&self, partition: PartitionId) -> Result<OutboxSize, Error> {
        let call = Call::new(include_str!("../sql/outbox_size.sql")).int(partition.0.into());
        let rows = self.owner.query(call).await?;
        let mut row = only(&rows)?;
        Ok(OutboxSize { rows: row.key()?, bytes: row.key()? })
    }
}

fn announcement(row: &Row) -> Result<Announcement, Error> {
    let mut row = Reading::of(row);
    Ok(Announcement {
        key: AnnouncementKey(row.key()?),
        job: JobKey(row.key()?),
        instance: InstanceKey(row.key()?),
        element_instance: ElementKey(row.key()?),
        job_type: row.text()?,
        tenant: row.text()?,
        retries: row.get()?,
        created: row.get()?,
        payload: row.text()?,
        lease: row.get::<i32>()?.try_into().map_err(Error::corrupt)?,
        element_id: row.text()?,
        progress: row.text_maybe()?,
        trace: row.text_maybe()?,
    })
}
