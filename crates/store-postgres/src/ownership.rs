//! Who owns a partition: a lease by the database's clock, with an epoch.

use std::time::Duration;

use engine::PartitionId;
use store::{Error, Fence, Millis, Ownership, PartitionStatus, Renewed};

use crate::Postgres;
use crate::call::Call;
use crate::reading::{Reading, only};
use crate::session::Isolation;

impl Postgres {
    pub(crate) async fn clock(&self) -> Result<Millis, Error> {
        let rows = self.owner.query(Call::new(include_str!("../sql/clock.sql"))).await?;
        only(&rows)?.get()
    }

    pub(crate) async fn read_identity(&self) -> Result<String, Error> {
        let rows = self.owner.query(Call::new(include_str!("../sql/identity.sql"))).await?;
        only(&rows)?.get()
    }

    pub(crate) async fn acquire_lease(
        &self,
        partition: PartitionId,
        owner: &str,
        lease: Duration,
    ) -> Result<Option<Ownership>, Error> {
        let take = Call::new(include_str!("../sql/acquire.sql")).int(partition.0.into()).text(owner).int(millis(lease));
        // By a statement of its own: taking may have waited, and the end of the inbox is to be seen from after that.
        let inbox_tail = Call::new(include_str!("../sql/inbox_tail.sql")).int(partition.0.into());
        let calls = [open_partition(partition), take, inbox_tail];
        let answers = self.writer.take().await?.transaction(Isolation::ReadCommitted, &calls).await?;
        let [_, taken, inbox_tail] = &answers[..] else { return Err(Error::corrupt("answers are missing")) };
        let Some(row) = taken.first() else { return Ok(None) };
        let mut row = Reading::of(row);
        let ownership = Ownership {
            fence: Fence { partition, epoch: row.get()? },
            position: row.key()?,
            inbox_to: row.key()?,
            next_key: row.key()?,
            now: row.get()?,
            inbox_tail: only(inbox_tail)?.key()?,
        };
        self.cleared.set(partition, ownership.inbox_to);
        Ok(Some(ownership))
    }

    pub(crate) async fn renew_lease(&self, fence: Fence, lease: Duration) -> Result<Option<Renewed>, Error> {
        let call = Call::new(include_str!("../sql/renew.sql")).int(fence.partition.0.into()).int(fence.epoch).int(millis(lease));
        let rows = self.writer.query(call).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let mut row = Reading::of(row);
        Ok(Some(Renewed { now: row.get()?, inbox_tail: row.key()? }))
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
        position: row.key()?,
        inbox_to: row.key()?,
        inbox_tail: row.key()?,
        owner: row.text_maybe()?,
    })
}

/// A partition comes into being when somebody first names it.
pub(crate) fn open_partition(partition: PartitionId) -> Call<'static> {
    Call::new(include_str!("../sql/open_partition.sql")).int(partition.0.into()).key(partition.first_key())
}

/// Never so long that the database's clock could not be added to twice of it.
pub(crate) fn millis(duration: Duration) -> Millis {
    Millis::try_from(duration.as_millis()).unwrap_or(Millis::MAX).min(Millis::MAX / 8)
}
