//! What has happened in queues is written down now and then, goes on across owners, and shows what does not move; and who waits in vain costs
//! the store nothing.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::server::layer::{Fate, Layer};
use crate::server::{Server, TENANT, clocked, memory};
use engine::{Document, JobKey, PartitionId};
use host::{ClockMove, Limits, Role};
use queue::Pace;
use queue::policy::{Concurrency, Method, Policy, Rate, Scope};
use store::Store;
use store::log::{Answer, Command, NewExecution, PutPolicy, Submit};
use store::row::QueueStats;

const ACTION: &str = "mail";

async fn start(store: &Arc<dyn Store>) -> Server {
    // No lease is renewed while this looks.
    let limits = Limits { lease: Duration::from_secs(600), ..Limits::default() };
    let server = Server::join(store, "server", Role::Engine, limits);
    server.owning().await;
    server
}

async fn submit(server: &Server, count: usize) -> Vec<JobKey> {
    let new = NewExecution { input: vec![], priority: 0, retries: 3, run_at: None, unique: None, group: vec![] };
    let submit = Submit { tenant: TENANT.into(), action: ACTION.into(), executions: vec![new; count] };
    match server.ask(Command::Submit(submit)).await {
        Answer::Submitted(submitted) => submitted.executions.iter().map(|one| one.job).collect(),
        other => panic!("{other:?}"),
    }
}

async fn complete(server: &Server, job: JobKey) {
    assert_eq!(server.ask(Command::CompleteJob { job, variables: Document::new(), result: None }).await, Answer::Done);
}

fn pass(server: &Server, seconds: i64) {
    server.host.move_clock(ClockMove::Advance(seconds * 1_000)).unwrap();
}

