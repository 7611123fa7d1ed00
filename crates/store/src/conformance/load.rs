//! What a tick gets of running instances.

use std::sync::Arc;

use engine::{ElementKey, IncidentKey, InstanceKey, JobKey, Token};
use model::{ElementIx, FlowIx};

use super::owner::{Owner, PARTITION};
use super::rows;
use crate::row::{Availability, ElementState, InstanceState};
use crate::{Changes, IncidentChange, Loaded, LoadedInstance, Store, Wanted};

/// An instance with a task, a variable, a job and an incident; its keys count up from `first`.
fn running(first: u64, definition: u64) -> LoadedInstance {
    let instance = rows::instance(rows::key(PARTITION, first), definition);
    let task = rows::element(rows::key(PARTITION, first + 1), &instance);
    LoadedInstance {
        variables: vec![rows::variable(rows::key(PARTITION, first + 2), &instance, "x", "1")],
        jobs: vec![rows::job(rows::key(PARTITION, first + 3), &task)],
        incidents: vec![rows::incident(rows::key(PARTITION, first + 4), &task)],
        elements: vec![task],
        instance,
    }
}

fn new(rows: &LoadedInstance) -> Changes {
    Changes {
        instances_new: vec![rows.instance.clone()],
        elements_new: rows.elements.clone(),
        variables_new: rows.variables.clone(),
        jobs_new: rows.jobs.clone(),
        incidents_new: rows.incidents.clone(),
        ..Changes::default()
    }
}

async fn owner_with_definition(store: &Arc<dyn Store>) -> (Owner, u64) {
    let mut owner = Owner::of(store).await;
    let definition = rows::definition(rows::key(PARTITION, 1), "p", 1);
    let key = definition.key.0;
    owner.commit(Changes { definitions_new: vec![definition], ..Changes::default() }).await;
    (owner, key)
}

async fn load(store: &Arc<dyn Store>, wanted: Wanted) -> Loaded {
    store.load(PARTITION, &wanted, 0).await.unwrap()
}

pub(super) async fn by_any_key_of_it(store: Arc<dyn Store>) {
    let (mut owner, definition) = owner_with_definition(&store).await;
    let (one, other) = (running(100, definition), running(200, definition));
    owner.commit(new(&one)).await;
    owner.commit(new(&other)).await;
    let key = |n| rows::key(PARTITION, n);
    let ways = [
        Wanted { instances: vec![InstanceKey(key(100))], ..Wanted::default() },
        Wanted { elements: vec![ElementKey(key(101))], ..Wanted::default() },
        Wanted { jobs: vec![JobKey(key(103))], ..Wanted::default() },
        Wanted { incidents: vec![IncidentKey(key(104))], ..Wanted::default() },
        // Wanted twice is loaded once.
        Wanted { jobs: vec![JobKey(key(103)), JobKey(key(103))], instances: vec![one.instance.key], ..Wanted::default() },
    ];
    for wanted in ways {
        assert_eq!(load(&store, wanted.clone()).await.instances, std::slice::from_ref(&one), "{wanted:?}");
    }
    let both = Wanted { jobs: vec![JobKey(key(203))], elements: vec![ElementKey(key(101))], ..Wanted::default() };
    let mut loaded = load(&store, both).await.instances;
    loaded.sort_by_key(|one| one.instance.key);
    assert_eq!(loaded, [one, other]);
    let unknown = Wanted {
        instances: vec![InstanceKey(key(999))],
        jobs: vec![JobKey(key(100))],
        elements: vec![ElementKey(key(103))],
        incidents: vec![IncidentKey(0)],
        idempotent: vec![("t".into(), "k".into())],
    };
    assert_eq!(load(&store, unknown).await, Loaded::default());
    assert_eq!(load(&store, Wanted::default()).await, Loaded::default());
}

