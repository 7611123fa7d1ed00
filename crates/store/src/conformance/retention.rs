//! Finished instances go, with all that belongs to them, and nothing else does.

use std::sync::Arc;

use engine::{ElementKey, InstanceKey};

use super::owner::{OTHER, Owner, PARTITION};
use super::rows;
use crate::query::{Entity, Query, Tenants};
use crate::retention::{FinishedAfter, Purged};
use crate::row::{
    Availability, Element, ElementState, EvaluatedDecision, EvaluationOrigin, Incident, Instance, InstanceState, Job,
    Subscription, SubscriptionState, Timer, TimerState, UserTask, UserTaskState,
};
use crate::{Changes, Store};

/// One row of each that belongs to an instance, with the tag and the candidate that searches do not show, and the instance itself.
const ROWS: usize = 12;

const SHOWN: [Entity; 10] = [
    Entity::Instances,
    Entity::Elements,
    Entity::Variables,
    Entity::Jobs,
    Entity::Incidents,
    Entity::Timers,
    Entity::MessageSubscriptions,
    Entity::MessageCorrelations,
    Entity::UserTasks,
    Entity::EvaluatedDecisions,
];

fn key(n: u64) -> u64 {
    rows::key(PARTITION, n)
}

/// An instance with the n-th key, and a hundred keys after it for what belongs to it.
fn instance(n: u64, ended: Option<i64>) -> Instance {
    let state = if ended.is_some() { InstanceState::Completed } else { InstanceState::Active };
    Instance { state, ended, tags: vec!["a".into()], ..rows::instance(key(n), key(1)) }
}

fn called(n: u64, by: &Instance, ended: Option<i64>) -> Instance {
    Instance { parent: Some((by.key, ElementKey(by.key.0 + 1))), root: by.root, depth: by.depth + 1, ..instance(n, ended) }
}

/// One of everything.
fn add(changes: &mut Changes, instance: &Instance) {
    let at = instance.ended.unwrap_or(1);
    let n = |n: u64| instance.key.0 + n;
    let task = Element { state: ElementState::Completed, ended: Some(at), ..rows::element(n(1), instance) };
    let subscription = Subscription { state: SubscriptionState::Closed, updated: at, ..rows::subscription(n(5), &task, "m") };
    let requirements = super::decisions::requirements_of_one(key(50), "rules");
    let origin = EvaluationOrigin { instance: instance.key, definition: instance.definition, element_instance: task.key };
    changes.variables_new.push(rows::variable(n(2), instance, "v", "1"));
    changes.jobs_new.push(Job { availability: Availability::Done, ended: Some(at), ..rows::job(n(3), &task) });
    changes.incidents_new.push(Incident { resolved: Some(at), ..rows::incident(n(4), &task) });
    changes.correlations_new.push(rows::correlation(n(6), key(60), &subscription, instance));
    changes.subscriptions_new.push(subscription);
    changes.timers_new.push(Timer { state: TimerState::Fired, ended: Some(at), ..rows::timer(n(7), &task, 1) });
    let done = UserTask { state: UserTaskState::Completed, ended: Some(at), ..rows::user_task(n(8), &task) };
    changes.user_tasks_new.push(UserTask { candidate_groups: vec!["g".into()], candidate_users: Vec::new(), ..done });
    let evaluated = EvaluatedDecision { origin: Some(origin), ..rows::evaluated_decision(n(9), &requirements) };
    changes.evaluated_decisions_new.push(evaluated);
    changes.elements_new.push(task);
    changes.instances_new.push(instance.clone());
}

async fn filled(store: &Arc<dyn Store>, instances: &[Instance]) -> Owner {
    let mut owner = Owner::of(store).await;
    let mut changes = Changes { definitions_new: vec![rows::definition(key(1), "p", 1)], ..Changes::default() };
    changes.requirements_new.push(super::decisions::requirements_of_one(key(50), "rules"));
    instances.iter().for_each(|instance| add(&mut changes, instance));
    owner.commit(changes).await;
    owner
}

async fn purge(owner: &Owner, instances: &[&Instance], rows_max: usize) -> Purged {
    let keys: Vec<InstanceKey> = instances.iter().map(|instance| instance.key).collect();
    owner.store.purge_instances(owner.ownership.fence, &keys, rows_max).await.unwrap().expect("it owns the partition")
}

/// How many of each there are, those a search shows.
async fn counts(store: &Arc<dyn Store>) -> Vec<u64> {
    let mut counts = Vec::new();
    for entity in SHOWN {
        counts.push(store.search(&Query::of(entity, Tenants::Everything)).await.unwrap().total);
    }
    counts
}

async fn keys_after(store: &Arc<dyn Store>, after: FinishedAfter, before: i64, limit: usize) -> Vec<InstanceKey> {
    store.finished(PARTITION, after, before, limit).await.unwrap().into_iter().map(|one| one.key).collect()
}

