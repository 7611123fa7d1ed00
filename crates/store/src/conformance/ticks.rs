//! A commit writes all its rows, at once.

use std::sync::Arc;

use engine::{InstanceKey, Phase, Token};
use model::{ElementIx, FlowIx};

use super::owner::{Owner, PARTITION};
use super::rows;
use crate::query::{Entity, Items, Query};
use crate::row::{Availability, ElementState, InstanceState, JobState};
use crate::{
    Changes, Commit, ElementChange, IncidentChange, InstanceChange, LoadedInstance, LogRow, Store, VariableChange, Wanted,
};

pub(super) async fn a_commit_moves_the_partition(store: Arc<dyn Store>) {
    let owner = Owner::of(&store).await;
    let row = |position| LogRow { position, kind: "create", instance: Some(InstanceKey(5)), events: vec![1, 2], answer: None };
    let commit = Commit {
        appended: vec![row(1), row(2), row(3)],
        processed_to: 3,
        next_key: rows::key(PARTITION, 77),
        wake: true,
        ..owner.tick(Changes::default())
    };
    let before = store.now().await.unwrap();
    let clock = store.commit(commit).await.unwrap();
    assert!(before <= clock, "a commit tells the database's clock");
    let again = Owner::of(&store).await.ownership;
    assert_eq!((again.tail, again.processed_to, again.next_key), (3, 3, rows::key(PARTITION, 77)));
}

/// An instance at its task, with one row of every kind.
fn everything() -> (Changes, LoadedInstance) {
    let definition = rows::definition(rows::key(PARTITION, 1), "p", 1);
    let mut instance = rows::instance(rows::key(PARTITION, 10), definition.key.0);
    instance.tags = vec!["red".into(), "blue".into()];
    instance.business_id = Some("order-1".into());
    instance.parent = Some((InstanceKey(rows::key(PARTITION, 8)), engine::ElementKey(rows::key(PARTITION, 9))));
    instance.root = InstanceKey(rows::key(PARTITION, 8));
    instance.incidents = 1;
    instance.tokens = vec![Token { scope: instance.key.root(), gateway: ElementIx(3), flow: FlowIx(1) }];
    let mut task = rows::element(rows::key(PARTITION, 11), &instance);
    let mut local = rows::variable(rows::key(PARTITION, 13), &instance, "local", "[1,2]");
    local.scope = task.key;
    let mut incident = rows::incident(rows::key(PARTITION, 15), &task);
    let mut job = rows::job(rows::key(PARTITION, 14), &task);
    job.availability = Availability::Stuck;
    job.state = JobState::Failed;
    incident.job = Some(job.key);
    task.incident = Some(incident.key);
    let loaded = LoadedInstance {
        elements: vec![task],
        variables: vec![rows::variable(rows::key(PARTITION, 12), &instance, "x", "\"y\""), local],
        jobs: vec![job],
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
        jobs_new: loaded.jobs.clone(),
        incidents_new: loaded.incidents.clone(),
        evaluated_decisions_new: vec![rows::evaluated_decision(rows::key(PARTITION, 30), &requirements)],
        requirements_new: vec![requirements],
        idempotent_new: vec![rows::idempotent("t", "k", i64::MAX)],
        ..Changes::default()
    };
    (changes, loaded)
}

async fn load_one(store: &Arc<dyn Store>, instance: InstanceKey) -> Option<LoadedInstance> {
    let wanted = Wanted { instances: vec![instance], ..Wanted::default() };
    let mut loaded = store.load(PARTITION, &wanted, 0).await.unwrap();
    assert!(loaded.instances.len() < 2);
    loaded.instances.pop()
}

pub(super) async fn every_kind_of_row_is_written(store: Arc<dyn Store>) {
    let (changes, expected) = everything();
    let mut owner = Owner::of(&store).await;
    owner.commit(changes.clone()).await;
    let instance = load_one(&store, expected.instance.key).await.expect("it runs");
    assert_eq!(instance, expected);
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
    ];
    for entity in entities {
        let expected = if entity == Entity::Variables { 2 } else { 1 };
        assert_eq!(store.search(&Query::of(entity)).await.unwrap().total, expected, "{entity:?}");
    }
}

