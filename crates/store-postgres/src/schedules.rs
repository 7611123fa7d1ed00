//! What is submitted again and again, and what has happened in queues.

use engine::PartitionId;
use store::row::{QueueStats, Schedule};
use store::{AGES, Error, Millis, QueueRef, format};

use crate::Postgres;
use crate::call::Call;
use crate::reading::{Reading, only};

impl Postgres {
    pub(crate) async fn all_schedules(&self, partition: PartitionId) -> Result<Vec<Schedule>, Error> {
        let call = Call::new(include_str!("../sql/schedules.sql")).int(partition.0.into());
        self.owner.query(call).await?.iter().map(|row| format::decode_schedule(Reading::of(row).get()?)).collect()
    }

    pub(crate) async fn stats_of_queues(&self, partition: PartitionId, job_type: Option<&str>) -> Result<Vec<QueueStats>, Error> {
        let call = Call::new(include_str!("../sql/queue_stats.sql")).int(partition.0.into()).text(job_type.unwrap_or_default());
        let stats = |row| {
            let mut row = Reading::of(row);
            Ok(QueueStats {
                job_type: row.text()?,
                tenant: row.text()?,
                waiting: row.key()?,
                running: row.key()?,
                updated: row.get()?,
                stats: format::decode_stats(row.get()?)?,
            })
        };
        self.owner.query(call).await?.iter().map(stats).collect()
    }

    pub(crate) async fn ages_of_waiting(&self, queue: QueueRef<'_>, before: [Millis; AGES]) -> Result<[u64; AGES], Error> {
        let call = Call::new(include_str!("../sql/waiting_since.sql")).int(queue.partition.0.into());
        let call = call.text(queue.job_type).text(queue.tenant);
        let call = before.into_iter().fold(call, Call::int);
        let rows = self.owner.query(call).await?;
        let mut row = only(&rows)?;
        let mut counts = [0; AGES];
        for count in &mut counts {
            *count = row.key()?;
        }
        Ok(counts)
    }
}
