//! The log, for whoever follows it. Nobody who waits stands behind this: it has the connection of upkeep.

use engine::{InstanceKey, PartitionId};
use store::{Error, Fence, Logged};

use crate::Postgres;
use crate::call::Call;
use crate::reading::Reading;

impl Postgres {
    pub(crate) async fn logged_after(
        &self,
        partition: PartitionId,
        after: u64,
        limit: usize,
        bytes_max: usize,
    ) -> Result<Vec<Logged>, Error> {
        let call = Call::new(include_str!("../sql/happened.sql")).int(partition.0.into()).key(after);
        let logged = |row| {
            let mut row = Reading::of(row);
            let (position, at) = (row.key()?, row.get()?);
            let instance: Option<i64> = row.get()?;
            Ok(Logged { position, at, instance: instance.map(|key| InstanceKey(key as u64)), events: row.get()? })
        };
        self.upkeep.query(call.limit(limit).limit(bytes_max)).await?.iter().map(logged).collect()
    }

    pub(crate) async fn place_of_export(&self, partition: PartitionId, name: &str) -> Result<Option<u64>, Error> {
        let call = Call::new(include_str!("../sql/export_place.sql")).int(partition.0.into()).text(name);
        let rows = self.upkeep.query(call).await?;
        rows.first().map(|row| Reading::of(row).key()).transpose()
    }

    /// Whoever wrote it, it is true, and it never moves back: so the epoch need not be locked.
    pub(crate) async fn move_export(&self, fence: Fence, name: &str, position: u64) -> Result<bool, Error> {
        if !self.holds(fence).await? {
            return Ok(false);
        }
        let call = Call::new(include_str!("../sql/put_export_place.sql")).int(fence.partition.0.into()).text(name);
        self.upkeep.query(call.key(position)).await?;
        Ok(true)
    }
}
