//! What a server before this one has left, as `spec/stores` holds it: this one goes on with it.

use std::sync::Arc;
use std::time::Duration;

use engine::{DefinitionKey, ElementKey, InstanceKey, JobKey, Progress, UserTaskKey, WaitKey};
use model::ListenerEvent;

use super::owner::{Owner, PARTITION};
use super::rows::{self, TENANT};
use crate::log::{Answer, Command, ProcessRef};
use crate::query::{Entity, Items, Query, Tenants};
use crate::row::{AnnouncementKey, Availability, BatchState, InstanceState, Job, JobKind, JobState, Tokens, UserTaskState};
use crate::{
    Changes, Commit, DueKind, ElementChange, InstanceChange, LoadedInstance, MessageGroup, QueueRef, ReadyAfter, Store, Wanted,
    format,
};

const HOUR: Duration = Duration::from_secs(3_600);
const LEASED: u64 = 32;
const BACKING_OFF: u64 = 40;
const STUCK: u64 = 49;
const HALF_JOINED: u64 = 59;
const FRESH: u64 = 73;
const SHIPPING: u64 = 83;
const READY: u64 = 94;
/// What its log ended with.
const PROCESSED: u64 = 16;

fn key(n: u64) -> u64 {
    rows::key(PARTITION, n)
}

fn numbers(keys: impl IntoIterator<Item = u64>) -> Vec<u64> {
    keys.into_iter().map(|one| one - key(0)).collect()
}

/// Looks at everything, then goes on. `waiting` requests were not processed.
pub async fn goes_on(store: Arc<dyn Store>, waiting: u64) {
    let mut owner = Owner::of(&store).await;
    assert_eq!((owner.ownership.position, owner.ownership.inbox_to), (PROCESSED, PROCESSED));
    assert_eq!((owner.ownership.inbox_tail, owner.ownership.next_key), (PROCESSED + waiting, key(104)));
    definitions(&store).await;
    instances(&store).await;
    jobs(&store).await;
    searches(&store).await;
    first_answer(&store).await;
    requests(&mut owner, waiting).await;
    join(&mut owner).await;
    waits(&mut owner).await;
}

async fn definitions(store: &Arc<dyn Store>) {
    for (n, id) in [(2, "order"), (4, "ship"), (9, "join")] {
        let named = store.process_named(PARTITION, id, TENANT).await.unwrap();
        let latest = named.latest.expect("deployed");
        assert_eq!((named.version_max, latest.key, latest.version), (1, DefinitionKey(key(n)), 1));
        let definition = store.definition(latest.key).await.unwrap().expect("deployed");
        assert_eq!((&*definition.process_id, definition.flows), (id, None), "flows were not kept");
        assert!(store.resource(definition.resource).await.unwrap().is_some());
    }
    let decision = store.decision_named(PARTITION, "shipping", TENANT).await.unwrap().latest.expect("deployed");
    assert_eq!(store.requirements(decision.requirements).await.unwrap().expect("deployed").decisions[0].key, decision.key);
    let running = store.running_definitions(PARTITION, 10).await.unwrap();
    assert_eq!(numbers(running.into_iter().map(|key| key.0)), [9, 4, 2]);
}

async fn load(store: &Arc<dyn Store>, instance: u64) -> LoadedInstance {
    let wanted = Wanted { instances: vec![InstanceKey(key(instance))], ..Wanted::default() };
    let mut loaded = store.load(PARTITION, &wanted, 0).await.unwrap();
    assert_eq!(loaded.broken, []);
    loaded.instances.pop().expect("it runs")
}

