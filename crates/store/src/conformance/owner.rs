//! An owner for tests: commits one tick after another.

use std::sync::Arc;
use std::time::Duration;

use engine::PartitionId;

use crate::{Changes, Commit, CommitError, LogRow, Ownership, Store};

pub(super) const PARTITION: PartitionId = PartitionId(1);
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

    /// A tick of one command that is processed as it is appended.
    pub(super) fn tick(&self, changes: Changes) -> Commit {
        let position = self.ownership.tail + 1;
        Commit {
            fence: self.ownership.fence,
            tail: self.ownership.tail,
            processed: Vec::new(),
            appended: vec![LogRow { position, kind: "create", instance: None, events: vec![1], answer: Some(vec![7]) }],
            processed_to: position,
            next_key: self.ownership.next_key,
            now: NOW,
            changes,
            wake: false,
        }
    }

    pub(super) async fn commit(&mut self, changes: Changes) {
        self.try_commit(changes).await.expect("the owner may commit");
    }

    pub(super) async fn try_commit(&mut self, changes: Changes) -> Result<(), CommitError> {
        self.store.commit(self.tick(changes)).await?;
        self.ownership.tail += 1;
        self.ownership.processed_to = self.ownership.tail;
        Ok(())
    }
}
