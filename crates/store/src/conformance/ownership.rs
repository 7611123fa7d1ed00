//! One owner at a time, and a deposed one cannot write.

use std::sync::Arc;
use std::time::Duration;

use engine::PartitionId;

use super::owner::{LONG, Owner, PARTITION};
use super::{inbox, rows};
use crate::query::{Entity, Query, Tenants};
use crate::{Changes, Commit, CommitError, Fence, Store};

pub(super) async fn the_first_to_ask_owns(store: Arc<dyn Store>) {
    assert!(store.partitions().await.unwrap().is_empty(), "nobody has been here");
    let before = store.now().await.unwrap();
    let ownership = store.acquire(PARTITION, "a", LONG).await.unwrap().expect("nobody ever had it");
    assert_eq!(ownership.fence.partition, PARTITION);
    assert_eq!((ownership.position, ownership.inbox_to, ownership.inbox_tail), (0, 0, 0));
    assert_eq!(ownership.next_key, PARTITION.first_key());
    assert!(before <= ownership.now, "the database's clock");
    let status = &store.partitions().await.unwrap()[0];
    assert_eq!(status.partition, PARTITION);
    assert_eq!(status.owner.as_deref(), Some("a"));
    assert_eq!(status.epoch, ownership.fence.epoch);
}

pub(super) async fn a_lease_keeps_others_out(store: Arc<dyn Store>) {
    let ownership = store.acquire(PARTITION, "a", LONG).await.unwrap().unwrap();
    assert_eq!(store.acquire(PARTITION, "b", LONG).await.unwrap(), None);
    assert!(store.renew(ownership.fence, LONG).await.unwrap().is_some());
    assert_eq!(store.acquire(PARTITION, "b", LONG).await.unwrap(), None);
    assert_eq!(store.partitions().await.unwrap()[0].owner.as_deref(), Some("a"));
}

pub(super) async fn the_same_owner_comes_back_at_once(store: Arc<dyn Store>) {
    let first = store.acquire(PARTITION, "a", LONG).await.unwrap().unwrap();
    let second = store.acquire(PARTITION, "a", LONG).await.unwrap().expect("it had it before");
    assert!(first.fence.epoch < second.fence.epoch, "a new epoch begins");
    assert!(store.renew(first.fence, LONG).await.unwrap().is_none());
    assert!(store.renew(second.fence, LONG).await.unwrap().is_some());
}

pub(super) async fn a_lapsed_lease_is_free(store: Arc<dyn Store>) {
    let first = store.acquire(PARTITION, "a", Duration::ZERO).await.unwrap().unwrap();
    assert_eq!(store.partitions().await.unwrap()[0].owner, None);
    let second = store.acquire(PARTITION, "b", LONG).await.unwrap().expect("the lease has run out");
    assert!(first.fence.epoch < second.fence.epoch);
    assert!(store.renew(first.fence, LONG).await.unwrap().is_none());
    // A lease that ran out can still be renewed while nobody has taken it.
    assert!(store.renew(second.fence, Duration::ZERO).await.unwrap().is_some());
    assert!(store.renew(second.fence, LONG).await.unwrap().is_some());
    assert_eq!(store.acquire(PARTITION, "a", LONG).await.unwrap(), None);
}

pub(super) async fn released_is_free(store: Arc<dyn Store>) {
    let first = store.acquire(PARTITION, "a", LONG).await.unwrap().unwrap();
    store.release(first.fence).await.unwrap();
    assert_eq!(store.partitions().await.unwrap()[0].owner, None);
    let second = store.acquire(PARTITION, "b", LONG).await.unwrap().expect("it was given back");
    // Giving back what one no longer has changes nothing.
    store.release(first.fence).await.unwrap();
    assert_eq!(store.acquire(PARTITION, "a", LONG).await.unwrap(), None);
    assert!(store.renew(second.fence, LONG).await.unwrap().is_some());
}

/// No lease lasts longer than twice what one is taken for now: such a one is from before the database's clock was set back.
pub(super) async fn a_lease_from_a_later_clock_is_free(store: Arc<dyn Store>) {
    let first = store.acquire(PARTITION, "a", LONG).await.unwrap().unwrap();
    assert_eq!(store.acquire(PARTITION, "b", LONG * 2 / 3).await.unwrap(), None, "servers need not be set alike to the second");
    let second = store.acquire(PARTITION, "b", LONG / 1_000).await.unwrap().expect("nobody takes leases of an hour");
    assert!(first.fence.epoch < second.fence.epoch);
    assert!(store.renew(first.fence, LONG).await.unwrap().is_none());
}

pub(super) async fn a_deposed_owner_writes_nothing(store: Arc<dyn Store>) {
    let mut old = Owner::of(&store).await;
    old.commit(Changes::default()).await;
    let new = Owner::of(&store).await;
    let definition = rows::definition(rows::key(PARTITION, 1), "p", 1);
    let instance = rows::instance(rows::key(PARTITION, 2), definition.key.0);
    let changes = Changes { definitions_new: vec![definition], instances_new: vec![instance], ..Changes::default() };
    match old.try_commit(changes).await {
        Err(CommitError::Deposed { epoch }) => assert_eq!(epoch, new.ownership.fence.epoch),
        other => panic!("expected to be deposed, got {other:?}"),
    }
    // Also where both are true, deposed is what matters.
    let out_of_order = Commit { first_key: 5, ..old.tick(Changes::default()) };
    assert!(matches!(store.commit(out_of_order).await, Err(CommitError::Deposed { .. })));
    let unknown = Fence { partition: PartitionId(9), epoch: 1 };
    old.ownership.fence = unknown;
    assert!(matches!(old.try_commit(Changes::default()).await, Err(CommitError::Deposed { epoch: 0 })));
    let status = &store.partitions().await.unwrap()[0];
    assert_eq!((status.position, status.inbox_to), (1, 0));
    assert_eq!(store.search(&Query::of(Entity::Instances, Tenants::Everything)).await.unwrap().total, 0);
    assert_eq!(store.search(&Query::of(Entity::Definitions, Tenants::Everything)).await.unwrap().total, 0);
}

pub(super) async fn partitions_are_apart(store: Arc<dyn Store>) {
    let other = PartitionId(2);
    let first = store.acquire(PARTITION, "a", LONG).await.unwrap().unwrap();
    let second = store.acquire(other, "b", LONG).await.unwrap().expect("another partition");
    assert_eq!(second.next_key, other.first_key());
    assert_eq!(store.append(other, vec![inbox::request(1)], inbox::ROOM).await.unwrap(), [1]);
    assert!(store.inbox(PARTITION, 0, 10, 100).await.unwrap().is_empty());
    let statuses = store.partitions().await.unwrap();
    let seen: Vec<_> = statuses.iter().map(|one| (one.partition, one.inbox_tail, one.owner.as_deref())).collect();
    assert_eq!(seen, [(PARTITION, 0, Some("a")), (other, 1, Some("b"))]);
    assert!(store.renew(first.fence, LONG).await.unwrap().is_some());
}
