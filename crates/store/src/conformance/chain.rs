//! Commits follow one another: each goes on where the one before ended, or is not written.

use std::sync::Arc;

use super::owner::{Owner, PARTITION};
use super::{inbox, rows};
use crate::query::{Entity, Query, Tenants};
use crate::{Changes, Commit, CommitError, Store};

fn starting(n: u64) -> Changes {
    let definition = rows::definition(rows::key(PARTITION, n), &format!("p{n}"), 1);
    let instance = rows::instance(rows::key(PARTITION, 1_000 + n), definition.key.0);
    Changes { definitions_new: vec![definition], instances_new: vec![instance], ..Changes::default() }
}

async fn instances(store: &Arc<dyn Store>) -> u64 {
    store.search(&Query::of(Entity::Instances, Tenants::Everything)).await.unwrap().total
}

fn assert_out_of_order(outcome: Result<i64, CommitError>, expected: u64) {
    match outcome {
        Err(CommitError::OutOfOrder { next_key }) => assert_eq!(next_key, expected),
        other => panic!("expected to be out of order, got {other:?}"),
    }
}

pub(super) async fn a_commit_is_written_once(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let first = owner.tick(starting(1));
    store.commit(first.clone()).await.unwrap();
    owner.went_through(&first);
    // Sent again, because the answer was lost.
    assert_out_of_order(store.commit(first.clone()).await, first.next_key);
    assert_eq!(instances(&store).await, 1);
    owner.commit(starting(2)).await;
    assert_eq!(instances(&store).await, 2);
}

pub(super) async fn a_commit_that_skips_one_writes_nothing(store: Arc<dyn Store>) {
    store.append(PARTITION, vec![inbox::request(1)], inbox::ROOM).await.unwrap();
    let mut owner = Owner::of(&store).await;
    let lost = owner.tick(starting(1));
    owner.went_through(&lost);
    let next = Commit { inbox_to: 1, ..owner.tick(starting(2)) };
    assert_out_of_order(store.commit(next.clone()).await, lost.first_key);
    let status = &store.partitions().await.unwrap()[0];
    assert_eq!((status.position, status.inbox_to, instances(&store).await), (0, 0, 0));
    assert_eq!(store.inbox(PARTITION, 0, 10, 100).await.unwrap().len(), 1);
    store.commit(lost).await.unwrap();
    store.commit(next).await.unwrap();
    assert_eq!(instances(&store).await, 2);
}

/// The next is sent before the one before is answered.
pub(super) async fn commits_in_flight_are_written_in_order(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    for round in 0..6u64 {
        let mut next = |n: u64| {
            let tick = owner.tick(starting(round * 4 + n));
            owner.went_through(&tick);
            store.commit(tick)
        };
        let (first, second, third, fourth) = tokio::join!(next(0), next(1), next(2), next(3));
        for outcome in [first, second, third, fourth] {
            outcome.expect("each comes after the one before");
        }
    }
    let again = Owner::of(&store).await.ownership;
    assert_eq!((again.position, again.next_key), (owner.ownership.position, owner.ownership.next_key));
    assert_eq!(instances(&store).await, 24);
}

/// If one in flight is not written, none behind it is, and the owner goes on from where the last one ended.
pub(super) async fn what_follows_a_failed_commit_is_refused(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    owner.commit(starting(1)).await;
    let mut next = |changes| {
        let tick = owner.tick(changes);
        owner.went_through(&tick);
        tick
    };
    let (good, lost, behind) = (next(starting(2)), next(starting(3)), next(starting(4)));
    // Anything that makes it fail.
    let lost = Commit { first_key: lost.first_key + 1, ..lost };
    let (first, second, third) = tokio::join!(store.commit(good.clone()), store.commit(lost), store.commit(behind));
    first.expect("nothing is wrong with the first");
    assert_out_of_order(second, good.next_key);
    assert_out_of_order(third, good.next_key);
    assert_eq!(instances(&store).await, 2);
    let mut owner = Owner::of(&store).await;
    assert_eq!(owner.ownership.next_key, good.next_key);
    owner.commit(starting(5)).await;
    assert_eq!(instances(&store).await, 3);
}

/// The same where the store itself fails in the middle: for those that cannot write a row twice.
pub async fn what_follows_one_that_cannot_be_written_is_refused(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    owner.commit(starting(1)).await;
    let mut next = |changes| {
        let tick = owner.tick(changes);
        owner.went_through(&tick);
        tick
    };
    let (good, lost, behind) = (next(starting(2)), next(starting(1)), next(starting(3)));
    let (first, second, third) = tokio::join!(store.commit(good.clone()), store.commit(lost), store.commit(behind));
    first.expect("nothing is wrong with the first");
    assert!(matches!(second, Err(CommitError::Store(_))), "{second:?}");
    assert_out_of_order(third, good.next_key);
    assert_eq!(instances(&store).await, 2);
}
