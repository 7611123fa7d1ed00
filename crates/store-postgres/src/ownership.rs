//! Who owns a partition: a lease by the database's clock, with an epoch.

use std::time::Duration;

use engine::PartitionId;
use store::{Error, Fence, Millis, Ownership, PartitionStatus, Renewed};

use crate::Postgres;
use crate::call::Call;
use crate::reading::{Reading, only};

impl Postgres {
    pub(crate) async fn clock(&self) -> Result<Millis, Error> {
        let rows = self.owner.query(Call::new(include_str!("../sql/clock.sql"))).await?;
        only(&rows)?.get()
    }

    pub(crate) async fn acquire_lease(
        &self,
        partition: PartitionId,
        owner: &str,
        lease: Duration,
    ) -> Result<Option<Ownership>, Error> {
        let call = Call::new(include_str!("../sql/acquire.sql"))
            .int(partition.0.into())
            .text(owner)
            .int(millis(lease))
            .key(partition.first_key());
        let rows = self.writer.query(call).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let mut row = Reading::of(row);
        Ok(Some(Ownership {
            fence: Fence { partition, epoch: row.get()? },
            tail: row.key()?,
            processed_to: row.key()?,
            next_key: row.key()?,
            now: row.get()?,
        }))
    }

    pub(crate) async fn renew_lease(&self, fence: Fence, lease: Duration) -> Result<Option<Renewed>, Error> {
        let call = Call::new(include_str!("../sql/renew.sql")).int(fence.partition.0.into()).int(fence.epoch).int(millis(lease));
        let rows = self.writer.query(call).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let mut row = Reading::of(row);
        Ok(Some(Renewed { now: row.get()?, tail: row.key()? }))
    }

    pub(crate) async fn release_lease(&self, fence: Fence) -> Result<(), Error> {
        let call = Call::new(include_str!("../sql/release.sql")).int(fence.partition.0.into()).int(fence.epoch);
        self.writer.query(call).await?;
        Ok(())
    }

    pub(crate) async fn partition_statuses(&self) -> Result<Vec<PartitionStatus>, Error> {
        let rows = self.owner.query(Call::new(include_str!("../sql/partitions.sql"))).await?;
        rows.iter().map(|row| status(Reading::of(row))).collect()
    }
}

fn status(mut row: Reading<'_>) -> Result<PartitionStatus, Error> {
    let number = row.get::<i64>()?;
    let partition = u16::try_from(number).map_err(|_| Error::corrupt(format!("{number} is no partition")))?;
    Ok(PartitionStatus {
        partition: PartitionId(partition),
        epoch: row.get()?,
        tail: row.key()?,
        processed_to: row.key()?,
        owner: row.text_maybe()?,
    })
}

fn millis(duration: Duration) -> Millis {
    Millis::try_from(duration.as_millis()).unwrap_or(Millis::MAX / 2)
}
