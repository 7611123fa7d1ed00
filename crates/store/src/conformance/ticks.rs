//! A commit writes all its rows, at once.

use std::sync::Arc;

use engine::{InstanceKey, JobKey, Phase, Progress, Wait, WaitKind};
use model::ElementIx;

use super::owner::{Owner, PARTITION};
use super::rows;
use crate::query::{Entity, Items, Query, Tenants};
use crate::row::{Availability, ElementState, InstanceState, Job, JobState, Tokens};
use crate::{
    Changes, Commit, ElementChange, IncidentChange, InstanceChange, LoadedInstance, LogRow, MigratedRow, MigratedTable, Store,
    VariableChange, Wanted,
};

pub(super) async fn a_commit_moves_the_partition(store: Arc<dyn Store>) {
    let owner = Owner::of(&store).await;
    let row = |position| LogRow { position, kind: "create", instance: Some(InstanceKey(5)), events: vec![1, 2] };
    let commit = Commit {
        log: vec![row(1), row(2), row(3)],
        next_key: rows::key(PARTITION, 77),
        wake: true,
        ..owner.tick(Changes::default())
    };
    let before = store.now().await.unwrap();
    let clock = store.commit(commit).await.unwrap();
    assert!(before <= clock, "a commit tells the database's clock");
    let again = Owner::of(&store).await.ownership;
    assert_eq!((again.position, again.inbox_to, again.next_key), (3, 0, rows::key(PARTITION, 77)));
}

/// A commit without a log moves the keys alone.
pub(super) async fn a_commit_may_leave_the_log_alone(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    owner.commit(Changes::default()).await;
    store.commit(Commit { log: Vec::new(), ..owner.tick(Changes::default()) }).await.unwrap();
    let again = Owner::of(&store).await.ownership;
    assert_eq!((again.position, again.next_key), (1, PARTITION.first_key() + 2));
}

/// An instance at its task, with one row of every kind, and its job.
fn everything() -> (Changes, LoadedInstance, Job) {
    let definition = rows::definition(rows::key(PARTITION, 1), "p", 1);
    let mut instance = rows::instance(rows::key(PARTITION, 10), definition.key.0);
    instance.tags = vec!["red".into(), "blue".into()];
    instance.business_id = Some("order-1".into());
    instance.parent = Some((InstanceKey(rows::key(PARTITION, 8)), engine::ElementKey(rows::key(PARTITION, 9))));
    instance.root = InstanceKey(rows::key(PARTITION, 8));
    instance.depth = 3;
    let mut task = rows::element(rows::key(PARTITION, 11), &instance);
    let mut local = rows::variable(rows::key(PARTITION, 13), &instance, "local", "[1,2]");
    local.scope = task.key;
    let mut incident = rows::incident(rows::key(PARTITION, 15), &task);
    let mut job = rows::job(rows::key(PARTITION, 14), &task);
    job.availability = Availability::Stuck;
    job.state = JobState::Failed;
    incident.job = Some(job.key);
    task.incident = Some(incident.key);
    task.progress = Some(Progress { total: 4, started: 3, completed: 2, terminated: 1 });
    let turn = rows::turn(rows::key(PARTITION, 16), &instance, 7);
    let loaded = LoadedInstance {
        variables: vec![rows::variable(rows::key(PARTITION, 12), &instance, "x", "\"y\""), local],
        tokens: vec![rows::tokens(&instance, 3, 1, 2)],
        waits: vec![
            (task.key, Wait { key: job.key.wait(), catch: None, kind: WaitKind::Job }),
            (instance.key.root(), Wait { key: turn.key, catch: None, kind: WaitKind::Turn(Box::new(turn.left.clone())) }),
        ],
        timers: vec![rows::timer(rows::key(PARTITION, 17), &task, 8)],
        subscriptions: vec![rows::subscription(rows::key(PARTITION, 18), &task, "paid")],
        compensations: vec![rows::compensation(rows::key(PARTITION, 22), &instance, 2)],
        elements: vec![task],
        incidents: vec![incident],
        instance,
    };
    let mut requirements = rows::requirements(rows::key(PARTITION, 20), "rules", 1);
    requirements.decisions = vec![rows::decision(rows::key(PARTITION, 21), "rule", 1)];
    let changes = Changes {
        resources_new: vec![rows::resource(definition.resource)],
        definitions_new: vec![definition],
        instances_new: vec![loaded.instance.clone()],
        elements_new: loaded.elements.clone(),
        variables_new: loaded.variables.clone(),
        jobs_new: vec![job.clone()],
        tokens: loaded.tokens.clone(),
        turns_new: vec![turn],
        compensations_put: loaded.compensations.clone(),
        timers_new: loaded.timers.clone(),
        subscriptions_new: loaded.subscriptions.clone(),
        correlations_new: vec![rows::correlation(
            rows::key(PARTITION, 19),
            rows::key(PARTITION, 7),
            &loaded.subscriptions[0],
            &loaded.instance,
        )],
        incidents_new: loaded.incidents.clone(),
        evaluated_decisions_new: vec![rows::evaluated_decision(rows::key(PARTITION, 30), &requirements)],
        requirements_new: vec![requirements],
        idempotent_new: vec![rows::idempotent("t", "k", i64::MAX)],
        ..Changes::default()
    };
    (changes, loaded, job)
}

