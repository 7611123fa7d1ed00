//! Leases are numbered: what a worker says counts for its own lease, or for nobody's, and never for another's.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::server::{Server, TENANT, task};
use engine::JobKey;
use host::{ClockMove, Poll};
use queue::claim::Claim;
use queue::policy::{Policy, Scope};
use queue::retry::{Delays, Retry};
use store::Store;
use store::log::{
    ActivatedJob, Answer, Became, Code, Command, Failed, NewExecution, PutPolicy, Report, Reported, Said, Submit, Thrown,
};
use store::memory::Memory;
use store::query::{DeadLetterView, Entity, ExecutionView, Items, JobView, Query, Tenants};
use store::row::{ExecutionState, JobState};

const LEASE: i64 = 300;

/// What time it is for the store and for all servers of a test: it stands still until it is moved.
type Time = Arc<AtomicI64>;

fn stopped() -> (Arc<dyn Store>, Time) {
    let time = Time::new(AtomicI64::new(1_000_000));
    let clock = time.clone();
    (Arc::new(Memory::new(Arc::new(move || clock.load(Ordering::SeqCst)))), time)
}

async fn start(store: &Arc<dyn Store>, time: &Time) -> Server {
    let server = Server::start(store).await;
    pass(&server, time, 0);
    server
}

/// It is so much later.
fn pass(server: &Server, time: &Time, by: i64) -> i64 {
    let now = time.fetch_add(by, Ordering::SeqCst) + by;
    server.host.move_clock(ClockMove::Pin(now)).unwrap();
    now
}

async fn submit(server: &Server, count: usize) -> Vec<JobKey> {
    let new = NewExecution { input: vec![], priority: 0, retries: 3, run_at: None, unique: None, group: vec![] };
    let executions = vec![new; count];
    match server.ask(Command::Submit(Submit { tenant: TENANT.into(), action: "work".into(), executions })).await {
        Answer::Submitted(submitted) => submitted.executions.iter().map(|one| one.job).collect(),
        other => panic!("{other:?}"),
    }
}

async fn lease(server: &Server, worker: &str) -> ActivatedJob {
    let mut jobs = leased(server, worker).await;
    assert_eq!(jobs.len(), 1);
    jobs.remove(0)
}

async fn leased(server: &Server, worker: &str) -> Vec<ActivatedJob> {
    let poll = Poll {
        job_type: "work".into(),
        worker: worker.into(),
        timeout: LEASE,
        max: 10,
        tenants: vec![TENANT.into()],
        fetch: vec![],
        wait: None,
    };
    server.host.activate(poll).await.unwrap().take()
}

/// Once its time has come.
async fn next(server: &Server) -> ActivatedJob {
    loop {
        match leased(server, "w").await.pop() {
            Some(job) => return job,
            None => tokio::time::sleep(std::time::Duration::from_millis(1)).await,
        }
    }
}

async fn tell(server: &Server, job: &ActivatedJob, said: Said) -> Became {
    let claim = Claim { worker: Some(job.worker.clone()), lease: Some(job.lease) };
    match server.ask(Command::Report { reports: vec![Report { job: job.key, claim, said }] }).await {
        Answer::Reported(mut reported) => reported.remove(0).became,
        Answer::Rejected(rejection) => Became::Refused(rejection),
        other => panic!("{other:?}"),
    }
}

const TAKEN: Became = Became::Taken { until: None };

fn done() -> Said {
    Said::Completed { variables: vec![("x".into(), "1".into())] }
}

fn failed(retryable: bool) -> Said {
    Said::Failed(Failed { retryable, message: "no".into(), backoff: None, variables: vec![("why".into(), "2".into())] })
}

fn thrown() -> Said {
    Said::Thrown(Thrown { code: "E".into(), message: "no".into(), variables: vec![] })
}

async fn executions(store: &Arc<dyn Store>) -> Vec<ExecutionView> {
    match store.search(&Query::of(Entity::Executions, Tenants::Everything)).await.unwrap().items {
        Items::Executions(views) => views,
        other => panic!("{other:?}"),
    }
}

