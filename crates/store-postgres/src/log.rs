//! The log: appending to it, and reading what is in it.

use engine::PartitionId;
use store::Error;
use store::log::{CommandStatus, NewCommand, Pending};

use crate::Postgres;
use crate::call::Call;
use crate::reading::{Reading, only};

impl Postgres {
    pub(crate) async fn append_commands(&self, partition: PartitionId, commands: &[NewCommand]) -> Result<Vec<u64>, Error> {
        if commands.is_empty() {
            return Ok(Vec::new());
        }
        let call = Call::new(include_str!("../sql/append.sql"))
            .int(partition.0.into())
            .key(partition.first_key())
            .texts(commands.iter().map(|command| command.kind))
            .blobs(commands.iter().map(|command| command.request.as_slice()));
        let rows = self.appender.query(call).await?;
        let tail = only(&rows)?.key()?;
        Ok((tail - commands.len() as u64 + 1..=tail).collect())
    }

    pub(crate) async fn pending_commands(&self, partition: PartitionId, after: u64, limit: usize) -> Result<Vec<Pending>, Error> {
        let call = Call::new(include_str!("../sql/pending.sql")).int(partition.0.into()).key(after).limit(limit);
        let rows = self.owner.query(call).await?;
        let pending = |row| {
            let mut row = Reading::of(row);
            Ok(Pending { position: row.key()?, request: row.get()? })
        };
        rows.iter().map(pending).collect()
    }

    pub(crate) async fn command_statuses(&self, partition: PartitionId, positions: &[u64]) -> Result<Vec<CommandStatus>, Error> {
        let call = Call::new(include_str!("../sql/statuses.sql")).int(partition.0.into()).keys(positions.iter().copied());
        let rows = self.readers.query(call).await?;
        let status = |row| {
            let mut row = Reading::of(row);
            Ok(CommandStatus {
                position: row.key()?,
                kind: row.get()?,
                at: row.get()?,
                processed: row.get()?,
                answer: row.get()?,
            })
        };
        rows.iter().map(status).collect()
    }
}
