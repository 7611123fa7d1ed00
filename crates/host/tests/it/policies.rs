//! What policies say beyond how many at once, through a real host with a clock that stands still until it is moved.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::server::layer::{Fate, Layer};
use crate::server::{Server, TENANT, caller, clocked, memory, task};
use engine::{Document, JobKey};
use host::{ClockMove, Poll, Role};
use queue::adapt::Adaptive;
use queue::policy::{Concurrency, Method, Overdue, Policy, Quota, Rate, Scope, Wait};
use queue::retry::{Delays, Retry};
use queue::{Bucket, Pace};
use store::log::{
    Answer, Code, Command, FailJob, IdempotencyKey, NewExecution, NewUnique, OnConflict, PutPolicy, Request, Submit,
};
use store::query::{Entity, ExecutionView, Field, Filter, Items, Op, Order, Query, Scalar, Sort, Tenants};
use store::row::{Availability, ExecutionState};
use store::{Commit, Store};

const ACTION: &str = "mail";
/// Where the clock stands at first.
const START: i64 = 1_800_000_000_000;

async fn start_at(store: &Arc<dyn Store>, now: i64) -> Server {
    let server = Server::start(store).await;
    server.host.move_clock(ClockMove::Pin(now)).unwrap();
    server
}

fn pass(server: &Server, time: i64) {
    server.host.move_clock(ClockMove::Advance(time)).unwrap();
}

fn new(group: &str) -> NewExecution {
    let input = vec![("g".into(), format!("\"{group}\"").into())];
    NewExecution { input, priority: 0, retries: 3, run_at: None, unique: None, group: Document::new() }
}

async fn submit_to(server: &Server, action: &str, executions: Vec<NewExecution>) -> Vec<JobKey> {
    let submit = Submit { tenant: TENANT.into(), action: action.into(), executions };
    match server.ask(Command::Submit(submit)).await {
        Answer::Submitted(submitted) => submitted.executions.iter().map(|one| one.job).collect(),
        other => panic!("{other:?}"),
    }
}

async fn submit(server: &Server, groups: &[&str]) -> Vec<JobKey> {
    submit_to(server, ACTION, groups.iter().map(|group| new(group)).collect()).await
}

async fn refused(server: &Server, action: &str) -> String {
    let submit = Submit { tenant: TENANT.into(), action: action.into(), executions: vec![new("a")] };
    match server.ask(Command::Submit(submit)).await {
        Answer::Rejected(rejection) => rejection.reason,
        other => panic!("{other:?}"),
    }
}

fn policy() -> Policy {
    Policy::new(Scope::Action(ACTION.into()))
}

fn rate(limit: u32, window: i64, parameters: &[&str]) -> Option<Rate> {
    Some(Rate { pace: Pace { limit, window }, parameters: parameters.iter().map(|name| (*name).into()).collect() })
}

fn concurrency(limit: u32, parameters: &[&str]) -> Option<Concurrency> {
    let parameters = parameters.iter().map(|name| (*name).into()).collect();
    Some(Concurrency { limit, parameters, method: Method::Enqueue, adaptive: None })
}

async fn put(server: &Server, policy: Policy) {
    put_as(server, "p", policy).await;
}

async fn put_as(server: &Server, reference: &str, policy: Policy) {
    let done = server.ask(Command::PutPolicy(PutPolicy { reference: reference.into(), policy: Box::new(policy) })).await;
    assert_eq!(done, Answer::Done);
}

async fn complete(server: &Server, job: JobKey) {
    assert_eq!(server.ask(Command::CompleteJob { job, variables: Document::new(), result: None }).await, Answer::Done);
}

async fn fail(server: &Server, job: JobKey, retries: i32) {
    let fail = FailJob { job, retries, message: "no".into(), backoff: 0, variables: vec![] };
    assert_eq!(server.ask(Command::FailJob(fail)).await, Answer::Done);
}

/// Who is handed out now, at most five.
async fn started(server: &Server) -> Vec<JobKey> {
    server.poll(ACTION, None).await
}