pub(super) async fn every_kind_of_row_changes(store: Arc<dyn Store>) {
    let (changes, mut expected) = everything();
    let mut owner = Owner::of(&store).await;
    owner.commit(changes).await;
    let ended = Some(1_800_000_000_000);
    expected.instance.phase = Phase::Leaving;
    expected.instance.tokens.clear();
    expected.instance.incidents = 0;
    expected.variables[0].value = "{\"a\":1}".into();
    expected.elements[0].state = ElementState::Alive(Phase::Leaving);
    expected.elements[0].incident = None;
    let job = &mut expected.jobs[0];
    job.availability = Availability::BackingOff { until: 5 };
    job.state = JobState::RetriesUpdated;
    job.retries = 1;
    job.worker = "w".into();
    job.deadline = Some(4);
    job.error_code = "E".into();
    job.error_message = "m".into();
    job.failed_with_retries_left = true;
    job.updated += 1;
    let incident = expected.incidents.remove(0);
    let change = Changes {
        instances_changed: vec![InstanceChange {
            key: expected.instance.key,
            state: InstanceState::Active,
            phase: Phase::Leaving,
            ended: None,
            tokens: Vec::new(),
            incidents: 0,
        }],
        elements_changed: vec![ElementChange {
            key: expected.elements[0].key,
            state: expected.elements[0].state,
            ended: None,
            incident: None,
        }],
        variables_changed: vec![VariableChange { key: expected.variables[0].key, value: "{\"a\":1}".into() }],
        jobs_changed: expected.jobs.clone(),
        incidents_changed: vec![IncidentChange { key: incident.key, resolved: 9 }],
        ..Changes::default()
    };
    owner.commit(change).await;
    assert_eq!(load_one(&store, expected.instance.key).await, Some(expected.clone()));
    end(&mut owner, &expected, ended).await;
    assert_eq!(load_one(&store, expected.instance.key).await, None);
    match store.search(&Query::of(Entity::Instances)).await.unwrap().items {
        Items::Instances(shown) => assert_eq!((shown[0].state, shown[0].ended), (InstanceState::Completed, ended)),
        other => panic!("{other:?}"),
    }
    match store.search(&Query::of(Entity::Incidents)).await.unwrap().items {
        Items::Incidents(shown) => assert_eq!(shown[0].resolved, Some(9)),
        other => panic!("{other:?}"),
    }
}

async fn end(owner: &mut Owner, running: &LoadedInstance, ended: Option<i64>) {
    let mut job = running.jobs[0].clone();
    job.availability = Availability::Done;
    job.state = JobState::Completed;
    job.ended = ended;
    let change = Changes {
        instances_changed: vec![InstanceChange {
            key: running.instance.key,
            state: InstanceState::Completed,
            phase: Phase::Leaving,
            ended,
            tokens: Vec::new(),
            incidents: 0,
        }],
        elements_changed: vec![ElementChange {
            key: running.elements[0].key,
            state: ElementState::Completed,
            ended,
            incident: None,
        }],
        jobs_changed: vec![job],
        ..Changes::default()
    };
    owner.commit(change).await;
}

pub(super) async fn a_large_commit_is_one_commit(store: Arc<dyn Store>) {
    const INSTANCES: u64 = 1_500;
    let definition = rows::definition(rows::key(PARTITION, 1), "p", 1);
    let mut changes = Changes { definitions_new: vec![definition.clone()], ..Changes::default() };
    let mut appended = Vec::new();
    for number in 0..INSTANCES {
        let key = rows::key(PARTITION, 100 + number * 10);
        let instance = rows::instance(key, definition.key.0);
        let task = rows::element(key + 1, &instance);
        changes.variables_new.push(rows::variable(key + 2, &instance, "x", "1"));
        changes.jobs_new.push(rows::job(key + 3, &task));
        changes.elements_new.push(task);
        let row =
            LogRow { position: number + 1, kind: "create", instance: Some(instance.key), events: vec![1; 100], answer: None };
        appended.push(row);
        changes.instances_new.push(instance);
    }
    let owner = Owner::of(&store).await;
    let commit = Commit { appended, processed_to: INSTANCES, ..owner.tick(changes) };
    store.commit(commit).await.unwrap();
    for entity in [Entity::Instances, Entity::Elements, Entity::Variables, Entity::Jobs] {
        assert_eq!(store.search(&Query::of(entity)).await.unwrap().total, INSTANCES, "{entity:?}");
    }
    assert_eq!(store.partitions().await.unwrap()[0].tail, INSTANCES);
}

pub(super) async fn odd_values_come_back(store: Arc<dyn Store>) {
    let (mut changes, mut expected) = everything();
    let odd = super::data::ODD_TEXTS.join("|");
    expected.instance.tags = super::data::ODD_TEXTS.iter().map(|tag| (*tag).into()).collect();
    expected.instance.business_id = Some("".into());
    expected.variables[0].name = odd.as_str().into();
    expected.variables[0].value = "x".repeat(1_000_000).into();
    expected.variables[1].value = odd.as_str().into();
    expected.jobs[0].error_message = odd.as_str().into();
    expected.jobs[0].retries = i32::MIN;
    expected.jobs[0].deadline = Some(i64::MAX);
    changes.instances_new = vec![expected.instance.clone()];
    changes.variables_new = expected.variables.clone();
    changes.jobs_new = expected.jobs.clone();
    let mut owner = Owner::of(&store).await;
    owner.commit(changes).await;
    assert_eq!(load_one(&store, expected.instance.key).await, Some(expected));
}
