//! Cleaning up.

use std::sync::Arc;

use engine::EvaluationKey;

use super::owner::{NOW, OTHER, Owner, PARTITION};
use super::{inbox, rows};
use crate::query::{Entity, Query, Tenants};
use crate::retention::Aged;
use crate::row::{
    Availability, Correlation, EvaluatedDecision, EvaluationOrigin, Job, JobState, Subscription, SubscriptionState, Timer,
    TimerState, Unique,
};
use crate::{AnswerRow, Changes, Commit, Store, Wanted};

pub(super) async fn first_answers_are_purged_in_small_batches(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let rows: Vec<_> = (0..10).map(|n| rows::idempotent("t", &format!("k{n}"), 100 + n)).collect();
    owner.commit(Changes { idempotent_new: rows, ..Changes::default() }).await;
    assert_eq!(purged(&owner, Aged::FirstAnswers, 99, 100).await, 0);
    assert_eq!(store.count_aged(PARTITION, Aged::FirstAnswers, 106, 100).await.unwrap(), 7);
    assert_eq!(store.count_aged(PARTITION, Aged::FirstAnswers, 106, 5).await.unwrap(), 5);
    for went in [4, 3, 0] {
        assert_eq!(purged(&owner, Aged::FirstAnswers, 106, 4).await, went);
    }
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
    let commit = Commit { inbox_to: 10, answers: (1..=10).map(answer).collect(), ..owner.tick(Changes::default()) };
    store.commit(commit).await.unwrap();
    assert_eq!(purged(&owner, Aged::Answers, 100, 100).await, 0);
    assert_eq!(purged(&owner, Aged::Answers, 102, 1).await, 1);
    let left = store.statuses(PARTITION, &(1..=10).collect::<Vec<_>>()).await.unwrap();
    assert_eq!(left.iter().map(|one| one.position).max(), Some(9), "the first to expire went first");
    for went in [4, 1, 0] {
        assert_eq!(purged(&owner, Aged::Answers, 106, 4).await, went);
    }
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
    for (what, entity) in [
        (Aged::Timers, Entity::Timers),
        (Aged::Subscriptions, Entity::MessageSubscriptions),
        (Aged::Correlations, Entity::MessageCorrelations),
    ] {
        let before = total(&store, entity).await;
        assert_eq!(store.count_aged(PARTITION, what, 107, 100).await.unwrap(), 7, "{what:?}");
        for (before, went) in [(100, 0), (107, 4), (107, 3), (107, 0)] {
            assert_eq!(purged(&owner, what, before, 4).await, went, "{what:?} before {before}");
        }
        assert_eq!(total(&store, entity).await, before - 7, "{what:?}");
        let other = Owner::of_partition(&store, OTHER).await;
        assert_eq!(purged(&other, what, 1_000, 100).await, 0, "each partition its own");
        assert_eq!(purged(&owner, what, 1_000, 100).await, 3, "{what:?}");
    }
}

/// In the order of positions, so that what is left has no gap; the first that is too young ends it.
pub(super) async fn the_log_is_purged_from_its_beginning(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    for _ in 0..5 {
        owner.commit(Changes::default()).await;
    }
    if store.count_aged(PARTITION, Aged::Log, NOW + 1, 100).await.unwrap() == 0 {
        // One in memory keeps no log.
        return;
    }
    assert_eq!(purged(&owner, Aged::Log, NOW, 100).await, 0);
    for went in [2, 2, 1, 0] {
        assert_eq!(purged(&owner, Aged::Log, NOW + 1, 2).await, went);
    }
    owner.commit(Changes::default()).await;
    assert_eq!(store.count_aged(PARTITION, Aged::Log, NOW + 1, 100).await.unwrap(), 1, "positions go on");
}

pub(super) async fn executions_and_evaluations_of_no_process_are_purged(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let key = |n| rows::key(PARTITION, n);
    let over = |n, ended, until: Option<i64>| {
        let mut job = rows::execution(key(n));
        job.availability = Availability::Done;
        job.state = JobState::Completed;
        job.ended = Some(ended);
        let unique = until.map(|until| Unique { key: "u".into(), until: Some(until) });
        job.execution.as_mut().unwrap().unique = unique;
        job
    };
    let instance = rows::instance(key(2), key(1));
    let task = rows::element(key(3), &instance);
    let mut changes = Changes { definitions_new: vec![rows::definition(key(1), "p", 1)], ..Changes::default() };
    changes.executions_new = vec![over(10, 100, None), over(11, 101, Some(500)), over(12, 300, None), rows::execution(key(13))];
    let of_process = Job { availability: Availability::Done, ended: Some(50), ..rows::job(key(14), &task) };
    changes.jobs_new = vec![of_process];
    changes.instances_new = vec![instance.clone()];
    changes.elements_new = vec![task.clone()];
    owner.commit(changes).await;
    assert_eq!(purged(&owner, Aged::Executions, 200, 100).await, 1);
    assert_eq!(total(&store, Entity::Executions).await, 3);
    assert_eq!(purged(&owner, Aged::Executions, 501, 100).await, 2, "its unique key is free by then");
    assert_eq!(total(&store, Entity::Executions).await, 1, "what waits stays");
    assert_eq!(total(&store, Entity::Jobs).await, 1, "that of a process goes with it");
    let alone = rows::evaluated_decision(key(20), &super::decisions::requirements_of_one(key(30), "rules"));
    let evaluated = alone.evaluated;
    let of_instance = EvaluatedDecision {
        evaluation: EvaluationKey(key(21)),
        origin: Some(EvaluationOrigin { instance: instance.key, definition: instance.definition, element_instance: task.key }),
        ..alone.clone()
    };
    owner.commit(Changes { evaluated_decisions_new: vec![alone, of_instance], ..Changes::default() }).await;
    assert_eq!(purged(&owner, Aged::Evaluations, evaluated, 100).await, 0);
    assert_eq!(purged(&owner, Aged::Evaluations, evaluated + 1, 100).await, 1);
}

async fn purged(owner: &Owner, what: Aged, before: i64, limit: usize) -> usize {
    owner.store.purge(owner.ownership.fence, what, before, limit).await.unwrap().expect("it owns the partition")
}

async fn total(store: &Arc<dyn Store>, entity: Entity) -> u64 {
    store.search(&Query::of(entity, Tenants::Everything)).await.unwrap().total
}
