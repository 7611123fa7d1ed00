//! What a tick gets of running instances.

use std::sync::Arc;

use engine::{ElementKey, IncidentKey, InstanceKey, JobKey, TimerKey, UserTaskKey, Wait, WaitKey, WaitKind};

use super::owner::{Owner, PARTITION};
use super::rows;
use crate::row::{Availability, Compensation, ElementState, InstanceState, Job, Tokens};
use crate::{Changes, IncidentChange, Loaded, LoadedInstance, Store, Wanted};

/// An instance with a task, a variable, a job and an incident; its keys count up from `first`.
pub(super) fn running(first: u64, definition: u64) -> (LoadedInstance, Job) {
    let instance = rows::instance(rows::key(PARTITION, first), definition);
    let task = rows::element(rows::key(PARTITION, first + 1), &instance);
    let job = rows::job(rows::key(PARTITION, first + 3), &task);
    let loaded = LoadedInstance {
        variables: vec![rows::variable(rows::key(PARTITION, first + 2), &instance, "x", "1")],
        tokens: Vec::new(),
        waits: vec![(task.key, Wait { key: job.key.wait(), catch: None, kind: WaitKind::Job })],
        timers: Vec::new(),
        subscriptions: Vec::new(),
        compensations: Vec::new(),
        incidents: vec![rows::incident(rows::key(PARTITION, first + 4), &task)],
        elements: vec![task],
        instance,
    };
    (loaded, job)
}

pub(super) fn new((rows, job): &(LoadedInstance, Job)) -> Changes {
    Changes {
        instances_new: vec![rows.instance.clone()],
        elements_new: rows.elements.clone(),
        variables_new: rows.variables.clone(),
        tokens: rows.tokens.clone(),
        timers_new: rows.timers.clone(),
        subscriptions_new: rows.subscriptions.clone(),
        jobs_new: vec![job.clone()],
        incidents_new: rows.incidents.clone(),
        ..Changes::default()
    }
}

pub(super) async fn owner_with_definition(store: &Arc<dyn Store>) -> (Owner, u64) {
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
    let ((one, _), (other, _)) = (one, other);
    let key = |n| rows::key(PARTITION, n);
    let ways = [
        Wanted { instances: vec![InstanceKey(key(100))], ..Wanted::default() },
        Wanted { elements: vec![ElementKey(key(101))], ..Wanted::default() },
        Wanted { instances_of_jobs: vec![JobKey(key(103))], ..Wanted::default() },
        Wanted { incidents: vec![IncidentKey(key(104))], ..Wanted::default() },
        // Wanted twice is loaded once.
        Wanted {
            instances_of_jobs: vec![JobKey(key(103)), JobKey(key(103))],
            instances: vec![one.instance.key],
            elements: vec![ElementKey(key(101)), ElementKey(key(101))],
            ..Wanted::default()
        },
    ];
    for wanted in ways {
        let loaded = load(&store, wanted.clone()).await;
        assert_eq!(loaded.instances, std::slice::from_ref(&one), "{wanted:?}");
        // Who asked by another key is told where that belongs.
        let (elements, incidents) = (!wanted.elements.is_empty(), !wanted.incidents.is_empty());
        let of = |yes, n| if yes { vec![(key(n), one.instance.key)] } else { vec![] };
        assert_eq!(loaded.elements, of(elements, 101).into_iter().map(|(key, of)| (ElementKey(key), of)).collect::<Vec<_>>());
        assert_eq!(loaded.incidents, of(incidents, 104).into_iter().map(|(key, of)| (IncidentKey(key), of)).collect::<Vec<_>>());
    }
    let both = Wanted { instances_of_jobs: vec![JobKey(key(203))], elements: vec![ElementKey(key(101))], ..Wanted::default() };
    let mut loaded = load(&store, both).await.instances;
    loaded.sort_by_key(|one| one.instance.key);
    assert_eq!(loaded, [one, other]);
    let unknown = Wanted {
        instances: vec![InstanceKey(key(999))],
        jobs: vec![JobKey(key(100))],
        instances_of_jobs: vec![JobKey(key(101))],
        elements: vec![ElementKey(key(103))],
        incidents: vec![IncidentKey(0)],
        idempotent: vec![("t".into(), "k".into())],
        timers: vec![TimerKey(key(100))],
        subscriptions: vec![WaitKey(key(103))],
        user_tasks: vec![UserTaskKey(key(103))],
        starts: vec![("t".into(), "k".into())],
        messages: vec![key(100)],
        locks: vec![("t".into(), "p".into(), "k".into())],
        locks_of: vec![InstanceKey(key(100))],
        signals: vec![key(100)],
        ..Wanted::default()
    };
    assert_eq!(load(&store, unknown).await, Loaded::default());
    assert_eq!(load(&store, Wanted::default()).await, Loaded::default());
}

