//! Operations over many, their items, and what deleting instances leaves.

use std::sync::Arc;

use engine::{InstanceKey, Phase};

use super::owner::{Owner, PARTITION};
use super::rows;
use crate::query::{Entity, Field, Filter, Items, Op, Query, Scalar, Tenants};
use crate::row::{Batch, BatchState, InstanceState, ItemState};
use crate::{BatchItemChange, Changes, Due, DueKind, InstanceChange, Store};

pub(super) async fn they_come_and_go_on(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let instance = rows::instance(rows::key(PARTITION, 10), rows::key(PARTITION, 1));
    let batch = Batch { due: Some(5), ..rows::batch(rows::key(PARTITION, 20)) };
    let other = rows::batch(rows::key(PARTITION, 21));
    let items: Vec<_> = (0..5).map(|n| rows::batch_item(rows::key(PARTITION, 30 + n), &batch, &instance)).collect();
    let foreign = rows::batch_item(rows::key(PARTITION, 40), &other, &instance);
    let all: Vec<_> = items.iter().chain([&foreign]).cloned().collect();
    let new = Changes { batches_put: vec![batch.clone(), other.clone()], batch_items_new: all, ..Changes::default() };
    owner.commit(new).await;
    assert_eq!(store.batch_operation(batch.key).await.unwrap(), Some(batch.clone()));
    assert_eq!(store.batch_operation(instance.key.0).await.unwrap(), None);
    assert_eq!(store.due(PARTITION, (0, 0), 10).await.unwrap(), [Due { at: 5, key: batch.key, what: DueKind::Batch }]);
    assert_eq!(store.due(PARTITION, (5, batch.key), 10).await.unwrap(), []);
    assert_eq!(store.open_items(batch.key, 2).await.unwrap(), items[..2]);
    let change = |n: usize, state, error: Option<&str>| {
        let (key, error) = (items[n].key, error.map(Into::into));
        BatchItemChange { key, state, processed: Some(7), error }
    };
    let further = Batch {
        state: BatchState::Active,
        started: Some(6),
        ended: Some(9),
        due: None,
        total: 5,
        completed: 1,
        failed: 1,
        after: None,
        error: Some("no".into()),
        ..batch.clone()
    };
    let changed = Changes {
        batches_put: vec![further.clone()],
        batch_items_changed: vec![change(0, ItemState::Completed, None), change(2, ItemState::Failed, Some("it\'s gone"))],
        ..Changes::default()
    };
    owner.commit(changed).await;
    assert_eq!(store.batch_operation(batch.key).await.unwrap(), Some(further));
    assert_eq!(store.due(PARTITION, (0, 0), 10).await.unwrap(), []);
    let open: Vec<u64> = store.open_items(batch.key, 10).await.unwrap().iter().map(|item| item.key).collect();
    assert_eq!(open, [items[1].key, items[3].key, items[4].key]);
    let failed = Filter::Is(Field::ItemState, Op::Eq(Scalar::Text("FAILED".to_owned())));
    match store.search(&Query { filter: failed, ..Query::of(Entity::BatchItems, Tenants::Everything) }).await.unwrap().items {
        Items::BatchItems(found) => {
            let shown: Vec<_> = found.iter().map(|item| (item.key, item.processed, item.error.as_deref())).collect();
            assert_eq!(shown, [(items[2].key, Some(7), Some("it\'s gone"))]);
        }
        other => panic!("{other:?}"),
    }
    // A key is compared with a pattern as it is written.
    let key = batch.key.to_string();
    for (pattern, found) in [(format!("?{}", &key[1..]), 5), (format!("*?{key}"), 0)] {
        let filter = Filter::Is(Field::BatchKey, Op::Like(pattern));
        let query = Query { filter, ..Query::of(Entity::BatchItems, Tenants::Everything) };
        assert_eq!(store.search(&query).await.unwrap().total, found);
    }
}

async fn count(store: &Arc<dyn Store>, entity: Entity) -> u64 {
    store.search(&Query::of(entity, Tenants::Everything)).await.unwrap().total
}

