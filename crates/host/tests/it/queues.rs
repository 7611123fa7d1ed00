//! Executions and policies through a real host: limits are never exceeded, order is kept, also across a restart.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::server::layer::{Fate, Layer};
use crate::server::{Server, TENANT, caller, clocked, memory, task};
use engine::{Document, JobKey};
use host::{Host, Poll};
use queue::policy::{Concurrency, Method, Policy, Quota, Scope};
use store::log::{Answer, Code, Command, FailJob, NewExecution, PutPolicy, Request, Submit};
use store::query::{Entity, ExecutionView, Items, Query, Tenants};
use store::row::{Availability, ExecutionState};
use store::{Commit, Store};

const ACTION: &str = "mail";

fn new(input: &[(&str, &str)]) -> NewExecution {
    let input = input.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    NewExecution { input, priority: 0, retries: 3, run_at: None, unique: None, group: Document::new() }
}

async fn submit(server: &Server, executions: Vec<NewExecution>) -> Vec<JobKey> {
    let submit = Submit { tenant: TENANT.into(), action: ACTION.into(), executions };
    match server.ask(Command::Submit(submit)).await {
        Answer::Submitted(submitted) => submitted.executions.iter().map(|one| one.job).collect(),
        other => panic!("{other:?}"),
    }
}

fn limit(limit: u32, parameters: &[&str], method: Method) -> Policy {
    let parameters = parameters.iter().map(|name| (*name).into()).collect();
    let concurrency = Some(Concurrency { limit, parameters, method, adaptive: None });
    Policy { concurrency, ..empty() }
}

fn empty() -> Policy {
    Policy::new(Scope::Action(ACTION.into()))
}

async fn put(server: &Server, policy: Policy) {
    let done = server.ask(Command::PutPolicy(PutPolicy { reference: "p".into(), policy: Box::new(policy) })).await;
    assert_eq!(done, Answer::Done);
}

async fn complete(server: &Server, job: JobKey) {
    assert_eq!(server.ask(Command::CompleteJob { job, variables: Document::new(), result: None }).await, Answer::Done);
}

/// Who is handed out now; those that have to wait are not waited for.
async fn started(server: &Server) -> Vec<JobKey> {
    server.poll(ACTION, None).await
}

async fn states(store: &Arc<dyn Store>) -> Vec<ExecutionState> {
    match store.search(&Query::of(Entity::Executions, Tenants::Everything)).await.unwrap().items {
        Items::Executions(views) => views.iter().map(|view: &ExecutionView| view.state).collect(),
        other => panic!("{other:?}"),
    }
}

/// Two at most, five submissions: A and B run, C follows A, D follows B, E follows the next.
#[tokio::test]
async fn two_at_a_time_in_the_order_of_submission() {
    let store = memory();
    let server = Server::start(&store).await;
    put(&server, limit(2, &[], Method::Enqueue)).await;
    let [a, b, c, d, e] = <[JobKey; 5]>::try_from(submit(&server, vec![new(&[]); 5]).await).unwrap();
    assert_eq!(started(&server).await, [a, b]);
    assert_eq!(started(&server).await, []);
    complete(&server, a).await;
    assert_eq!(started(&server).await, [c]);
    // One that fails with retries left goes to the front of its order.
    let fail = FailJob { job: b, retries: 2, message: "no".into(), backoff: 0, variables: vec![] };
    assert_eq!(server.ask(Command::FailJob(fail)).await, Answer::Done);
    assert_eq!(started(&server).await, [b]);
    // A new owner counts what runs.
    server.stop().await;
    let server = Server::start(&store).await;
    assert_eq!(started(&server).await, []);
    assert_eq!(server.ask(Command::CancelExecution { job: b }).await, Answer::Done);
    assert_eq!(started(&server).await, [d]);
    // A higher limit admits at once; a lower one lets what runs finish.
    put(&server, limit(3, &[], Method::Enqueue)).await;
    assert_eq!(started(&server).await, [e]);
    put(&server, limit(1, &[], Method::Enqueue)).await;
    let more = submit(&server, vec![new(&[]); 2]).await;
    for done in [c, d] {
        complete(&server, done).await;
        assert_eq!(started(&server).await, []);
    }
    complete(&server, e).await;
    assert_eq!(started(&server).await, more[..1]);
    assert_eq!(server.ask(Command::DeletePolicy { reference: "p".into() }).await, Answer::Done);
    assert_eq!(started(&server).await, more[1..]);
    server.stop().await;
}

#[tokio::test]
async fn each_group_has_slots_of_its_own() {
    let store = memory();
    let server = Server::start(&store).await;
    put(&server, limit(1, &["customer"], Method::Enqueue)).await;
    let of = |customer: &str| new(&[("customer", customer), ("x", "1")]);
    let group = NewExecution { group: vec![("customer".into(), "1".into())], ..new(&[]) };
    let keys = submit(&server, vec![of("1"), of("1"), of("2"), of("2"), group, new(&[]), new(&[])]).await;
    assert_eq!(started(&server).await, [keys[0], keys[2], keys[5]]);
    complete(&server, keys[2]).await;
    assert_eq!(started(&server).await, [keys[3]]);
    complete(&server, keys[0]).await;
    assert_eq!(started(&server).await, [keys[1]]);
    server.stop().await;
    let server = Server::start(&store).await;
    assert_eq!(started(&server).await, [], "groups are stored with the jobs");
    complete(&server, keys[1]).await;
    assert_eq!(started(&server).await, [keys[4]]);
    server.stop().await;
}