pub(super) async fn jobs_alone(store: Arc<dyn Store>) {
    let (mut owner, definition) = owner_with_definition(&store).await;
    let (one, other) = (running(100, definition), running(200, definition));
    owner.commit(new(&one)).await;
    owner.commit(new(&other)).await;
    let mut free = rows::job(rows::key(PARTITION, 300), &one.0.elements[0]);
    (free.origin, free.priority) = (None, 7);
    let mut done = rows::job(rows::key(PARTITION, 301), &one.0.elements[0]);
    done.availability = Availability::Done;
    owner.commit(Changes { jobs_new: vec![free.clone(), done.clone()], ..Changes::default() }).await;
    let all = vec![free.key, other.1.key, one.1.key, done.key, JobKey(1)];
    let wanted = Wanted { jobs: all.clone(), ..Wanted::default() };
    let mut loaded = load(&store, wanted).await;
    loaded.jobs.sort_by_key(|job| job.key);
    assert_eq!(loaded, Loaded { jobs: vec![one.1.clone(), other.1.clone(), free.clone()], ..Loaded::default() });
    // One that belongs to no process leads to no instance, and takes nobody's place.
    let wanted = Wanted { instances_of_jobs: all, ..Wanted::default() };
    let mut loaded = load(&store, wanted).await;
    loaded.instances.sort_by_key(|one| one.instance.key);
    assert_eq!(loaded, Loaded { instances: vec![one.0, other.0], ..Loaded::default() });
    free.availability = Availability::Leased;
    free.deadline = Some(9);
    owner.commit(Changes { jobs_changed: vec![free.clone()], ..Changes::default() }).await;
    let wanted = Wanted { jobs: vec![free.key], ..Wanted::default() };
    assert_eq!(load(&store, wanted).await.jobs, [free]);
}

pub(super) async fn what_has_ended_is_absent(store: Arc<dyn Store>) {
    let (mut owner, definition) = owner_with_definition(&store).await;
    let one = running(100, definition);
    let mut changes = new(&one);
    let (mut one, _) = one;
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
        Wanted { instances_of_jobs: vec![done.key], ..Wanted::default() },
        Wanted { jobs: vec![done.key], ..Wanted::default() },
        Wanted { incidents: vec![resolved.key], ..Wanted::default() },
    ] {
        assert_eq!(load(&store, wanted.clone()).await, Loaded::default(), "{wanted:?}");
    }
    let incident = one.incidents.remove(0);
    let resolve = IncidentChange { key: incident.key, resolved: 7 };
    owner.commit(Changes { incidents_changed: vec![resolve], ..Changes::default() }).await;
    assert_eq!(load(&store, by_key.clone()).await.instances, [one.clone()]);
    let by_incident = Wanted { incidents: vec![incident.key], ..Wanted::default() };
    assert_eq!(load(&store, by_incident).await.instances, []);
    // One that begins and ends in the same tick never shows.
    let mut short = running(200, definition);
    short.0.instance.state = InstanceState::Completed;
    short.0.instance.ended = Some(8);
    owner.commit(new(&short)).await;
    let wanted = Wanted { instances: vec![short.0.instance.key], ..Wanted::default() };
    assert_eq!(load(&store, wanted).await.instances, []);
}

pub(super) async fn tokens_come_and_go(store: Arc<dyn Store>) {
    let (mut owner, definition) = owner_with_definition(&store).await;
    let mut one = running(100, definition);
    let instance = one.0.instance.clone();
    let inner = |flow, count| {
        let mut tokens = rows::tokens(&instance, 9, flow, count);
        tokens.token.scope = ElementKey(rows::key(PARTITION, 101));
        tokens
    };
    let outer = |gateway, flow, count| rows::tokens(&instance, gateway, flow, count);
    one.0.tokens = vec![inner(1, 1), outer(3, 2, 3), outer(2, 5, 1), outer(3, 1, 1)];
    owner.commit(new(&one)).await;
    // Of another instance, which has them for itself.
    let mut other = running(200, definition);
    other.0.tokens = vec![rows::tokens(&other.0.instance, 3, 2, 8)];
    owner.commit(new(&other)).await;
    let tokens = async |of: &LoadedInstance| -> Vec<Tokens> {
        let wanted = Wanted { instances: vec![of.instance.key], ..Wanted::default() };
        load(&store, wanted).await.instances.remove(0).tokens
    };
    assert_eq!(tokens(&one.0).await, [outer(2, 5, 1), outer(3, 1, 1), outer(3, 2, 3), inner(1, 1)], "by scope, gateway and flow");
    // One more, one fewer, one gone, one that never was.
    let change = vec![outer(2, 5, 2), outer(3, 2, 2), outer(3, 1, 0), outer(4, 4, 0)];
    owner.commit(Changes { tokens: change, ..Changes::default() }).await;
    assert_eq!(tokens(&one.0).await, [outer(2, 5, 2), outer(3, 2, 2), inner(1, 1)]);
    assert_eq!(tokens(&other.0).await, other.0.tokens);
    owner.commit(Changes { tokens: vec![outer(3, 1, 4), inner(1, 0)], ..Changes::default() }).await;
    assert_eq!(tokens(&one.0).await, [outer(2, 5, 2), outer(3, 1, 4), outer(3, 2, 2)], "what is gone may come again");
}