async fn jobs(store: &Arc<dyn Store>) -> Vec<JobView> {
    match store.search(&Query::of(Entity::Jobs, Tenants::Everything)).await.unwrap().items {
        Items::Jobs(views) => views,
        other => panic!("{other:?}"),
    }
}

async fn dead(store: &Arc<dyn Store>) -> Vec<DeadLetterView> {
    match store.search(&Query::of(Entity::DeadLetters, Tenants::Everything)).await.unwrap().items {
        Items::DeadLetters(views) => views,
        other => panic!("{other:?}"),
    }
}

/// Moves the time past every lease, and waits until that is seen.
async fn run_out(server: &Server, store: &Arc<dyn Store>, time: &Time) {
    pass(server, time, LEASE + 1);
    let is_leased = async || {
        let sizes = store.queue_sizes(engine::PartitionId(1)).await.unwrap();
        sizes.iter().any(|size| 0 < size.running)
    };
    while is_leased().await {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
}

/// One job of a process and one execution, in turn: everything holds for both.
async fn each(check: impl AsyncFn(Server, Arc<dyn Store>, Time)) {
    for of_process in [true, false] {
        let (store, time) = stopped();
        let server = start(&store, &time).await;
        match of_process {
            true => {
                server.deploy(&[("p.bpmn", &task("p", "work"))]).await;
                server.create("p", &[]).await;
            }
            false => drop(submit(&server, 1).await),
        }
        check(server, store, time).await;
    }
}

#[tokio::test]
async fn what_is_late_has_no_effect_on_somebody_elses_lease() {
    each(async |server, store, time| {
        let slow = lease(&server, "slow").await;
        run_out(&server, &store, &time).await;
        let quick = lease(&server, "quick").await;
        assert_eq!((slow.lease, quick.lease), (1, 2));
        for said in [done(), failed(true), failed(false), thrown(), Said::Returned, Said::Snoozed { delay: 5 }] {
            assert_eq!(tell(&server, &slow, said).await, Became::Lost);
        }
        assert_eq!(tell(&server, &slow, Said::Alive { lease: Some(LEASE), progress: Some("{}".into()) }).await, Became::Lost);
        // Nor has the same worker with an older lease, nor anybody with one there never was.
        let again = ActivatedJob { worker: "quick".into(), ..slow.clone() };
        let never = ActivatedJob { lease: 3, ..quick.clone() };
        for other in [again, never] {
            assert_eq!(tell(&server, &other, done()).await, Became::Lost);
        }
        assert!(leased(&server, "third").await.is_empty(), "it is where it was");
        assert_eq!(tell(&server, &quick, done()).await, TAKEN);
        assert_eq!(tell(&server, &slow, done()).await, Became::Gone, "once");
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn what_is_late_counts_once_if_nobody_has_the_job() {
    each(async |server, store, time| {
        let slow = lease(&server, "slow").await;
        run_out(&server, &store, &time).await;
        assert_eq!(tell(&server, &slow, failed(true)).await, TAKEN);
        assert_eq!(tell(&server, &slow, failed(true)).await, TAKEN, "it is told again, and uses up nothing");
        let next = lease(&server, "next").await;
        assert_eq!((next.retries, next.lease), (2, 2));
        run_out(&server, &store, &time).await;
        assert_eq!(tell(&server, &next, Said::Alive { lease: None, progress: None }).await, Became::Lost, "it is over");
        assert_eq!(tell(&server, &slow, done()).await, TAKEN, "also of one before the last");
        assert_eq!(tell(&server, &next, done()).await, Became::Gone);
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn an_error_is_thrown_once() {
    each(async |server, store, time| {
        let slow = lease(&server, "slow").await;
        run_out(&server, &store, &time).await;
        let quick = lease(&server, "quick").await;
        assert_eq!(tell(&server, &quick, thrown()).await, TAKEN);
        assert_eq!(tell(&server, &quick, thrown()).await, TAKEN, "it is told again");
        assert_eq!(tell(&server, &slow, thrown()).await, Became::Lost);
        assert!(leased(&server, "third").await.is_empty());
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_heartbeat_keeps_the_job_and_says_how_far_it_is() {
    each(async |server, store, time| {
        let first = lease(&server, "w").await;
        assert_eq!(first.progress, None);
        let progress: Arc<str> = r#"{"percent":40,"message":"on it","data":{"at":7}}"#.into();
        for _ in 0..3 {
            let now = pass(&server, &time, LEASE - 1);
            let alive = Said::Alive { lease: Some(LEASE), progress: Some(progress.clone()) };
            assert_eq!(tell(&server, &first, alive).await, Became::Taken { until: Some(now + LEASE) });
        }
        assert!(leased(&server, "other").await.is_empty());
        // A new owner knows it, and so does the next worker.
        server.stop().await;
        let server = start(&store, &time).await;
        run_out(&server, &store, &time).await;
        let second = lease(&server, "v").await;
        assert_eq!((second.lease, second.progress.as_ref()), (2, Some(&progress)));
        for view in executions(&store).await {
            assert_eq!(view.progress.as_deref(), Some(&*progress));
        }
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn what_is_given_back_or_put_off_uses_up_no_attempt() {
    each(async |server, store, time| {
        let first = lease(&server, "w").await;
        assert_eq!(tell(&server, &first, Said::Returned).await, TAKEN);
        assert_eq!(tell(&server, &first, Said::Returned).await, TAKEN, "it is anybody's already");
        let second = lease(&server, "w").await;
        assert_eq!((second.lease, second.retries), (2, first.retries));
        assert_eq!(tell(&server, &first, Said::Returned).await, Became::Lost);
        assert_eq!(tell(&server, &second, Said::Snoozed { delay: 500 }).await, TAKEN);
        assert!(leased(&server, "w").await.is_empty());
        for view in executions(&store).await {
            assert_eq!((view.state, view.attempts), (ExecutionState::Waiting, 0));
            assert_eq!(view.due, Some(time.load(Ordering::SeqCst) + 500));
        }
        server.stop().await;
        let server = start(&store, &time).await;
        pass(&server, &time, 500);
        let third = next(&server).await;
        assert_eq!((third.lease, third.retries), (3, first.retries));
        assert_eq!(tell(&server, &third, done()).await, TAKEN);
        server.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_worker_gives_many_back_at_once() {
    let (store, time) = stopped();
    let server = start(&store, &time).await;
    server.deploy(&[("p.bpmn", &task("p", "work"))]).await;
    server.create("p", &[]).await;
    let keys = submit(&server, 3).await;
    let mine = leased(&server, "w").await;
    assert_eq!(mine.len(), 4);
    let claim = |lease| Claim { worker: Some("w".into()), lease: Some(lease) };
    let mut reports: Vec<_> =
        mine.iter().map(|job| Report { job: job.key, claim: claim(job.lease), said: Said::Returned }).collect();
    reports[3].claim = claim(9);
    reports.push(Report { job: JobKey(1), claim: claim(1), said: Said::Returned });
    let Answer::Reported(reported) = server.ask(Command::Report { reports }).await else { panic!("reports were sent") };
    let became: Vec<_> = reported.into_iter().map(|one: Reported| one.became).collect();
    assert_eq!(became, [TAKEN, TAKEN, TAKEN, Became::Lost, Became::Gone]);
    let again: Vec<_> = leased(&server, "v").await.iter().map(|job| job.key).collect();
    assert_eq!(again, [mine[0].key, keys[0], keys[1]]);
    // Completions among many: those of processes are commands of their own.
    let reports = again.iter().map(|job| Report { job: *job, claim: claim_of("v", 2), said: done() }).collect();
    let Answer::Reported(reported) = server.ask(Command::Report { reports }).await else { panic!("reports were sent") };
    assert_eq!(reported.iter().map(|one| &one.became).collect::<Vec<_>>(), [&Became::Alone, &TAKEN, &TAKEN]);
    server.stop().await;
}

fn claim_of(worker: &str, lease: u32) -> Claim {
    Claim { worker: Some(worker.into()), lease: Some(lease) }
}

#[tokio::test]
async fn what_is_not_to_be_tried_again_is_a_dead_letter_until_somebody_says_so() {
    each(async |server, store, _| {
        let job = lease(&server, "w").await;
        assert_eq!(tell(&server, &job, failed(false)).await, TAKEN);
        assert_eq!(tell(&server, &job, failed(false)).await, TAKEN, "told again");
        assert!(leased(&server, "w").await.is_empty());
        let [letter] = <[DeadLetterView; 1]>::try_from(dead(&store).await).unwrap();
        assert_eq!((letter.key, letter.attempts, &*letter.error_message), (job.key, 1, "no"));
        let refused = tell(&server, &job, done()).await;
        assert!(matches!(refused, Became::Refused(rejection) if rejection.code == Code::InvalidState));
        let retry = || Command::RetryJob { job: job.key, retries: 2 };
        assert_eq!(server.ask(retry()).await, Answer::Done);
        assert!(matches!(server.ask(retry()).await, Answer::Rejected(rejection) if rejection.code == Code::InvalidState));
        assert_eq!(dead(&store).await, []);
        let again = lease(&server, "w").await;
        assert_eq!((again.retries, again.lease), (2, 2));
        assert_eq!(tell(&server, &again, done()).await, TAKEN);
        let incidents = store.search(&Query::of(Entity::Incidents, Tenants::Everything)).await.unwrap();
        let Items::Incidents(incidents) = incidents.items else { panic!("incidents were asked for") };
        assert!(incidents.iter().all(|incident| incident.resolved.is_some()));
        for job in jobs(&store).await {
            assert_eq!(job.state, JobState::Completed);
        }
        server.stop().await;
    })
    .await;
}

/// Fails the job that is there twice: how long it waits each time, and the third try goes well.
async fn delays(server: &Server, store: &Arc<dyn Store>, time: &Time) -> [i64; 2] {
    let mut job = lease(server, "w").await;
    let mut delays = [0, 0];
    for delay in &mut delays {
        assert_eq!(tell(server, &job, failed(true)).await, TAKEN);
        let due = store.due(engine::PartitionId(1), (i64::MIN, 0), 1).await.unwrap();
        *delay = due[0].at - time.load(Ordering::SeqCst);
        pass(server, time, *delay);
        job = next(server).await;
    }
    assert_eq!(tell(server, &job, done()).await, TAKEN);
    delays
}

#[tokio::test]
async fn the_model_says_how_long_to_wait_before_the_next_try_and_else_the_policy() {
    let (store, time) = stopped();
    let server = start(&store, &time).await;
    let header = r#"<zeebe:taskDefinition type="work"/><zeebe:taskHeaders><zeebe:header key="retryBackoff" value="PT0.2S,PT0.4S"/></zeebe:taskHeaders>"#;
    let model = task("p", "work").replace(r#"<zeebe:taskDefinition type="work"/>"#, header);
    server.deploy(&[("p.bpmn", &model), ("q.bpmn", &task("q", "work"))]).await;
    server.create("p", &[]).await;
    assert_eq!(delays(&server, &store, &time).await, [200, 400]);
    let retry = Some(Retry { delays: Delays::Listed(vec![300, 500]), jitter_percent: 0, holds: false });
    let policy = Box::new(Policy { retry, ..Policy::new(Scope::Action("work".into())) });
    assert_eq!(server.ask(Command::PutPolicy(PutPolicy { reference: "p".into(), policy })).await, Answer::Done);
    server.create("p", &[]).await;
    assert_eq!(delays(&server, &store, &time).await, [200, 400], "the model counts more");
    server.create("q", &[]).await;
    assert_eq!(delays(&server, &store, &time).await, [300, 500]);
    submit(&server, 1).await;
    assert_eq!(delays(&server, &store, &time).await, [300, 500]);
    server.stop().await;
}