/// An instance with a row of every kind that outlives it.
fn everything(number: u64, parent: Option<InstanceKey>) -> Changes {
    let key = |n: u64| rows::key(PARTITION, number * 100 + n);
    let mut instance = rows::instance(key(0), rows::key(PARTITION, 1));
    instance.tags = vec!["red".into(), "blue".into()];
    instance.parent = parent.map(|parent| (parent, engine::ElementKey(parent.0 + 1)));
    let task = rows::element(key(1), &instance);
    let mut user_task = rows::user_task(key(7), &task);
    user_task.candidate_groups = vec!["sales".into()];
    let mut requirements = rows::requirements(rows::key(PARTITION, 2), "d", 1);
    requirements.decisions = vec![rows::decision(rows::key(PARTITION, 3), "d", 1)];
    let mut evaluated = rows::evaluated_decision(key(8), &requirements);
    evaluated.origin = Some(crate::row::EvaluationOrigin {
        instance: instance.key,
        definition: instance.definition,
        element_instance: task.key,
    });
    let subscription = rows::subscription(key(6), &task, "paid");
    Changes {
        variables_new: vec![rows::variable(key(2), &instance, "x", "1")],
        jobs_new: vec![rows::job(key(3), &task)],
        incidents_new: vec![rows::incident(key(4), &task)],
        timers_new: vec![rows::timer(key(5), &task, 8)],
        correlations_new: vec![rows::correlation(key(9), key(10), &subscription, &instance)],
        subscriptions_new: vec![subscription],
        user_tasks_new: vec![user_task],
        evaluated_decisions_new: vec![evaluated],
        elements_new: vec![task],
        instances_new: vec![instance],
        ..Changes::default()
    }
}

const KINDS: [Entity; 10] = [
    Entity::Instances,
    Entity::Elements,
    Entity::Variables,
    Entity::Jobs,
    Entity::Incidents,
    Entity::Timers,
    Entity::MessageSubscriptions,
    Entity::UserTasks,
    Entity::EvaluatedDecisions,
    Entity::MessageCorrelations,
];

/// What belongs to instances, and they themselves.
const _: () = assert!(KINDS.len() == crate::retention::BELONGING.len() + 1);

pub(super) async fn finished_instances_leave_no_trace(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    owner
        .commit(Changes { definitions_new: vec![rows::definition(rows::key(PARTITION, 1), "p", 1)], ..Changes::default() })
        .await;
    let root = InstanceKey(rows::key(PARTITION, 100));
    // It called two, of which one has called another; the last one is nobody's.
    let called = InstanceKey(rows::key(PARTITION, 200));
    for (number, parent) in [(1, None), (2, Some(root)), (3, Some(root)), (4, Some(called)), (5, None)] {
        owner.commit(everything(number, parent)).await;
    }
    let end = |number: u64| InstanceChange {
        key: InstanceKey(rows::key(PARTITION, number * 100)),
        state: InstanceState::Completed,
        phase: Phase::Leaving,
        ended: Some(9),
    };
    // The third still runs.
    let ended = [1, 2, 4, 5].map(end).to_vec();
    owner.commit(Changes { instances_deleted: vec![root], ..Changes::default() }).await;
    for kind in KINDS {
        assert_eq!(count(&store, kind).await, 5, "{kind:?}: what runs stays");
    }
    owner.commit(Changes { instances_changed: ended, ..Changes::default() }).await;
    owner.commit(Changes { instances_deleted: vec![root], ..Changes::default() }).await;
    for kind in KINDS {
        assert_eq!(count(&store, kind).await, 2, "{kind:?}: what runs stays, and what is not its own");
    }
    let tagged = Query { filter: Filter::HasTag("red".into()), ..Query::of(Entity::Instances, Tenants::Everything) };
    assert_eq!(store.search(&tagged).await.unwrap().total, 2);
    owner.commit(Changes { instances_deleted: vec![root], ..Changes::default() }).await;
    assert_eq!(count(&store, Entity::Instances).await, 2, "once more is nothing");
}