async fn found(store: &Arc<dyn Store>, job: JobKey) -> ExecutionView {
    match store.search(&Query::of(Entity::Executions, Tenants::Everything)).await.unwrap().items {
        Items::Executions(views) => views.into_iter().find(|view| view.key == job).unwrap(),
        other => panic!("{other:?}"),
    }
}

/// What the audit trail tells of a job, in the order in which it happened.
async fn told(store: &Arc<dyn Store>, job: JobKey) -> Vec<&'static str> {
    let filter = Filter::Is(Field::JobKey, Op::Eq(Scalar::Int(job.0 as i64)));
    let sort = vec![Sort { field: Field::At, order: Order::Ascending }];
    match store.search(&Query { filter, sort, ..Query::of(Entity::Audit, Tenants::Everything) }).await.unwrap().items {
        Items::Audit(views) => views.iter().map(|view| view.operation.word()).collect(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn so_many_per_window_also_for_the_next_owner() {
    let store = memory();
    let server = start_at(&store, START).await;
    put(&server, Policy { rate: rate(2, 1_000, &[]), ..policy() }).await;
    let keys = submit(&server, &["a"; 6]).await;
    assert_eq!(started(&server).await, keys[..2]);
    // What they do meanwhile makes no difference.
    complete(&server, keys[0]).await;
    pass(&server, 999);
    assert_eq!(started(&server).await, []);
    server.stop().await;
    let server = start_at(&store, START + 999).await;
    assert_eq!(started(&server).await, []);
    pass(&server, 1);
    assert_eq!(started(&server).await, keys[2..4]);
    // Another limit counts the same starts, at once.
    put(&server, Policy { rate: rate(3, 1_000, &[]), ..policy() }).await;
    assert_eq!(started(&server).await, keys[4..5]);
    // A lease that is made longer is no start.
    let longer = store::log::UpdateJob { job: keys[4], retries: None, timeout: Some(700_000) };
    assert_eq!(server.ask(Command::UpdateJob(longer)).await, Answer::Done);
    pass(&server, 1_000);
    assert_eq!(started(&server).await, keys[5..]);
    server.stop().await;
}

#[tokio::test]
async fn each_group_has_a_rate_of_its_own_and_starts_keep_their_distance() {
    let store = memory();
    let server = start_at(&store, START).await;
    put(&server, Policy { rate: rate(1, 1_000, &["g"]), ..policy() }).await;
    let keys = submit(&server, &["a", "a", "b", "b"]).await;
    assert_eq!(started(&server).await, [keys[0], keys[2]]);
    pass(&server, 1_000);
    assert_eq!(started(&server).await, [keys[1], keys[3]]);
    put(&server, Policy { delay: Some(100), ..policy() }).await;
    let keys = submit(&server, &["a", "b", "c"]).await;
    assert_eq!(started(&server).await, keys[..1]);
    pass(&server, 99);
    assert_eq!(started(&server).await, []);
    server.stop().await;
    let server = start_at(&store, START + 1_099).await;
    assert_eq!(started(&server).await, []);
    pass(&server, 1);
    assert_eq!(started(&server).await, keys[1..2]);
    server.stop().await;
}

/// A worker that waits is served when the next token is due, by nothing but the time.
#[tokio::test]
async fn whoever_waits_gets_the_job_when_it_is_due() {
    let starts: Arc<Mutex<BTreeMap<JobKey, i64>>> = Arc::default();
    let seen = starts.clone();
    let layer = Layer::over(clocked()).on_commit(move |commit: &Commit| {
        for job in commit.changes.executions_new.iter().chain(&commit.changes.executions_changed) {
            if job.availability == Availability::Leased {
                seen.lock().unwrap().insert(job.key, job.execution.as_ref().unwrap().started.unwrap());
            }
        }
        Fate::Through
    });
    let store = layer.shared();
    let server = Server::start(&store).await;
    put(&server, Policy { rate: rate(2, 150, &[]), ..policy() }).await;
    let keys = submit(&server, &["a"; 5]).await;
    let mut got = Vec::new();
    while got.len() < keys.len() {
        got.extend(server.poll(ACTION, Some(Duration::from_secs(30))).await);
    }
    assert_eq!(got, keys);
    let starts: Vec<i64> = starts.lock().unwrap().values().copied().collect();
    assert!(starts.windows(3).all(|three| three[0] + 150 <= three[2]), "{starts:?}");
    server.stop().await;
}

/// Where no policy says how fast, nothing is written about it; where one does, one row for each tick and bucket.
#[tokio::test]
async fn a_pace_costs_a_row_for_those_who_have_one() {
    let rows: Arc<Mutex<Vec<usize>>> = Arc::default();
    let seen = rows.clone();
    let layer = Layer::over(clocked()).on_commit(move |commit: &Commit| {
        seen.lock().unwrap().push(commit.changes.paces_put.len());
        Fate::Through
    });
    let store = layer.shared();
    let server = start_at(&store, START).await;
    put(&server, Policy { concurrency: concurrency(5, &["g"]), ..policy() }).await;
    submit(&server, &["a"; 5]).await;
    assert_eq!(started(&server).await.len(), 5);
    assert_eq!(rows.lock().unwrap().iter().sum::<usize>(), 0);
    put(&server, Policy { rate: rate(5, 1_000, &[]), ..policy() }).await;
    submit(&server, &["a"; 5]).await;
    assert_eq!(started(&server).await.len(), 5);
    assert_eq!(rows.lock().unwrap().iter().sum::<usize>(), 1, "five starts of one tick");
    let queue = store::QueueRef { partition: engine::PartitionId(1), job_type: ACTION, tenant: TENANT };
    let stored = store.paces(queue).await.unwrap();
    assert_eq!(stored.len(), 1);
    assert_eq!(Bucket::named(&stored[0].bucket), Bucket::All);
    assert_eq!(stored[0].starts.moments().collect::<Vec<_>>(), [(START, 5)]);
    assert_eq!(stored[0].until, START + 1_000);
    server.stop().await;
}

#[tokio::test]
async fn quotas_of_actions_and_of_tenants() {
    let store = memory();
    let server = start_at(&store, START).await;
    let quota = |running, waiting, total| Some(Quota { running, waiting, total });
    put(&server, Policy { quota: quota(Some(2), Some(3), Some(4)), ..policy() }).await;
    let keys = submit(&server, &["a"; 3]).await;
    assert!(refused(&server, ACTION).await.contains("quota.waiting"));
    assert_eq!(started(&server).await, keys[..2]);
    submit(&server, &["a"]).await;
    assert!(refused(&server, ACTION).await.contains("quota.total"));
    // That of a tenant is for all its actions together, also those with a policy of their own.
    let tenant = Policy { quota: quota(Some(3), None, Some(6)), ..Policy::new(Scope::Tenant(TENANT.into())) };
    put_as(&server, "t", tenant).await;
    let others = submit_to(&server, "other", vec![new("a"), new("a")]).await;
    assert!(refused(&server, "other").await.contains(&format!("6 jobs of tenant '{TENANT}'")));
    assert_eq!(server.poll("other", None).await, others[..1]);
    assert_eq!(server.poll("other", None).await, []);
    server.stop().await;
    let server = start_at(&store, START).await;
    assert_eq!(server.poll("other", None).await, [], "a new owner counts what runs");
    complete(&server, keys[0]).await;
    // Whoever asks first gets the slot that is free.
    assert_eq!(server.poll("other", None).await, others[1..]);
    assert_eq!(started(&server).await, []);
    complete(&server, others[0]).await;
    assert_eq!(started(&server).await, keys[2..]);
    server.stop().await;
}

#[tokio::test]
async fn whoever_waits_too_long_fails_or_is_an_incident() {
    let store = memory();
    let server = start_at(&store, START).await;
    let wait = |then| Some(Wait { most: 1_000, then });
    put(&server, Policy { wait: wait(Overdue::Fail), ..policy() }).await;
    let [first, second] = <[JobKey; 2]>::try_from(submit(&server, &["a", "a"]).await).unwrap();
    assert_eq!(server.poll(ACTION, None).await, [first, second]);
    pass(&server, 5_000);
    // It runs as long as it likes; when it waits again, that begins anew.
    fail(&server, second, 2).await;
    pass(&server, 999);
    assert_eq!(found(&store, second).await.state, ExecutionState::Waiting);
    server.stop().await;
    let server = start_at(&store, START + 5_999).await;
    assert_eq!(found(&store, second).await.state, ExecutionState::Waiting);
    pass(&server, 1);
    let ended = loop {
        let view = found(&store, second).await;
        if view.state != ExecutionState::Waiting {
            break view;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    };
    assert_eq!(ended.state, ExecutionState::Failed);
    assert!(ended.error_message.contains("queue.maxWait"), "{}", ended.error_message);
    assert_eq!(told(&store, second).await, ["DISPATCH", "FAIL", "FAIL"], "by its worker, and for having waited too long");
    assert_eq!(started(&server).await, []);
    // A job of a process is an incident; one that is resolved waits anew.
    server.deploy(&[("p.bpmn", &task("p", ACTION))]).await;
    server.create("p", &[]).await;
    pass(&server, 1_000);
    let incident = loop {
        let Items::Incidents(found) = store.search(&Query::of(Entity::Incidents, Tenants::Everything)).await.unwrap().items
        else {
            panic!("incidents were asked for")
        };
        if let Some(incident) = found.first() {
            break incident.clone();
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    };
    assert!(incident.message.contains("queue.maxWait"), "{}", incident.message);
    assert_eq!(started(&server).await, []);
    assert_eq!(server.ask(Command::ResolveIncident { incident: incident.key }).await, Answer::Done);
    // Where the policy says so no longer, nobody is late.
    put(&server, policy()).await;
    pass(&server, 10_000);
    assert_eq!(started(&server).await.len(), 1);
    put(&server, Policy { wait: wait(Overdue::Cancel), ..policy() }).await;
    let late = submit(&server, &["a"]).await[0];
    pass(&server, 1_000);
    while found(&store, late).await.state == ExecutionState::Waiting {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(found(&store, late).await.state, ExecutionState::Cancelled);
    assert_eq!(told(&store, late).await, ["CANCEL"]);
    server.stop().await;
}

#[tokio::test]
async fn groups_take_turns_and_nobody_starves() {
    let store = memory();
    let server = start_at(&store, START).await;
    let keys = {
        put(&server, Policy { concurrency: concurrency(1_000, &["g"]), fair: true, ..policy() }).await;
        submit(&server, &["a", "a", "a", "b", "c"]).await
    };
    assert_eq!(started(&server).await, [keys[0], keys[3], keys[4], keys[1], keys[2]]);
    put(&server, Policy { ageing: Some(1_000), ..policy() }).await;
    let low = submit(&server, &["a"]).await[0];
    pass(&server, 4_999);
    let before = submit_to(&server, ACTION, vec![NewExecution { priority: 5, ..new("a") }]).await[0];
    pass(&server, 2);
    let behind = submit_to(&server, ACTION, vec![NewExecution { priority: 5, ..new("a") }]).await[0];
    server.stop().await;
    let server = start_at(&store, START + 6_000).await;
    assert_eq!(started(&server).await, [before, low, behind]);
    server.stop().await;
}

#[tokio::test]
async fn retries_come_when_the_policy_says_and_keep_their_slots_if_it_says_so() {
    let store = memory();
    let server = start_at(&store, START).await;
    let retry = |holds| Some(Retry { delays: Delays::Listed(vec![1_000, 5_000]), jitter_percent: 0, holds });
    put(&server, Policy { concurrency: concurrency(1, &[]), retry: retry(false), ..policy() }).await;
    let [first, second] = <[JobKey; 2]>::try_from(submit(&server, &["a", "b"]).await).unwrap();
    assert_eq!(started(&server).await, [first]);
    fail(&server, first, 2).await;
    assert_eq!(started(&server).await, [second], "its slot is free");
    pass(&server, 1_000);
    complete(&server, second).await;
    assert_eq!(started(&server).await, [first]);
    // With the slot nobody goes before it, also for the next owner.
    put(&server, Policy { concurrency: concurrency(1, &[]), retry: retry(true), ..policy() }).await;
    let third = submit(&server, &["c"]).await[0];
    fail(&server, first, 1).await;
    assert_eq!(started(&server).await, []);
    server.stop().await;
    let server = start_at(&store, START + 1_000 + 4_999).await;
    assert_eq!(started(&server).await, []);
    pass(&server, 1);
    assert_eq!(server.poll(ACTION, Some(Duration::from_secs(30))).await, [first]);
    complete(&server, first).await;
    assert_eq!(started(&server).await, [third]);
    // What a worker says counts more; a job of a process is delayed too, longer with every try.
    complete(&server, third).await;
    server.deploy(&[("p.bpmn", &task("p", ACTION))]).await;
    server.create("p", &[]).await;
    let job = started(&server).await[0];
    fail(&server, job, 2).await;
    pass(&server, 1_000);
    assert_eq!(server.poll(ACTION, Some(Duration::from_secs(30))).await, [job]);
    fail(&server, job, 1).await;
    pass(&server, 4_999);
    assert_eq!(started(&server).await, []);
    pass(&server, 1);
    assert_eq!(server.poll(ACTION, Some(Duration::from_secs(30))).await, [job]);
    let own = FailJob { job, retries: 1, message: "no".into(), backoff: 7, variables: vec![] };
    assert_eq!(server.ask(Command::FailJob(own)).await, Answer::Done);
    pass(&server, 7);
    assert_eq!(server.poll(ACTION, Some(Duration::from_secs(30))).await, [job]);
    server.stop().await;
}

#[tokio::test]
async fn a_group_is_paused_and_an_action_drains() {
    let store = memory();
    let server = start_at(&store, START).await;
    put(&server, Policy { concurrency: concurrency(5, &["g"]), ..policy() }).await;
    let keys = submit(&server, &["a", "b", "a"]).await;
    let (action, tenant): (Arc<str>, Arc<str>) = (ACTION.into(), TENANT.into());
    let group = |name: &str, value: &str| vec![(name.into(), value.into())];
    assert_eq!(server.host.pause_group(&action, &tenant, &group("h", "1")).await.unwrap(), None);
    let (reference, pause) = server.host.pause_group(&action, &tenant, &group("g", "\"a\"")).await.unwrap().unwrap();
    put_as(&server, &reference, pause).await;
    assert_eq!(started(&server).await, keys[1..2]);
    let status = server.host.queue(&action, &tenant).await.unwrap();
    assert_eq!(status.groups_paused, ["{\"g\":\"a\"}".into()]);
    server.stop().await;
    let server = start_at(&store, START).await;
    assert_eq!(started(&server).await, []);
    assert_eq!(server.ask(Command::DeletePolicy { reference }).await, Answer::Done);
    let (reference, drain) = host::drain(&action);
    put_as(&server, &reference, drain).await;
    assert!(server.host.queue(&action, &tenant).await.unwrap().draining);
    assert!(refused(&server, ACTION).await.contains("drains"));
    assert_eq!(submit_to(&server, "other", vec![new("a")]).await.len(), 1);
    assert_eq!(started(&server).await, [keys[0], keys[2]], "what is there goes on");
    assert_eq!(server.ask(Command::DeletePolicy { reference }).await, Answer::Done);
    assert_eq!(submit(&server, &["a"]).await.len(), 1);
    server.stop().await;
}

#[tokio::test]
async fn a_limit_that_adapts_goes_up_with_success_and_down_with_failure() {
    let store = memory();
    let server = start_at(&store, START).await;
    let adaptive = Some(Adaptive { limit_min: 1, latency: Some(500) });
    let concurrency = Some(Concurrency { adaptive, ..concurrency(4, &[]).unwrap() });
    put(&server, Policy { concurrency, ..policy() }).await;
    submit(&server, &["a"; 40]).await;
    let mut most = Vec::new();
    for _ in 0..8 {
        let jobs = started(&server).await;
        most.push(jobs.len());
        for job in jobs {
            complete(&server, job).await;
        }
    }
    assert_eq!((most[0], most[1], most[7]), (1, 2, 4), "{most:?}");
    assert!(most.windows(2).all(|two| two[0] <= two[1]), "{most:?}");
    let slow = started(&server).await;
    pass(&server, 501);
    for job in slow {
        complete(&server, job).await;
    }
    assert_eq!(started(&server).await.len(), 2, "all were too slow, which counts once");
    server.stop().await;
}

/// A follower asks the owner: whoever asks over another server is limited alike.
#[tokio::test]
async fn another_server_is_limited_too() {
    let store = memory();
    let server = start_at(&store, START).await;
    put(&server, Policy { rate: rate(1, 60_000, &[]), ..policy() }).await;
    let keys = submit(&server, &["a", "a"]).await;
    let follower = Server::join(&store, "follower", Role::Follower, host::Limits::default());
    let poll = |wait| Poll {
        job_type: ACTION.into(),
        worker: "w".into(),
        timeout: 600_000,
        max: 5,
        tenants: vec![TENANT.into()],
        fetch: vec![],
        wait,
    };
    let got = follower.host.activate(poll(Some(Duration::from_secs(30)))).await.unwrap().take();
    assert_eq!(got.iter().map(|job| job.key).collect::<Vec<_>>(), keys[..1]);
    assert!(follower.host.activate(poll(None)).await.unwrap().is_empty());
    follower.stop().await;
    server.stop().await;
}

#[tokio::test]
async fn refusals_have_their_codes() {
    let store = memory();
    let server = start_at(&store, START).await;
    let (reference, drain) = host::drain(&ACTION.into());
    put_as(&server, &reference, drain).await;
    let submit = Submit { tenant: TENANT.into(), action: ACTION.into(), executions: vec![new("a")] };
    let code = |answer| match answer {
        Answer::Rejected(rejection) => rejection.code,
        other => panic!("{other:?}"),
    };
    assert_eq!(code(server.ask(Command::Submit(submit.clone())).await), Code::InvalidState);
    assert_eq!(server.ask(Command::DeletePolicy { reference }).await, Answer::Done);
    put(&server, Policy { quota: Some(Quota { waiting: Some(1), ..Quota::default() }), ..policy() }).await;
    assert!(matches!(server.ask(Command::Submit(submit.clone())).await, Answer::Submitted(_)));
    assert_eq!(code(server.ask(Command::Submit(submit)).await), Code::Exhausted);
    server.stop().await;
}

#[tokio::test]
async fn a_submission_that_found_no_room_may_come_again_with_its_key() {
    let store = memory();
    let server = start_at(&store, START).await;
    put(&server, Policy { quota: Some(Quota { waiting: Some(1), ..Quota::default() }), ..policy() }).await;
    let again = || {
        let submit = Submit { tenant: TENANT.into(), action: ACTION.into(), executions: vec![new("a")] };
        let key = IdempotencyKey { tenant: TENANT.into(), key: "k".into(), fingerprint: 7 };
        server.host.submit(Request { caller: caller(), command: Command::Submit(submit), idempotency: Some(key) })
    };
    submit(&server, &["a"]).await;
    let full = again().await.unwrap_err();
    assert!(matches!(&full, host::Error::Rejected(rejection) if rejection.code == Code::Exhausted), "{full:?}");
    started(&server).await;
    let first = again().await.unwrap();
    assert!(matches!(first, Answer::Submitted(_)), "{first:?}");
    assert_eq!(again().await.unwrap(), first, "what was taken is taken once");
    server.stop().await;
}

/// What waits for its next try may keep a slot of its queue, never one of the tenant's, which counts what runs: for the next owner too.
#[tokio::test]
async fn a_slot_kept_for_the_next_try_is_none_of_the_tenants() {
    let store = memory();
    let server = start_at(&store, START).await;
    let quota = Some(Quota { running: Some(1), ..Quota::default() });
    put_as(&server, "t", Policy { quota, ..Policy::new(Scope::Tenant(TENANT.into())) }).await;
    let retry = Some(Retry { delays: Delays::Listed(vec![1_000]), jitter_percent: 0, holds: true });
    put(&server, Policy { concurrency: concurrency(1, &[]), retry, ..policy() }).await;
    let first = submit(&server, &["a"]).await[0];
    let others = submit_to(&server, "other", vec![new("a"), new("a")]).await;
    assert_eq!(started(&server).await, [first]);
    assert_eq!(server.poll("other", None).await, []);
    fail(&server, first, 2).await;
    server.stop().await;
    let server = start_at(&store, START).await;
    assert_eq!(started(&server).await, []);
    assert_eq!(server.poll("other", None).await, others[..1], "nothing runs");
    pass(&server, 1_000);
    for _ in 0..5 {
        assert_eq!(started(&server).await, [], "one runs already");
        assert_eq!(server.poll("other", None).await, []);
    }
    complete(&server, others[0]).await;
    assert_eq!(started(&server).await, [first]);
    assert_eq!(server.poll("other", None).await, []);
    server.stop().await;
}

/// One that takes another's place needs no room of its own; one that finds none leaves the other where it is.
#[tokio::test]
async fn what_replaces_another_takes_its_place() {
    let store = memory();
    let server = start_at(&store, START).await;
    let unique = |key: &str| NewUnique { key: key.into(), window: None, on_conflict: OnConflict::Replace };
    let of = |key| NewExecution { unique: Some(unique(key)), ..new("a") };
    let full = |waiting| Policy { quota: Some(Quota { waiting: Some(waiting), ..Quota::default() }), ..policy() };
    put(&server, full(2)).await;
    let before = submit_to(&server, ACTION, vec![of("k"), of("l")]).await;
    // All in one command, each in place of the one before.
    let after = submit_to(&server, ACTION, vec![of("k"), of("l"), of("k")]).await;
    assert_eq!(started(&server).await, after[1..]);
    for gone in [before[0], before[1], after[0]] {
        assert_eq!(found(&store, gone).await.state, ExecutionState::Cancelled);
    }
    let waiting = submit_to(&server, ACTION, vec![of("m"), of("n")]).await;
    put(&server, full(1)).await;
    let refused =
        server.ask(Command::Submit(Submit { tenant: TENANT.into(), action: ACTION.into(), executions: vec![of("m")] })).await;
    assert!(matches!(&refused, Answer::Rejected(rejection) if rejection.code == Code::Exhausted), "{refused:?}");
    assert_eq!(started(&server).await, waiting);
    server.stop().await;
}

/// Jobs stay in the groups they were made with, and where none are told apart all of them count, at once and for the next owner.
#[tokio::test]
async fn other_parameters_are_named_while_jobs_run() {
    let store = memory();
    let server = start_at(&store, START).await;
    put(&server, Policy { concurrency: concurrency(1, &["g"]), ..policy() }).await;
    let keys = submit(&server, &["a", "b", "a"]).await;
    assert_eq!(started(&server).await, keys[..2]);
    put(&server, Policy { concurrency: concurrency(2, &[]), ..policy() }).await;
    assert_eq!(started(&server).await, [], "both count");
    complete(&server, keys[0]).await;
    assert_eq!(started(&server).await, keys[2..]);
    put(&server, Policy { concurrency: concurrency(1, &["g"]), ..policy() }).await;
    let more = submit(&server, &["a", "c"]).await;
    assert_eq!(started(&server).await, more[1..], "one of a runs");
    server.stop().await;
    let server = start_at(&store, START).await;
    assert_eq!(started(&server).await, []);
    complete(&server, keys[2]).await;
    assert_eq!(started(&server).await, more[..1]);
    // By another name these are one group, and the others are what they were.
    put(&server, Policy { concurrency: concurrency(1, &["h"]), ..policy() }).await;
    let last = submit(&server, &["a", "b"]).await;
    assert_eq!(started(&server).await, last[..1]);
    server.stop().await;
    let server = start_at(&store, START).await;
    assert_eq!(started(&server).await, []);
    complete(&server, last[0]).await;
    assert_eq!(started(&server).await, last[1..]);
    server.stop().await;
}