pub(super) async fn what_has_ended_is_absent(store: Arc<dyn Store>) {
    let (mut owner, definition) = owner_with_definition(&store).await;
    let mut one = running(100, definition);
    let mut changes = new(&one);
    // Beside what lives: a finished element with a variable, a done job, a resolved incident.
    let mut finished = rows::element(rows::key(PARTITION, 110), &one.instance);
    finished.state = ElementState::Completed;
    finished.ended = Some(5);
    let mut forgotten = rows::variable(rows::key(PARTITION, 111), &one.instance, "y", "2");
    forgotten.scope = finished.key;
    let mut done = rows::job(rows::key(PARTITION, 112), &finished);
    done.availability = Availability::Done;
    let mut resolved = rows::incident(rows::key(PARTITION, 113), &finished);
    resolved.resolved = Some(6);
    changes.elements_new.push(finished.clone());
    changes.variables_new.push(forgotten);
    changes.jobs_new.push(done.clone());
    changes.incidents_new.push(resolved.clone());
    owner.commit(changes).await;
    let by_key = Wanted { instances: vec![one.instance.key], ..Wanted::default() };
    assert_eq!(load(&store, by_key.clone()).await.instances, [one.clone()]);
    for wanted in [
        Wanted { elements: vec![finished.key], ..Wanted::default() },
        Wanted { jobs: vec![done.key], ..Wanted::default() },
        Wanted { incidents: vec![resolved.key], ..Wanted::default() },
    ] {
        assert_eq!(load(&store, wanted.clone()).await.instances, [], "{wanted:?}");
    }
    let incident = one.incidents.remove(0);
    let resolve = IncidentChange { key: incident.key, resolved: 7 };
    owner.commit(Changes { incidents_changed: vec![resolve], ..Changes::default() }).await;
    assert_eq!(load(&store, by_key.clone()).await.instances, [one.clone()]);
    let by_incident = Wanted { incidents: vec![incident.key], ..Wanted::default() };
    assert_eq!(load(&store, by_incident).await.instances, []);
    // One that begins and ends in the same tick never shows.
    let mut short = running(200, definition);
    short.instance.state = InstanceState::Completed;
    short.instance.ended = Some(8);
    owner.commit(new(&short)).await;
    let wanted = Wanted { instances: vec![short.instance.key], ..Wanted::default() };
    assert_eq!(load(&store, wanted).await.instances, []);
}

pub(super) async fn tokens_come_back(store: Arc<dyn Store>) {
    let (mut owner, definition) = owner_with_definition(&store).await;
    let mut one = running(100, definition);
    let token = |flow| Token { scope: one.instance.key.root(), gateway: ElementIx(3), flow: FlowIx(flow) };
    one.instance.tokens = vec![token(2), token(1), token(2)];
    owner.commit(new(&one)).await;
    let wanted = Wanted { instances: vec![one.instance.key], ..Wanted::default() };
    assert_eq!(load(&store, wanted).await.instances[0].instance.tokens, one.instance.tokens);
}

pub(super) async fn first_answers_until_they_expire(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let rows = vec![rows::idempotent("t", "k", 100), rows::idempotent("u", "k", 200), rows::idempotent("t", "'\"%", 300)];
    owner.commit(Changes { idempotent_new: rows.clone(), ..Changes::default() }).await;
    let all = vec![("t".into(), "k".into()), ("u".into(), "k".into()), ("t".into(), "'\"%".into()), ("u".into(), "l".into())];
    for (now, expected) in [(0, 3), (99, 3), (100, 2), (199, 2), (200, 1), (300, 0)] {
        let wanted = Wanted { idempotent: all.clone(), ..Wanted::default() };
        let mut found = store.load(PARTITION, &wanted, now).await.unwrap().idempotent;
        found.sort_by_key(|row| row.expires);
        assert_eq!(found, rows[3 - expected..], "at {now}");
    }
    // An expired one makes room for a new one with the same key.
    let again = rows::idempotent("t", "k", 500);
    owner.commit(Changes { idempotent_new: vec![again.clone()], ..Changes::default() }).await;
    let wanted = Wanted { idempotent: vec![("t".into(), "k".into())], ..Wanted::default() };
    assert_eq!(store.load(PARTITION, &wanted, 400).await.unwrap().idempotent, [again]);
}

pub(super) async fn many_at_once(store: Arc<dyn Store>) {
    let (mut owner, definition) = owner_with_definition(&store).await;
    let all: Vec<LoadedInstance> = (0..600).map(|number| running(1000 + number * 10, definition)).collect();
    let mut changes = Changes::default();
    for one in &all {
        let one = new(one);
        changes.instances_new.extend(one.instances_new);
        changes.elements_new.extend(one.elements_new);
        changes.variables_new.extend(one.variables_new);
        changes.jobs_new.extend(one.jobs_new);
        changes.incidents_new.extend(one.incidents_new);
    }
    owner.commit(changes).await;
    let wanted = Wanted {
        instances: all[..300].iter().map(|one| one.instance.key).collect(),
        jobs: all[200..].iter().map(|one| one.jobs[0].key).collect(),
        ..Wanted::default()
    };
    let mut loaded = load(&store, wanted).await.instances;
    loaded.sort_by_key(|one| one.instance.key);
    assert_eq!(loaded, all);
}