async fn load_job(store: &Arc<dyn Store>, key: JobKey) -> Option<Job> {
    let wanted = Wanted { jobs: vec![key], ..Wanted::default() };
    let mut loaded = store.load(PARTITION, &wanted, 0).await.unwrap();
    assert!(loaded.jobs.len() < 2);
    loaded.jobs.pop()
}

async fn load_one(store: &Arc<dyn Store>, instance: InstanceKey) -> Option<LoadedInstance> {
    let wanted = Wanted { instances: vec![instance], ..Wanted::default() };
    let mut loaded = store.load(PARTITION, &wanted, 0).await.unwrap();
    assert!(loaded.instances.len() < 2);
    loaded.instances.pop()
}

pub(super) async fn every_kind_of_row_is_written(store: Arc<dyn Store>) {
    let (changes, expected, job) = everything();
    let mut owner = Owner::of(&store).await;
    owner.commit(changes.clone()).await;
    let instance = load_one(&store, expected.instance.key).await.expect("it runs");
    assert_eq!(instance, expected);
    assert_eq!(load_job(&store, job.key).await, Some(job));
    let definition = changes.definitions_new[0].clone();
    assert_eq!(store.definition(definition.key).await.unwrap(), Some(definition.clone()));
    assert_eq!(store.resource(definition.resource).await.unwrap(), Some(changes.resources_new[0].clone()));
    let wanted = Wanted { idempotent: vec![("t".into(), "k".into())], ..Wanted::default() };
    assert_eq!(store.load(PARTITION, &wanted, 0).await.unwrap().idempotent, changes.idempotent_new);
    let entities = [
        Entity::Definitions,
        Entity::Instances,
        Entity::Elements,
        Entity::Variables,
        Entity::Jobs,
        Entity::Incidents,
        Entity::Requirements,
        Entity::Decisions,
        Entity::EvaluatedDecisions,
        Entity::Timers,
        Entity::MessageSubscriptions,
        Entity::MessageCorrelations,
    ];
    for entity in entities {
        let expected = if entity == Entity::Variables { 2 } else { 1 };
        assert_eq!(store.search(&Query::of(entity, Tenants::Everything)).await.unwrap().total, expected, "{entity:?}");
    }
}