/// Jobs of processes are limited with executions; their groups come from their variables.
#[tokio::test]
async fn jobs_of_processes_are_limited_too() {
    let store = memory();
    let server = Server::start(&store).await;
    put(&server, limit(1, &["customer"], Method::Enqueue)).await;
    server.deploy(&[("p.bpmn", &task("p", ACTION))]).await;
    for customer in ["1", "1", "2"] {
        server.create("p", &[("customer", customer)]).await;
    }
    let direct = submit(&server, vec![new(&[("customer", "2")])]).await;
    let first = started(&server).await;
    assert_eq!(first.len(), 2);
    complete(&server, first[1]).await;
    assert_eq!(started(&server).await, direct);
    complete(&server, first[0]).await;
    assert_eq!(started(&server).await.len(), 1);
    server.stop().await;
}

#[tokio::test]
async fn what_finds_no_room_is_refused_or_an_incident() {
    let store = memory();
    let server = Server::start(&store).await;
    let full = Policy { concurrency: None, queue_max: Some(3), ..limit(1, &[], Method::Enqueue) };
    put(&server, full).await;
    submit(&server, vec![new(&[]); 2]).await;
    let refused = async |executions: usize| {
        let submit = Submit { tenant: TENANT.into(), action: ACTION.into(), executions: vec![new(&[]); executions] };
        match server.ask(Command::Submit(submit)).await {
            Answer::Rejected(rejection) => {
                assert_eq!(rejection.code, Code::Exhausted);
                Some(rejection.reason)
            }
            _ => None,
        }
    };
    assert!(refused(2).await.unwrap().contains("queue.maxLength"), "all of it or nothing");
    assert_eq!(refused(1).await, None);
    server.deploy(&[("p.bpmn", &task("p", ACTION))]).await;
    server.create("p", &[]).await;
    let Items::Incidents(found) = store.search(&Query::of(Entity::Incidents, Tenants::Everything)).await.unwrap().items else {
        panic!("incidents were asked for")
    };
    assert!(found[0].message.contains("queue.maxLength"), "{}", found[0].message);
    assert_eq!(server.ask(Command::ResolveIncident { incident: found[0].key }).await, Answer::Done);
    assert_eq!(started(&server).await.len(), 4);
    // A limit that does not let wait.
    put(&server, limit(5, &[], Method::Cancel)).await;
    assert_eq!(refused(1).await, None);
    assert!(refused(1).await.unwrap().contains("concurrency.limit"));
    // So it is with a job of a process, which an incident holds until somebody lets it wait all the same.
    for (policy, name) in [
        (limit(5, &[], Method::Cancel), "concurrency.limit"),
        (Policy { quota: Some(Quota { waiting: Some(1), ..Quota::default() }), ..empty() }, "quota.waiting"),
        (Policy { quota: Some(Quota { total: Some(5), ..Quota::default() }), ..empty() }, "quota.total"),
    ] {
        put(&server, policy).await;
        server.create("p", &[]).await;
        let Items::Incidents(found) = store.search(&Query::of(Entity::Incidents, Tenants::Everything)).await.unwrap().items
        else {
            panic!("incidents were asked for")
        };
        let found = found.last().unwrap();
        assert!(found.message.contains(name) && found.resolved.is_none(), "{}", found.message);
        assert_eq!(server.ask(Command::ResolveIncident { incident: found.key }).await, Answer::Done);
    }
    put(&server, empty()).await;
    assert_eq!(started(&server).await.len(), 4, "the execution, and the three of processes");
    server.stop().await;
}

#[tokio::test]
async fn a_paused_action_hands_out_nothing() {
    let store = memory();
    let server = Server::start(&store).await;
    let keys = submit(&server, vec![new(&[]); 2]).await;
    put(&server, Policy { paused: true, concurrency: None, ..limit(1, &[], Method::Enqueue) }).await;
    assert_eq!(started(&server).await, []);
    server.stop().await;
    let server = Server::start(&store).await;
    assert_eq!(started(&server).await, []);
    assert_eq!(server.ask(Command::DeletePolicy { reference: "p".into() }).await, Answer::Done);
    assert_eq!(started(&server).await, keys);
    let again = server.ask(Command::DeletePolicy { reference: "p".into() }).await;
    assert!(matches!(again, Answer::Rejected(rejection) if rejection.code == Code::NotFound));
    server.stop().await;
}