/// Lets the time pass until what is written is as expected.
async fn written(server: &Server, store: &Arc<dyn Store>, expected: impl Fn(&QueueStats) -> bool) -> QueueStats {
    for _ in 0..1_000 {
        if let Some(row) = store.queue_stats(PartitionId(1), Some(ACTION)).await.unwrap().into_iter().find(&expected) {
            return row;
        }
        pass(server, 6);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("{:?}", store.queue_stats(PartitionId(1), None).await);
}

fn one_at_a_time() -> Command {
    let concurrency = Some(Concurrency { limit: 1, parameters: vec![], method: Method::Enqueue, adaptive: None });
    let policy = Policy { concurrency, ..Policy::new(Scope::Action(ACTION.into())) };
    Command::PutPolicy(PutPolicy { reference: "p".into(), policy: Box::new(policy) })
}

#[tokio::test]
async fn what_has_happened_is_told_and_goes_on_with_the_next_owner() {
    let store = memory();
    let server = start(&store).await;
    let keys = submit(&server, 3).await;
    assert_eq!(server.poll(ACTION, None).await, keys);
    complete(&server, keys[0]).await;
    assert_eq!(server.ask(Command::CancelExecution { job: keys[1] }).await, Answer::Done);
    let row = written(&server, &store, |row| row.stats.totals.cancelled == 1).await;
    let totals = row.stats.totals;
    assert_eq!((totals.enqueued, totals.started, totals.completed, totals.failed), (3, 3, 1, 0));
    assert_eq!((row.waiting, row.running), (0, 1));
    assert!(row.stats.waits.percentile(500).is_some() && row.stats.runs.percentile(500).is_some());
    server.stop().await;
    let server = start(&store).await;
    submit(&server, 2).await;
    let row = written(&server, &store, |row| row.stats.totals.enqueued == 5).await;
    assert_eq!((row.stats.totals.completed, row.waiting, row.running), (1, 2, 1), "both go on from what is there");
    server.stop().await;
}

#[tokio::test]
async fn rows_are_written_for_queues_and_not_for_jobs() {
    let rows: Arc<Mutex<usize>> = Arc::default();
    let seen = rows.clone();
    let layer = Layer::over(clocked()).on_commit(move |commit| {
        *seen.lock().unwrap() += commit.changes.queue_stats_put.len();
        Fate::Through
    });
    let store = layer.shared();
    let server = start(&store).await;
    for _ in 0..20 {
        submit(&server, 50).await;
    }
    written(&server, &store, |row| row.stats.totals.enqueued == 1_000).await;
    assert!(*rows.lock().unwrap() <= 2, "{rows:?}");
    server.stop().await;
}

/// All slots are taken by a job that nobody finishes, and workers ask for the next.
#[tokio::test]
async fn a_queue_that_does_not_move_while_workers_ask_is_stuck() {
    let store = memory();
    let server = start(&store).await;
    assert_eq!(server.ask(one_at_a_time()).await, Answer::Done);
    let keys = submit(&server, 2).await;
    assert_eq!(server.poll(ACTION, None).await, keys[..1]);
    // Nobody asks: that is not stuck.
    for _ in 0..20 {
        pass(&server, 6);
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    assert_eq!(written(&server, &store, |row| row.running == 1).await.stats.stuck_since, None);
    let host = server.host.clone();
    let asking = tokio::spawn(async move {
        let poll = host::Poll {
            job_type: ACTION.into(),
            worker: "w".into(),
            timeout: 600_000,
            max: 1,
            tenants: vec![TENANT.into()],
            fetch: vec![],
            wait: Some(Duration::from_secs(60)),
        };
        host.activate(poll).await.unwrap().take()
    });
    let stuck = written(&server, &store, |row| row.stats.stuck_since.is_some()).await;
    assert_eq!((stuck.waiting, stuck.running), (1, 1));
    complete(&server, keys[0]).await;
    assert_eq!(asking.await.unwrap()[0].key, keys[1]);
    let row = written(&server, &store, |row| row.stats.totals.completed == 1).await;
    assert_eq!((row.stats.stuck_since, row.waiting), (None, 0), "it moves");
    server.stop().await;
}

#[tokio::test]
async fn how_old_jobs_are_goes_by_the_time_of_the_engine() {
    let store = memory();
    let server = start(&store).await;
    submit(&server, 1).await;
    pass(&server, 7_200);
    submit(&server, 2).await;
    let ages = server.host.queue_report(&ACTION.into(), &TENANT.into()).await.unwrap().ages;
    assert_eq!((ages[..5].iter().sum::<u64>(), ages[5], ages[6]), (2, 1, 0), "up to an hour, up to a day, older");
    server.stop().await;
}

/// Also where a policy says how many of them may have a job, and how fast.
#[tokio::test]
async fn a_thousand_workers_that_wait_ask_the_store_for_nothing() {
    let limit = Concurrency { limit: 5, parameters: vec!["g".into()], method: Method::Enqueue, adaptive: None };
    let rate = Rate { pace: Pace { limit: 5, window: 1_000 }, parameters: vec![] };
    let queue = Policy { fair: true, ageing: Some(1_000), queue_max: Some(100), ..Policy::new(Scope::Global) };
    for policy in [None, Some(Policy { concurrency: Some(limit), rate: Some(rate), ..queue })] {
        wait_in_vain(policy).await;
    }
}

/// Lets everybody else have so many turns, and what they wait a moment for come: on a machine that is busy it takes longer.
async fn turns(count: usize) {
    for _ in 0..count {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

async fn wait_in_vain(policy: Option<Policy>) {
    let layer = Layer::over(clocked());
    let calls = layer.calls();
    let store = layer.shared();
    let server = start(&store).await;
    if let Some(policy) = policy {
        let put = PutPolicy { reference: "all".into(), policy: Box::new(policy) };
        assert_eq!(server.ask(Command::PutPolicy(put)).await, Answer::Done);
    }
    for n in 0..1_000 {
        let poll = host::Poll {
            job_type: format!("type-{}", n % 10).into(),
            worker: "w".into(),
            timeout: 600_000,
            max: 1,
            tenants: vec![TENANT.into()],
            fetch: vec![],
            wait: Some(Duration::from_secs(600)),
        };
        let host = server.host.clone();
        tokio::spawn(async move { host.activate(poll).await.map(|jobs| jobs.take().len()) });
    }
    // A job that comes finds one of them: all before it are there.
    let submit = |n: usize| {
        let new = NewExecution { input: vec![], priority: 0, retries: 3, run_at: None, unique: None, group: vec![] };
        let action = format!("type-{n}").into();
        Command::Submit(Submit { tenant: TENANT.into(), action, executions: vec![new] })
    };
    for n in 0..10 {
        assert!(matches!(server.ask(submit(n)).await, Answer::Submitted(_)));
    }
    // Once what has happened to these is written down there is nothing left to do.
    let mut quiet = false;
    for _ in 0..100 {
        pass(&server, 6);
        turns(50).await;
        let before = calls.load(Ordering::SeqCst);
        turns(300).await;
        quiet = calls.load(Ordering::SeqCst) == before;
        if quiet {
            break;
        }
    }
    assert!(quiet, "somebody asks the store again and again");
    server.stop().await;
}
