//! Cleaning up what people did: the audit trail, and operations over many.

use std::sync::Arc;

use super::owner::{OTHER, Owner, PARTITION};
use super::rows;
use crate::query::{Entity, Items, Query, Tenants};
use crate::retention::Aged;
use crate::row::{Audit, AuditEntity, Batch, Operation};
use crate::{Changes, Store};

pub(super) async fn the_audit_trail_is_purged_in_small_batches(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    // The last to be written is the oldest.
    let audit = |n: u64| {
        let key = rows::key(PARTITION, 10 + 2 * n);
        Audit::of(key, 109 - n as i64, Operation::ALL[0], AuditEntity::ALL[0], "x".into(), rows::TENANT.into())
    };
    owner.commit(Changes { audit_new: (0..10).map(audit).collect(), ..Changes::default() }).await;
    let other = Owner::of_partition(&store, OTHER).await;
    assert_eq!(purged(&other, Aged::Audit, 1_000, 100).await, 0, "each partition its own");
    assert_eq!(purged(&owner, Aged::Audit, 100, 100).await, 0);
    assert_eq!(store.count_aged(PARTITION, Aged::Audit, 107, 100).await.unwrap(), 7);
    assert_eq!(store.count_aged(PARTITION, Aged::Audit, 107, 5).await.unwrap(), 5);
    assert_eq!(purged(&owner, Aged::Audit, 107, 4).await, 4);
    assert_eq!(audited(&store).await, [104, 105, 106, 107, 108, 109], "the oldest went");
    assert_eq!(purged(&owner, Aged::Audit, 107, 4).await, 3);
    assert_eq!(purged(&owner, Aged::Audit, 107, 4).await, 0);
    assert_eq!(audited(&store).await, [107, 108, 109]);
}

async fn audited(store: &Arc<dyn Store>) -> Vec<i64> {
    match store.search(&Query::of(Entity::Audit, Tenants::Everything)).await.unwrap().items {
        Items::Audit(found) => {
            let mut times: Vec<i64> = found.iter().map(|one| one.at).collect();
            times.sort_unstable();
            times
        }
        other => panic!("{other:?}"),
    }
}

/// Those of the first operation to end first; what goes on stays, with its items.
pub(super) async fn items_of_operations_go_before_their_operations(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let key = |n| rows::key(PARTITION, n);
    let instance = rows::instance(key(2), key(1));
    // The last to end was the first to begin.
    let ends = [Some(300), Some(200), None, Some(100)];
    let batches: Vec<Batch> = (10..).zip(ends).map(|(n, ended)| Batch { ended, ..rows::batch(key(n)) }).collect();
    let items = batches.iter().zip(0..).flat_map(|(batch, n)| (0..3).map(move |item| (20 + 10 * n + item, batch)));
    let items = items.map(|(n, batch)| rows::batch_item(key(n), batch, &instance)).collect();
    owner.commit(Changes { batches_put: batches.clone(), batch_items_new: items, ..Changes::default() }).await;
    let left = async || {
        let mut left = Vec::new();
        for batch in &batches {
            left.push((store.batch_operation(batch.key).await.unwrap().is_some(), open_items(&store, batch).await));
        }
        left
    };
    let other = Owner::of_partition(&store, OTHER).await;
    for what in [Aged::BatchItems, Aged::Batches] {
        assert_eq!(purged(&other, what, 1_000, 100).await, 0, "each partition its own");
        assert_eq!(purged(&owner, what, 100, 100).await, 0);
    }
    assert_eq!(store.count_aged(PARTITION, Aged::BatchItems, 201, 100).await.unwrap(), 6);
    assert_eq!(store.count_aged(PARTITION, Aged::Batches, 201, 100).await.unwrap(), 2, "with items that go before them");
    assert_eq!(purged(&owner, Aged::Batches, 1_000, 100).await, 0, "they have items");
    assert_eq!(purged(&owner, Aged::BatchItems, 1_000, 4).await, 4);
    assert_eq!(left().await, [(true, 3), (true, 2), (true, 3), (true, 0)]);
    assert_eq!(purged(&owner, Aged::Batches, 201, 100).await, 1);
    assert_eq!(purged(&owner, Aged::BatchItems, 1_000, 100).await, 5);
    assert_eq!(purged(&owner, Aged::Batches, 1_000, 1).await, 1);
    assert_eq!(left().await, [(true, 0), (false, 0), (true, 3), (false, 0)], "the first to end went first");
    assert_eq!(purged(&owner, Aged::Batches, 1_000, 100).await, 1);
    assert_eq!(left().await, [(false, 0), (false, 0), (true, 3), (false, 0)]);
}

async fn open_items(store: &Arc<dyn Store>, batch: &Batch) -> usize {
    store.open_items(batch.key, 10).await.unwrap().len()
}

async fn purged(owner: &Owner, what: Aged, before: i64, limit: usize) -> usize {
    owner.store.purge(owner.ownership.fence, what, before, limit).await.unwrap().expect("it owns the partition")
}
