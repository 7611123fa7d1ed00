//! Cleaning up.

use std::sync::Arc;

use super::owner::{OTHER, Owner, PARTITION};
use super::{inbox, rows};
use crate::query::{Entity, Query, Tenants};
use crate::row::{Correlation, Subscription, SubscriptionState, Timer, TimerState};
use crate::{AnswerRow, Changes, Commit, Store, Wanted};

pub(super) async fn first_answers_are_purged_in_small_batches(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let rows: Vec<_> = (0..10).map(|n| rows::idempotent("t", &format!("k{n}"), 100 + n)).collect();
    owner.commit(Changes { idempotent_new: rows, ..Changes::default() }).await;
    assert_eq!(store.purge_answers(PARTITION, 99, 100).await.unwrap(), 0);
    assert_eq!(store.purge_answers(PARTITION, 106, 4).await.unwrap(), 4);
    assert_eq!(store.purge_answers(PARTITION, 106, 4).await.unwrap(), 3);
    assert_eq!(store.purge_answers(PARTITION, 106, 4).await.unwrap(), 0);
    let wanted = Wanted { idempotent: (0..10).map(|n| ("t".into(), format!("k{n}").into())).collect(), ..Wanted::default() };
    assert_eq!(store.load(PARTITION, &wanted, 0).await.unwrap().idempotent.len(), 3);
}

pub(super) async fn answers_are_purged_in_small_batches(store: Arc<dyn Store>) {
    store.append(PARTITION, (1..=10).map(inbox::request).collect(), inbox::ROOM).await.unwrap();
    let owner = Owner::of(&store).await;
    // The last to expire was the first to be answered.
    let answer = |position: u64| {
        let expires = 111 - position as i64;
        AnswerRow { position, kind: "cancel", answer: vec![1], at: 1, expires }
    };
    let changes = Changes { idempotent_new: vec![rows::idempotent("t", "k", 106)], ..Changes::default() };
    let commit = Commit { inbox_to: 10, answers: (1..=10).map(answer).collect(), ..owner.tick(changes) };
    store.commit(commit).await.unwrap();
    assert_eq!(store.purge_answers(PARTITION, 100, 100).await.unwrap(), 0);
    assert_eq!(store.purge_answers(PARTITION, 106, 4).await.unwrap(), 5, "as many of each");
    assert_eq!(store.purge_answers(PARTITION, 106, 4).await.unwrap(), 2);
    assert_eq!(store.purge_answers(PARTITION, 106, 4).await.unwrap(), 0);
    let left = store.statuses(PARTITION, &(1..=10).collect::<Vec<_>>()).await.unwrap();
    assert_eq!(left.iter().map(|one| one.position).collect::<Vec<_>>(), [1, 2, 3, 4]);
}

/// What waits stays, however old it is.
pub(super) async fn ended_waits_are_purged_in_small_batches(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let key = |n| rows::key(PARTITION, n);
    let instance = rows::instance(key(2), key(1));
    let task = rows::element(key(3), &instance);
    let mut changes = Changes { definitions_new: vec![rows::definition(key(1), "p", 1)], ..Changes::default() };
    // The last to end was the first to begin.
    for n in 0..10 {
        let (at, fresh) = (109 - n as i64, rows::timer(key(10 + n), &task, 1));
        let state = if n.is_multiple_of(2) { TimerState::Fired } else { TimerState::Cancelled };
        changes.timers_new.push(Timer { state, ended: Some(at), ..fresh });
        let fresh = rows::subscription(key(30 + n), &task, "m");
        let state = if n.is_multiple_of(2) { SubscriptionState::Correlated } else { SubscriptionState::Closed };
        changes.correlations_new.push(Correlation { at, ..rows::correlation(key(50 + n), key(9), &fresh, &instance) });
        changes.subscriptions_new.push(Subscription { state, updated: at, ..fresh });
    }
    changes.timers_new.push(rows::timer(key(20), &task, 1));
    changes.subscriptions_new.push(Subscription { updated: 1, ..rows::subscription(key(40), &task, "m") });
    owner.commit(changes).await;
    assert_eq!(store.purge_waits(PARTITION, 100, 100).await.unwrap(), 0);
    assert_eq!(store.purge_waits(PARTITION, 107, 4).await.unwrap(), 12, "as many of each");
    assert_eq!(store.purge_waits(PARTITION, 107, 4).await.unwrap(), 9);
    assert_eq!(store.purge_waits(PARTITION, 107, 4).await.unwrap(), 0);
    for (entity, left) in [(Entity::Timers, 4), (Entity::MessageSubscriptions, 4), (Entity::MessageCorrelations, 3)] {
        assert_eq!(store.search(&Query::of(entity, Tenants::Everything)).await.unwrap().total, left, "{entity:?}");
    }
    assert_eq!(store.purge_waits(OTHER, 1_000, 100).await.unwrap(), 0, "each partition its own");
    assert_eq!(store.purge_waits(PARTITION, 1_000, 100).await.unwrap(), 9);
}
