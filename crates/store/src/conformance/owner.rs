//! An owner for tests: commits one tick after another.

use std::sync::Arc;
use std::time::Duration;

use engine::PartitionId;

use crate::{Changes, Commit, CommitError, LogRow, Ownership, Store};

pub(super) const PARTITION: PartitionId = PartitionId(1);
pub(super) const OTHER: PartitionId = PartitionId(2);
pub(super) const LONG: Duration = Duration::from_secs(3_600);
pub(super) const NOW: i64 = 1_700_000_000_000;

pub(super) struct Owner {
    pub(super) store: Arc<dyn Store>,
    pub(super) ownership: Ownership,
}

impl Owner {
    pub(super) async fn of(store: &Arc<dyn Store>) -> Self {
        Self::of_partition(store, PARTITION).await
    }

    pub(super) async fn of_partition(store: &Arc<dyn Store>, partition: PartitionId) -> Self {
        let ownership = store.acquire(partition, "owner", LONG).await.unwrap().expect("nobody else is here");
        Self { store: store.clone(), ownership }
    }

    /// A tick of one command, after all ticks before it.
    pub(super) fn tick(&self, changes: Changes) -> Commit {
        let Ownership { fence, position, inbox_to, next_key, .. } = self.ownership;
        Commit {
            fence,
            first_key: next_key,
            next_key: next_key + 1,
            log: vec![LogRow { position: position + 1, kind: "create", instance: None, events: vec![1] }],
            inbox_to,
            answers: Vec::new(),
            now: NOW,
            changes,
            wake: false,
        }
    }

    pub(super) async fn commit(&mut self, changes: Changes) {
        self.try_commit(changes).await.expect("the owner may commit");
    }

    pub(super) async fn try_commit(&mut self, changes: Changes) -> Result<(), CommitError> {
        let tick = self.tick(changes);
        self.store.commit(tick.clone()).await?;
        self.went_through(&tick);
        Ok(())
    }

    /// Goes on from what this tick has written.
    pub(super) fn went_through(&mut self, tick: &Commit) {
        self.ownership.next_key = tick.next_key;
        self.ownership.position += tick.log.len() as u64;
        self.ownership.inbox_to = tick.inbox_to;
    }
}