/// Without policies a job of a process is written by the statements it always was, and nothing else is.
#[tokio::test]
async fn jobs_of_processes_cost_what_they_did() {
    let rows: Arc<Mutex<Vec<(usize, usize, usize)>>> = Arc::default();
    let seen = rows.clone();
    let store = Layer::over(clocked()).on_commit(move |commit: &Commit| {
        let changes = &commit.changes;
        let of_executions = changes.executions_new.len() + changes.executions_changed.len() + changes.policies_new.len();
        seen.lock().unwrap().push((changes.jobs_new.len(), changes.jobs_changed.len(), of_executions));
        Fate::Through
    });
    let store = store.shared();
    let server = Server::start(&store).await;
    server.deploy(&[("p.bpmn", &task("p", ACTION))]).await;
    server.create("p", &[]).await;
    let job = started(&server).await[0];
    complete(&server, job).await;
    server.stop().await;
    let rows = rows.lock().unwrap();
    let sum = |of: fn(&(usize, usize, usize)) -> usize| rows.iter().map(of).sum::<usize>();
    assert_eq!((sum(|row| row.0), sum(|row| row.1), sum(|row| row.2)), (1, 2, 0));
}

/// What commits say about who runs.
#[derive(Default)]
struct Watched {
    running: BTreeSet<JobKey>,
    started: Vec<JobKey>,
    most: usize,
}

fn watching(inner: Arc<dyn Store>, watched: &Arc<Mutex<Watched>>) -> Arc<dyn Store> {
    let watched = watched.clone();
    let layer = Layer::of(inner).on_commit(move |commit| {
        let mut watched = watched.lock().unwrap();
        let changes = &commit.changes;
        for job in changes.executions_new.iter().chain(&changes.executions_changed) {
            match job.availability {
                Availability::Leased => {
                    if watched.running.insert(job.key) {
                        watched.started.push(job.key);
                    }
                }
                _ => drop(watched.running.remove(&job.key)),
            }
        }
        watched.most = watched.most.max(watched.running.len());
        Fate::Through
    });
    layer.shared()
}

/// Works until so many are done in all; what it has in its hands then is left to others.
async fn work(host: Host, done: Arc<AtomicUsize>, until: usize) -> Vec<JobKey> {
    let poll = Poll {
        job_type: ACTION.into(),
        worker: "w".into(),
        timeout: 3_600_000,
        max: 1,
        tenants: vec![TENANT.into()],
        fetch: vec![],
        wait: Some(Duration::from_millis(200)),
    };
    while done.load(Ordering::SeqCst) < until {
        let jobs = host.activate(poll.clone()).await.unwrap().take();
        for job in &jobs {
            if until <= done.load(Ordering::SeqCst) {
                return jobs.iter().map(|job| job.key).collect();
            }
            finish(&host, job.key).await;
            done.fetch_add(1, Ordering::SeqCst);
        }
    }
    Vec::new()
}

async fn finish(host: &Host, job: JobKey) {
    let command = Command::CompleteJob { job, variables: Document::new(), result: None };
    host.submit(Request { caller: caller(), command, idempotency: None }).await.unwrap();
}

/// The store of the folder, once whoever had it before has let go of it.
async fn open(folder: &Path) -> Arc<dyn Store> {
    loop {
        match store_sqlite::open(folder, store_sqlite::Options::default()) {
            Ok(store) => return Arc::new(store),
            Err(store::Error::InUse { .. }) => tokio::time::sleep(Duration::from_millis(10)).await,
            Err(error) => panic!("{error}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_start_in_order_ten_at_a_time_across_a_restart() {
    const COUNT: usize = 10_000;
    let folder = tempfile::tempdir().unwrap();
    let watched = Arc::new(Mutex::new(Watched::default()));
    let done = Arc::new(AtomicUsize::new(0));
    let mut keys = Vec::new();
    let mut left = Vec::new();
    for until in [COUNT / 2, COUNT] {
        let store = watching(open(folder.path()).await, &watched);
        let server = Server::start(&store).await;
        if keys.is_empty() {
            put(&server, limit(10, &[], Method::Enqueue)).await;
            for _ in 0..COUNT / 1_000 {
                keys.extend(submit(&server, vec![new(&[("a", "1")]); 1_000]).await);
            }
        }
        // What the workers had when the server was stopped they finish now.
        for job in std::mem::take(&mut left) {
            finish(&server.host, job).await;
            done.fetch_add(1, Ordering::SeqCst);
        }
        let workers = (0..20).map(|_| tokio::spawn(work(server.host.clone(), done.clone(), until)));
        for worker in workers.collect::<Vec<_>>() {
            left.extend(worker.await.unwrap());
        }
        server.stop().await;
        drop(store);
    }
    let watched = std::mem::take(&mut *watched.lock().unwrap());
    assert_eq!(done.load(Ordering::SeqCst), COUNT);
    assert_eq!(watched.most, 10);
    assert_eq!(watched.started, keys, "the order of submission");
    let store = open(folder.path()).await;
    let total = store.search(&Query::of(Entity::Executions, Tenants::Everything)).await.unwrap();
    assert!(total.total_is_more || total.total == COUNT as u64);
    assert!(states(&store).await.iter().all(|state| *state == ExecutionState::Completed));
}