pub(super) async fn turns_come_and_go(store: Arc<dyn Store>) {
    let (mut owner, definition) = owner_with_definition(&store).await;
    let one = running(100, definition);
    let turn = rows::turn(rows::key(PARTITION, 102), &one.0.instance, 5);
    let mut later = rows::turn(rows::key(PARTITION, 105), &one.0.instance, 1);
    later.left.work = (0..500).map(ElementKey).collect();
    owner.commit(Changes { turns_new: vec![later.clone(), turn.clone()], ..new(&one) }).await;
    let waits = async || {
        let wanted = Wanted { instances: vec![one.0.instance.key], ..Wanted::default() };
        load(&store, wanted).await.instances.remove(0).waits
    };
    let root = |turn: &crate::row::Turn| {
        let kind = WaitKind::Turn(Box::new(turn.left.clone()));
        (one.0.instance.key.root(), Wait { key: turn.key, catch: None, kind })
    };
    assert_eq!(waits().await, [root(&turn), one.0.waits[0].clone(), root(&later)], "by key, with those for jobs");
    owner.commit(Changes { turns_done: vec![turn.key], ..Changes::default() }).await;
    assert_eq!(waits().await, [one.0.waits[0].clone(), root(&later)]);
    owner.commit(Changes { turns_done: vec![turn.key, later.key], ..Changes::default() }).await;
    assert_eq!(waits().await, one.0.waits);
}

pub(super) async fn compensations_come_move_and_go(store: Arc<dyn Store>) {
    let (mut owner, definition) = owner_with_definition(&store).await;
    let (one, other) = (running(100, definition), running(200, definition));
    owner.commit(new(&one)).await;
    owner.commit(new(&other)).await;
    let row = |n: u64, of: &LoadedInstance| rows::compensation(rows::key(PARTITION, n), &of.instance, n as u32);
    let (first, second, third, others) = (row(110, &one.0), row(111, &one.0), row(112, &one.0), row(210, &other.0));
    let put = async |owner: &mut Owner, rows: Vec<_>| {
        owner.commit(Changes { compensations_put: rows, ..Changes::default() }).await;
    };
    let kept = async |of: &LoadedInstance| {
        let wanted = Wanted { instances: vec![of.instance.key], ..Wanted::default() };
        load(&store, wanted).await.instances.remove(0).compensations
    };
    put(&mut owner, vec![third, others, first, second]).await;
    assert_eq!(kept(&one.0).await, [first, second, third], "by key");
    let moved = Compensation { scope: one.0.elements[0].key, ..second };
    put(&mut owner, vec![moved]).await;
    assert_eq!(kept(&one.0).await, [first, moved, third]);
    let never = rows::compensation(rows::key(PARTITION, 113), &one.0.instance, 1).key;
    let gone = vec![first.key, moved.key, never];
    owner.commit(Changes { compensations_gone: gone, ..Changes::default() }).await;
    assert_eq!(kept(&one.0).await, [third]);
    assert_eq!(kept(&other.0).await, [others]);
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
    let all: Vec<_> = (0..600).map(|number| running(1000 + number * 10, definition)).collect();
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
        instances: all[..300].iter().map(|(one, _)| one.instance.key).collect(),
        instances_of_jobs: all[200..].iter().map(|(_, job)| job.key).collect(),
        ..Wanted::default()
    };
    let mut loaded = load(&store, wanted).await.instances;
    loaded.sort_by_key(|one| one.instance.key);
    assert_eq!(loaded, all.into_iter().map(|(one, _)| one).collect::<Vec<_>>());
}
