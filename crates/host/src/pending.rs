//! How many timers wait: most of them are in the table alone, where they are counted now and then, beside the work.

use std::time::Duration;

use store::query::{Counting, Entity, Field, Filter, Op, Scalar, Tenants};
use store::row::TimerState;
use tokio::time::Instant;

use crate::handle::Host;

const EVERY: Duration = Duration::from_secs(60);
/// A count that takes long is made the more seldom: it may take this share of the time.
const SHARE: u32 = 100;

impl Host {
    /// Counts them for the metrics, as long as this is waited for. Only who owns the partition does.
    pub async fn keep_counting_timers(&self) {
        loop {
            let began = Instant::now();
            if let Err(error) = self.count_timers().await {
                tracing::debug!(%error, "waiting timers could not be counted");
            }
            tokio::time::sleep(EVERY.max(began.elapsed() * SHARE)).await;
        }
    }

    pub async fn count_timers(&self) -> Result<(), crate::Error> {
        let pending = if self.owns() {
            let counting = Counting {
                entity: Entity::Timers,
                tenants: Tenants::Everything,
                filter: Filter::Is(Field::TimerState, Op::Eq(Scalar::Text(TimerState::Pending.word().into()))),
                by: vec![Field::TimerState],
                distinct: None,
                latest: None,
                limit: 1,
            };
            self.store().count(&counting).await?.first().map_or(0, |counted| counted.rows)
        } else {
            0
        };
        self.metrics().timers_pending.set(pending as i64);
        Ok(())
    }
}