pub(super) async fn every_kind_of_row_changes(store: Arc<dyn Store>) {
    let (changes, mut expected, mut job) = everything();
    let mut owner = Owner::of(&store).await;
    owner.commit(changes).await;
    let ended = Some(1_800_000_000_000);
    expected.instance.phase = Phase::Leaving;
    expected.tokens[0].count = 1;
    let turn = expected.waits.remove(1).1.key;
    let compensation = expected.compensations.remove(0).key;
    expected.variables[0].value = "{\"a\":1}".into();
    expected.elements[0].state = ElementState::Alive(Phase::Leaving);
    expected.elements[0].incident = None;
    expected.elements[0].progress = Some(Progress { total: 4, started: 4, completed: 2, terminated: 1 });
    job.availability = Availability::BackingOff { until: 5 };
    job.state = JobState::RetriesUpdated;
    job.retries = 1;
    job.worker = "w".into();
    job.deadline = Some(4);
    job.error_code = "E".into();
    job.error_message = "m".into();
    job.failed_with_retries_left = true;
    job.denied = Some("no".into());
    job.updated += 1;
    let incident = expected.incidents.remove(0);
    let change = Changes {
        instances_changed: vec![InstanceChange {
            key: expected.instance.key,
            state: InstanceState::Active,
            phase: Phase::Leaving,
            ended: None,
        }],
        elements_changed: vec![ElementChange {
            key: expected.elements[0].key,
            state: expected.elements[0].state,
            ended: None,
            incident: None,
            progress: expected.elements[0].progress,
            past: false,
        }],
        variables_changed: vec![VariableChange { key: expected.variables[0].key, value: "{\"a\":1}".into() }],
        jobs_changed: vec![job.clone()],
        tokens: expected.tokens.clone(),
        turns_done: vec![turn],
        compensations_gone: vec![compensation],
        incidents_changed: vec![IncidentChange { key: incident.key, resolved: 9 }],
        ..Changes::default()
    };
    owner.commit(change).await;
    assert_eq!(load_one(&store, expected.instance.key).await, Some(expected.clone()));
    assert_eq!(load_job(&store, job.key).await, Some(job.clone()));
    end(&mut owner, &expected, &job, ended).await;
    assert_eq!(load_one(&store, expected.instance.key).await, None);
    assert_eq!(load_job(&store, job.key).await, None);
    match store.search(&Query::of(Entity::Instances, Tenants::Everything)).await.unwrap().items {
        Items::Instances(shown) => assert_eq!((shown[0].state, shown[0].ended), (InstanceState::Completed, ended)),
        other => panic!("{other:?}"),
    }
    match store.search(&Query::of(Entity::Incidents, Tenants::Everything)).await.unwrap().items {
        Items::Incidents(shown) => assert_eq!(shown[0].resolved, Some(9)),
        other => panic!("{other:?}"),
    }
}

/// Rows of an instance that has migrated name another definition, and their elements there; what came into being in the same tick too.
pub(super) async fn rows_migrate(store: Arc<dyn Store>) {
    let (changes, mut expected, mut job) = everything();
    let mut owner = Owner::of(&store).await;
    owner.commit(changes).await;
    let other = rows::definition(rows::key(PARTITION, 40), "q", 1);
    let mut user_task = rows::user_task(rows::key(PARTITION, 41), &expected.elements[0]);
    let row = |table, key, element| MigratedRow {
        table,
        key,
        definition: other.key,
        element: ElementIx(element),
        process_id: "q".into(),
        headers: None,
    };
    let own_headers: Arc<str> = "{\"a\":\"b\"}".into();
    let migrated = vec![
        row(MigratedTable::Instances, expected.instance.key.0, 0),
        row(MigratedTable::Elements, expected.elements[0].key.0, 3),
        row(MigratedTable::Variables, expected.variables[0].key.0, 0),
        row(MigratedTable::Variables, expected.variables[1].key.0, 3),
        MigratedRow { headers: Some(own_headers.clone()), ..row(MigratedTable::Jobs, job.key.0, 3) },
        row(MigratedTable::Timers, expected.timers[0].key.0, 1),
        row(MigratedTable::Subscriptions, expected.subscriptions[0].key.0, 2),
        row(MigratedTable::UserTasks, user_task.key.0, 3),
        row(MigratedTable::Incidents, expected.incidents[0].key.0, 3),
    ];
    expected.compensations[0].activity = ElementIx(1);
    let change = Changes {
        user_tasks_new: vec![user_task.clone()],
        compensations_put: expected.compensations.clone(),
        migrated: migrated.clone(),
        definitions_new: vec![other.clone()],
        ..Changes::default()
    };
    owner.commit(change).await;
    expected.instance.definition = other.key;
    (expected.elements[0].definition, expected.elements[0].element) = (other.key, ElementIx(3));
    expected.variables.iter_mut().for_each(|variable| variable.definition = other.key);
    (expected.timers[0].definition, expected.timers[0].element) = (other.key, ElementIx(1));
    let subscription = &mut expected.subscriptions[0];
    (subscription.definition, subscription.element, subscription.process_id) = (other.key, ElementIx(2), "q".into());
    (expected.incidents[0].definition, expected.incidents[0].element) = (other.key, ElementIx(3));
    (user_task.definition, user_task.element) = (other.key, ElementIx(3));
    expected.waits.push((user_task.element_instance, Wait { key: user_task.key.wait(), catch: None, kind: WaitKind::UserTask }));
    let mut loaded = load_one(&store, expected.instance.key).await.expect("it runs");
    loaded.waits.sort_by_key(|(_, wait)| wait.key);
    assert_eq!(loaded, expected);
    let origin = job.origin.as_mut().expect("it is a task's");
    (origin.definition, origin.element, job.headers) = (other.key, ElementIx(3), Some(own_headers.clone()));
    assert_eq!(load_job(&store, job.key).await, Some(job.clone()));
    let wanted = Wanted { user_tasks: vec![user_task.key], ..Wanted::default() };
    assert_eq!(store.load(PARTITION, &wanted, 0).await.unwrap().user_tasks, [user_task]);
    // Headers a job has of its own stay when none are given.
    owner.commit(Changes { migrated: vec![row(MigratedTable::Jobs, job.key.0, 3)], ..Changes::default() }).await;
    assert_eq!(load_job(&store, job.key).await.and_then(|job| job.headers), Some(own_headers));
}