pub(super) async fn finished_instances_come_by_their_end(store: Arc<dyn Store>) {
    let (late, early, same) = (instance(100, Some(30)), instance(200, Some(10)), instance(300, Some(10)));
    let child = called(400, &late, Some(20));
    filled(&store, &[late.clone(), early.clone(), same.clone(), child.clone(), instance(500, None)]).await;
    let all = [early.key, same.key, child.key, late.key];
    assert_eq!(keys_after(&store, FinishedAfter::START, 31, 10).await, all);
    assert_eq!(keys_after(&store, FinishedAfter::START, 30, 10).await, all[..3]);
    assert_eq!(keys_after(&store, FinishedAfter { ended: 10, key: early.key }, 31, 2).await, all[1..3]);
    let first = &store.finished(PARTITION, FinishedAfter::START, 31, 3).await.unwrap();
    assert_eq!(first.iter().map(|one| one.is_called).collect::<Vec<_>>(), [false, false, true]);
    assert_eq!((&*first[0].process_id, &*first[0].tenant, first[0].ended), ("p", rows::TENANT, 10));
    assert_eq!(store.finished(OTHER, FinishedAfter::START, 31, 10).await.unwrap(), []);
}

pub(super) async fn an_instance_goes_with_all_that_belongs_to_it(store: Arc<dyn Store>) {
    let (gone, stays, runs) = (instance(100, Some(10)), instance(200, Some(10)), instance(300, None));
    let owner = filled(&store, &[gone.clone(), stays, runs]).await;
    let before = counts(&store).await;
    let purged = purge(&owner, &[&gone], 1_000).await;
    assert_eq!((purged.instances, purged.roots), (1, 1));
    assert!(!purged.is_cut);
    let left: Vec<u64> = before.iter().map(|count| count - 1).collect();
    assert_eq!(counts(&store).await, left, "one of each: {SHOWN:?}");
    // The rows no search shows would be orphans: a second time there is nothing.
    assert_eq!(purge(&owner, &[&gone], 1_000).await.rows, 0);
}

/// What is left after any step is found again: the instance stays until the last of it has gone.
pub(super) async fn a_step_ends_where_its_rows_do(store: Arc<dyn Store>) {
    let (first, second) = (instance(100, Some(10)), instance(200, Some(11)));
    let owner = filled(&store, &[first.clone(), second.clone()]).await;
    let mut steps = 0;
    loop {
        let purged = purge(&owner, &[&first, &second], 3).await;
        assert!(purged.rows <= 2 * 3 + 1, "{purged:?}");
        steps += 1;
        let left = counts(&store).await;
        let instances = left[0];
        assert!(left.iter().all(|count| *count <= instances), "no row without its instance: {left:?}");
        if !purged.is_cut {
            break;
        }
        assert!(steps < 4 * ROWS, "every step removes something");
    }
    assert_eq!(counts(&store).await, [0; SHOWN.len()]);
    assert!(3 < steps, "{steps} steps");
}

pub(super) async fn what_was_called_goes_with_who_called_it(store: Arc<dyn Store>) {
    let root = instance(100, Some(30));
    let child = called(200, &root, Some(20));
    let grandchild = called(300, &child, Some(10));
    let other = instance(400, Some(10));
    let owner = filled(&store, &[root.clone(), child.clone(), grandchild, other.clone()]).await;
    // One row at a time: the youngest go first, so nobody is left whose caller has gone.
    for _ in 0..4 * ROWS {
        if !purge(&owner, &[&root], 1).await.is_cut {
            break;
        }
        let left = keys_after(&store, FinishedAfter::START, 100, 10).await;
        assert!(left.contains(&root.key) || left == [other.key], "{left:?}");
        assert!(left.len() <= 2 || left.contains(&child.key), "{left:?}");
    }
    assert_eq!(keys_after(&store, FinishedAfter::START, 100, 10).await, [other.key]);
    assert_eq!(counts(&store).await, [1; SHOWN.len()]);
}

pub(super) async fn a_weight_is_that_of_all_it_called(store: Arc<dyn Store>) {
    let root = instance(100, Some(30));
    let child = called(200, &root, Some(20));
    let grandchild = called(300, &child, Some(10));
    let other = instance(400, None);
    let owner = filled(&store, &[root.clone(), child, grandchild, other.clone()]).await;
    let keys = [other.key, root.key, InstanceKey(key(999))];
    let weights = |limit| store.weights(PARTITION, &keys, limit);
    // An element instance and a variable of each.
    assert_eq!(weights(10).await.unwrap(), [2, 6, 0]);
    assert_eq!(weights(2).await.unwrap(), [2, 4, 0]);
    purge(&owner, &[&root], 1_000).await;
    assert_eq!(weights(10).await.unwrap(), [2, 0, 0]);
}

/// One that was cancelled may have called another that listeners still hold.
pub(super) async fn what_runs_stays(store: Arc<dyn Store>) {
    let root = instance(100, Some(30));
    let lingering = called(200, &root, None);
    let owner = filled(&store, &[root.clone(), lingering]).await;
    let before = counts(&store).await;
    assert_eq!(purge(&owner, &[&root], 1_000).await, Purged::default());
    assert_eq!(counts(&store).await, before);
}

pub(super) async fn a_deposed_owner_removes_nothing(store: Arc<dyn Store>) {
    let old = instance(100, Some(30));
    let owner = filled(&store, std::slice::from_ref(&old)).await;
    let newer = Owner::of(&store).await;
    let fence = owner.ownership.fence;
    assert_eq!(store.purge_instances(fence, &[old.key], 1_000).await.unwrap(), None);
    assert_eq!(store.purge(fence, crate::retention::Aged::Timers, 1_000, 10).await.unwrap(), None);
    assert_eq!(counts(&store).await, [1; SHOWN.len()]);
    assert_eq!(purge(&newer, &[&old], 1_000).await.instances, 1);
}