async fn instances(store: &Arc<dyn Store>) {
    // Element instances, variables, and what they wait for with who waits.
    type Expected = (u64, &'static [u64], &'static [(&'static str, u64)], &'static [(u64, u64)]);
    let expected: [Expected; 7] = [
        (LEASED, &[36], &[("amount", LEASED), ("note", LEASED)], &[(37, 36)]),
        (BACKING_OFF, &[44], &[("amount", BACKING_OFF), ("note", BACKING_OFF)], &[(45, 44)]),
        (STUCK, &[53], &[("amount", STUCK), ("note", STUCK)], &[(54, 53)]),
        (HALF_JOINED, &[63], &[("parcels", HALF_JOINED), ("packed", HALF_JOINED)], &[(67, 63)]),
        (FRESH, &[76, 77], &[], &[(80, 76), (81, 77)]),
        (SHIPPING, &[91], &[("weight", 83), ("express", 83), ("parcel", 83), ("shipping", 83)], &[(92, 91)]),
        (READY, &[98], &[("amount", READY), ("lines", READY), ("inner", 98)], &[(99, 98)]),
    ];
    for (n, elements, variables, waits) in expected {
        let found = load(store, n).await;
        assert_eq!(numbers(found.elements.iter().map(|one| one.key.0)), elements, "{n}");
        let names: Vec<_> = found.variables.iter().map(|one| (&*one.name, one.scope.0 - key(0))).collect();
        assert_eq!(names, variables, "{n}");
        let found: Vec<_> = found.waits.iter().map(|(element, wait)| (wait.key.0 - key(0), element.0 - key(0))).collect();
        assert_eq!(found, waits, "{n}");
    }
    let leased = load(store, LEASED).await;
    assert_eq!(leased.instance.tags.iter().map(|tag| &**tag).collect::<Vec<_>>(), ["red", "blue"]);
    assert_eq!(&*leased.variables[1].value, "\"ä \\\"quoted\\\"\"");
    assert!(leased.tokens.is_empty());
    assert_eq!(
        (leased.instance.depth, leased.elements[0].progress),
        (0, None),
        "nobody called anybody, nothing was done in parallel"
    );
    let stuck = load(store, STUCK).await;
    assert_eq!(stuck.incidents[0].job, Some(JobKey(key(54))));
    assert_eq!(stuck.elements[0].incident, Some(stuck.incidents[0].key));
    let tokens = |n, flow, count| rows::tokens(&rows::instance(key(n), key(9)), 6, flow, count);
    assert_eq!(load(store, HALF_JOINED).await.tokens, [tokens(HALF_JOINED, 5, 2), tokens(HALF_JOINED, 6, 1)]);
    assert_eq!(load(store, FRESH).await.tokens, [tokens(FRESH, 5, 2)]);
}

async fn jobs(store: &Arc<dyn Store>) {
    let wanted = Wanted { jobs: [16, 37, 45, 54, 67].map(|n| JobKey(key(n))).into(), ..Wanted::default() };
    let jobs = store.load(PARTITION, &wanted, 0).await.unwrap().jobs;
    assert!(jobs.iter().all(|job| job.priority == 0 && job.origin.is_some()));
    let [leased, backing_off, stuck, ready] = <[Job; 4]>::try_from(jobs).expect("one of them is done");
    assert_eq!((leased.availability, leased.state, &*leased.worker), (Availability::Leased, JobState::Created, "worker-1"));
    assert_eq!((backing_off.state, backing_off.retries, &*backing_off.error_message), (JobState::Failed, 2, "card refused"));
    assert_eq!((stuck.availability, stuck.retries), (Availability::Stuck, 0));
    assert_eq!(ready.availability, Availability::Ready);
    let due = store.due(PARTITION, (0, 0), 10).await.unwrap();
    assert_eq!(due.iter().map(|one| (one.key - key(0), one.what)).collect::<Vec<_>>(), [(37, DueKind::Job), (45, DueKind::Job)]);
    assert!(due.iter().all(|one| leased.created + HOUR.as_millis() as i64 <= one.at + 1_000));
    for (job_type, keys) in [("charge-card", &[99][..]), ("label", &[67, 80]), ("pack", &[81]), ("book-post", &[92])] {
        let ready = store.ready_jobs(PARTITION, job_type, TENANT, ReadyAfter::START, 10).await.unwrap();
        assert_eq!(numbers(ready.iter().map(|one| one.key.0)), keys, "{job_type}");
    }
}

async fn searches(store: &Arc<dyn Store>) {
    for (entity, total) in [
        (Entity::Definitions, 3),
        (Entity::Instances, 9),
        (Entity::Elements, 29),
        (Entity::Variables, 20),
        (Entity::Jobs, 11),
        (Entity::Incidents, 1),
        (Entity::Decisions, 1),
        (Entity::EvaluatedDecisions, 1),
    ] {
        assert_eq!(store.search(&Query::of(entity, Tenants::Everything)).await.unwrap().total, total, "{entity:?}");
    }
    let evaluated = Query { with_details: true, ..Query::of(Entity::EvaluatedDecisions, Tenants::Everything) };
    match store.search(&evaluated).await.unwrap().items {
        Items::EvaluatedDecisions(found) => assert_eq!((found[0].inputs.len(), &*found[0].rules[0].id), (2, "usual")),
        other => panic!("{other:?}"),
    }
}

async fn first_answer(store: &Arc<dyn Store>) {
    let wanted = Wanted { idempotent: vec![(TENANT.into(), "first".into())], ..Wanted::default() };
    let first = store.load(PARTITION, &wanted, 0).await.unwrap().idempotent.remove(0);
    match format::decode_answer(&first.answer).unwrap() {
        Answer::Created(created) => assert_eq!(created.instance, InstanceKey(key(READY))),
        other => panic!("{other:?}"),
    }
}

/// What waited in the log is processed from the inbox, and the log goes on where it ended.
async fn requests(owner: &mut Owner, waiting: u64) {
    let received = owner.store.inbox(PARTITION, PROCESSED, 10, 10_000).await.unwrap();
    assert_eq!(received.len() as u64, waiting);
    for (position, one) in (PROCESSED + 1..).zip(&received) {
        assert_eq!((one.position, one.expires), (position, None));
        match format::decode_request(&one.request).unwrap().command {
            Command::Create(create) => assert_eq!(create.process, ProcessRef::Id { id: "order".into(), version: None }),
            other => panic!("{other:?}"),
        }
    }
    let commit = Commit { inbox_to: PROCESSED + waiting, ..owner.tick(Changes::default()) };
    owner.store.commit(commit.clone()).await.unwrap();
    owner.went_through(&commit);
    assert!(owner.store.inbox(PARTITION, 0, 10, 10_000).await.unwrap().is_empty());
    let next = owner.store.append(PARTITION, vec![super::inbox::request(1)], super::inbox::ROOM).await.unwrap();
    assert_eq!(next, [PROCESSED + waiting + 1]);
}

/// The last token arrives, and the instance ends.
async fn join(owner: &mut Owner) {
    let running = load(&owner.store, HALF_JOINED).await;
    let wanted = Wanted { jobs: vec![WaitKey(key(67)).job()], ..Wanted::default() };
    let mut job = owner.store.load(PARTITION, &wanted, 0).await.unwrap().jobs.remove(0);
    (job.availability, job.state, job.ended) = (Availability::Done, JobState::Completed, Some(1));
    let ended = InstanceChange {
        key: running.instance.key,
        state: InstanceState::Completed,
        phase: running.instance.phase,
        ended: Some(1),
    };
    let changes = Changes {
        instances_changed: vec![ended],
        jobs_changed: vec![job],
        tokens: running.tokens.iter().map(|one| Tokens { count: 0, ..*one }).collect(),
        ..Changes::default()
    };
    owner.commit(changes).await;
    let wanted = Wanted { elements: vec![ElementKey(key(63))], instances: vec![running.instance.key], ..Wanted::default() };
    assert_eq!(owner.store.load(PARTITION, &wanted, 0).await.unwrap().instances, []);
    let left = load(&owner.store, FRESH).await.tokens;
    assert_eq!(left.len(), 1, "those of others stay");
}

/// What was not there before can be waited for.
async fn waits(owner: &mut Owner) {
    let task = load(&owner.store, READY).await.elements.remove(0);
    let progress = Progress { total: 3, started: 2, completed: 1, terminated: 0 };
    let (key, state, incident) = (task.key, task.state, task.incident);
    let change = ElementChange { key, state, ended: None, incident, progress: Some(progress), past: false };
    let timer = rows::timer(owner.ownership.next_key, &task, 5);
    let subscription = rows::subscription(owner.ownership.next_key + 1, &task, "paid");
    let changes = Changes {
        elements_changed: vec![change],
        timers_new: vec![timer.clone()],
        subscriptions_new: vec![subscription.clone()],
        ..Changes::default()
    };
    owner.commit(changes).await;
    let found = load(&owner.store, READY).await;
    assert_eq!((found.timers, found.subscriptions), (vec![timer], vec![subscription]));
    assert_eq!(found.elements[0].progress, Some(progress));
}

/// What a server of schema version 22 (SQLite) or 24 (PostgreSQL) has left: whatever was stored for the first time after version 5 is read,
/// and goes on.
pub async fn later_goes_on(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    assert_eq!(owner.ownership.position, 48);
    later_instances(&store).await;
    later_queues(&store).await;
    let batch = store.batch_operation(key(228)).await.unwrap().expect("it stands still");
    assert_eq!((batch.state, batch.total, batch.completed), (BatchState::Suspended, 6, 0));
    assert_eq!(store.open_items(batch.key, 10).await.unwrap().len(), 6);
    // A job of an instance and an execution are done; both are what they were, and over.
    for n in [81, 139] {
        let mut done = job(&store, n).await;
        (done.availability, done.state, done.ended) = (Availability::Done, JobState::Completed, Some(1));
        let (jobs_changed, executions_changed) = match done.execution {
            None => (vec![done], vec![]),
            Some(_) => (vec![], vec![done]),
        };
        owner.commit(Changes { jobs_changed, executions_changed, ..Changes::default() }).await;
    }
    assert_eq!(store.queue_sizes(PARTITION).await.unwrap().iter().find(|size| &*size.job_type == "pack").unwrap().ready, 1);
}

async fn later_instances(store: &Arc<dyn Store>) {
    let waiting = load(store, 54).await;
    assert_eq!((waiting.timers.len(), waiting.subscriptions.len(), waiting.elements.len()), (1, 3, 8));
    let body = waiting.elements.iter().find_map(|element| element.progress);
    assert_eq!(body, Some(Progress { total: 3, started: 3, completed: 1, terminated: 0 }));
    let stopped = load(store, 93).await;
    assert_eq!((stopped.instance.state, stopped.compensations.len()), (InstanceState::Suspended, 1));
    let group = |name: &str, key: &str| MessageGroup { tenant: TENANT.into(), name: name.into(), correlation_key: key.into() };
    let wanted = Wanted {
        user_tasks: vec![UserTaskKey(key(69))],
        groups: vec![group("asked", "k"), group("arrived", "o-2")],
        starts: vec![(TENANT.into(), "asked".into())],
        locks: vec![(TENANT.into(), "begun".into(), "k".into())],
        unique: vec![(TENANT.into(), "report".into(), "report".into())],
        ..Wanted::default()
    };
    let loaded = store.load(PARTITION, &wanted, 0).await.unwrap();
    let task = &loaded.user_tasks[0];
    assert_eq!((task.state, task.candidate_groups.len(), task.priority), (UserTaskState::Completing, 2, 70));
    assert_eq!(task.transition.as_ref().map(|transition| &*transition.action), Some("complete"));
    let messages: Vec<_> =
        loaded.groups.iter().flat_map(|group| &group.messages).map(|one| (one.key - key(0), one.taken_by.len())).collect();
    assert_eq!(messages, [(124, 1), (133, 0), (135, 0)]);
    assert_eq!((loaded.locks[0].instance, loaded.unique[0].job), (InstanceKey(key(125)), JobKey(key(146))));
    assert_eq!(loaded.subscriptions.iter().filter(|row| row.origin.is_none()).count(), 1, "a message starts instances");
}

async fn later_queues(store: &Arc<dyn Store>) {
    let listener = job(store, 90).await;
    assert!(matches!(listener.kind, JobKind::Listener(ListenerEvent::Completing)), "{listener:?}");
    assert_eq!(job(store, 102).await.availability, Availability::Held);
    let leased = job(store, 118).await;
    assert!(leased.leases == 1 && leased.progress.is_some_and(|progress| progress.contains("half way")));
    let execution = job(store, 137).await;
    assert_eq!((execution.leases, execution.group.as_deref(), execution.priority), (1, Some(r#"{"customer":1}"#), 10));
    assert_eq!(&*execution.execution.unwrap().input, r#"{"customer":1,"n":1}"#);
    let put_off = job(store, 146).await.execution.unwrap();
    assert!(2_000 < put_off.input.len() && put_off.unique.is_some());
    let queue = QueueRef { partition: PARTITION, job_type: "mail", tenant: TENANT };
    assert_eq!(store.paces(queue).await.unwrap().len(), 1);
    assert_eq!(store.policies(PARTITION).await.unwrap()[0].reference.as_ref(), "per-customer");
    assert_eq!(store.global_listeners(PARTITION, 10).await.unwrap().len(), 1);
    let schedules = store.schedules(PARTITION).await.unwrap();
    assert_eq!((schedules.len(), &*schedules[0].reference, schedules[0].number), (1, "yearly", 1));
    let announced = store.outbox(PARTITION, AnnouncementKey(0), 10, 10_000).await.unwrap();
    assert_eq!((announced.len(), announced[0].job, announced[0].lease), (1, JobKey(key(163)), 1));
}

async fn job(store: &Arc<dyn Store>, n: u64) -> Job {
    let wanted = Wanted { jobs: vec![JobKey(key(n))], ..Wanted::default() };
    store.load(PARTITION, &wanted, 0).await.unwrap().jobs.pop().expect("it is there")
}