async fn end(owner: &mut Owner, running: &LoadedInstance, job: &Job, ended: Option<i64>) {
    let job = Job { availability: Availability::Done, state: JobState::Completed, ended, ..job.clone() };
    let change = Changes {
        instances_changed: vec![InstanceChange {
            key: running.instance.key,
            state: InstanceState::Completed,
            phase: Phase::Leaving,
            ended,
        }],
        elements_changed: vec![ElementChange {
            key: running.elements[0].key,
            state: ElementState::Completed,
            ended,
            incident: None,
            progress: None,
            past: true,
        }],
        jobs_changed: vec![job],
        tokens: vec![Tokens { count: 0, ..running.tokens[0] }],
        ..Changes::default()
    };
    owner.commit(change).await;
}

pub(super) async fn a_large_commit_is_one_commit(store: Arc<dyn Store>) {
    const INSTANCES: u64 = 1_500;
    let definition = rows::definition(rows::key(PARTITION, 1), "p", 1);
    let mut changes = Changes { definitions_new: vec![definition.clone()], ..Changes::default() };
    let mut log = Vec::new();
    for number in 0..INSTANCES {
        let key = rows::key(PARTITION, 100 + number * 10);
        let instance = rows::instance(key, definition.key.0);
        let task = rows::element(key + 1, &instance);
        changes.variables_new.push(rows::variable(key + 2, &instance, "x", "1"));
        changes.jobs_new.push(rows::job(key + 3, &task));
        changes.elements_new.push(task);
        log.push(LogRow { position: number + 1, kind: "create", instance: Some(instance.key), events: vec![1; 100] });
        changes.instances_new.push(instance);
    }
    let owner = Owner::of(&store).await;
    let commit = Commit { log, ..owner.tick(changes) };
    store.commit(commit).await.unwrap();
    for entity in [Entity::Instances, Entity::Elements, Entity::Variables, Entity::Jobs] {
        assert_eq!(store.search(&Query::of(entity, Tenants::Everything)).await.unwrap().total, INSTANCES, "{entity:?}");
    }
    assert_eq!(store.partitions().await.unwrap()[0].position, INSTANCES);
}

pub(super) async fn odd_values_come_back(store: Arc<dyn Store>) {
    let (mut changes, mut expected, mut job) = everything();
    let odd = super::data::ODD_TEXTS.join("|");
    expected.instance.tags = super::data::ODD_TEXTS.iter().map(|tag| (*tag).into()).collect();
    expected.instance.business_id = Some("".into());
    expected.variables[0].name = odd.as_str().into();
    expected.variables[0].value = "x".repeat(1_000_000).into();
    expected.variables[1].value = odd.as_str().into();
    job.error_message = odd.as_str().into();
    job.retries = i32::MIN;
    job.priority = i32::MIN;
    job.deadline = Some(i64::MAX);
    changes.instances_new = vec![expected.instance.clone()];
    changes.variables_new = expected.variables.clone();
    changes.jobs_new = vec![job.clone()];
    let mut owner = Owner::of(&store).await;
    owner.commit(changes).await;
    assert_eq!(load_one(&store, expected.instance.key).await, Some(expected));
    assert_eq!(load_job(&store, job.key).await, Some(job));
}
