//! A store that loses commits, or only their answers: nothing acknowledged is lost, nothing happens twice.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crate::server::layer::{Fate, Layer, broken};
use crate::server::{Server, TENANT, caller, clocked};
use engine::JobKey;
use host::{Definitions, Error as HostError, Host, Limits, Metrics, Parts, Poll, Role, Subscription, prepare};
use store::log::{Answer, Command, Create, Deploy, DeployResource, NewExecution, ProcessRef, Request, Submit};
use store::query::{Entity, Items, Page, Query, Tenants};
use store::row::InstanceState;
use store::{Commit, Error, Store};
use tokio::sync::watch;

/// The business id of an instance that no commit may contain.
const POISON: &str = "poison";

fn is_poisoned(commit: &Commit) -> bool {
    commit.changes.instances_new.iter().any(|instance| instance.business_id.as_deref() == Some(POISON))
}

const PROCESS: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="t"><process id="order" isExecutable="true">
  <startEvent id="start"/><sequenceFlow id="a" sourceRef="start" targetRef="work"/>
  <serviceTask id="work"><extensionElements><zeebe:taskDefinition type="work"/></extensionElements></serviceTask>
  <sequenceFlow id="b" sourceRef="work" targetRef="end"/><endEvent id="end"/></process></definitions>"#;

/// Submits as a patient client does: again and again while the server says to try again.
async fn submit(host: &Host, command: Command) -> Answer {
    loop {
        match host.submit(Request { caller: caller(), command: command.clone(), idempotency: None }).await {
            Ok(answer) => return answer,
            Err(HostError::Unavailable { .. }) => tokio::time::sleep(Duration::from_millis(1)).await,
            Err(error) => panic!("{error}"),
        }
    }
}

async fn instances(store: &dyn Store) -> Vec<InstanceState> {
    let query = Query { page: Page::From { from: 0, limit: 10_000 }, ..Query::of(Entity::Instances, Tenants::Everything) };
    match store.search(&query).await.unwrap().items {
        Items::Instances(found) => found.iter().map(|instance| instance.state).collect(),
        other => panic!("{other:?}"),
    }
}

/// Every third commit or so goes wrong, one way or the other, in a fixed but irregular pattern.
fn plan(seed: u64) -> VecDeque<Fate> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        match state >> 60 {
            0..=2 => Fate::Lost(broken()),
            3..=5 => Fate::AnswerLost,
            6..=7 => Fate::Late(Duration::from_millis(2)),
            _ => Fate::Through,
        }
    };
    (0..200).map(|_| next()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_commits_and_lost_answers_have_one_effect() {
    for seed in 1..=4 {
        let mut plan = plan(seed);
        let layer = Layer::over(clocked()).on_commit(move |_| plan.pop_front().unwrap_or(Fate::Through));
        let Running { host, store: shared, stop, driver } = start(layer).await;
        submit(&host, deploy()).await;
        let starts = (0..12).map(|_| {
            let host = host.clone();
            tokio::spawn(async move { submit(&host, create(None)).await })
        });
        for started in starts.collect::<Vec<_>>() {
            assert!(matches!(started.await.unwrap(), Answer::Created(_)));
        }
        assert_eq!(instances(&*shared).await.len(), 12, "seed {seed}: as many instances as answers");

        let mut done = 0;
        while done < 12 {
            let Ok(jobs) = host.activate(poll()).await else {
                tokio::task::yield_now().await;
                continue;
            };
            for job in jobs.take() {
                submit(&host, Command::CompleteJob { job: job.key, variables: vec![], result: None }).await;
                done += 1;
            }
        }
        let states = instances(&*shared).await;
        assert!(states.iter().all(|state| *state == InstanceState::Completed), "seed {seed}: {states:?}");
        stop.send(true).unwrap();
        driver.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_the_store_refuses_for_good_is_the_only_one_refused() {
    let layer = Layer::over(clocked()).on_commit(|commit| match is_poisoned(commit) {
        // What a database says that does not like a value, today or ever.
        true => Fate::Lost(Error::corrupt("a value is not taken")),
        false => Fate::Through,
    });
    let Running { host, store, stop, driver } = start(layer).await;
    submit(&host, deploy()).await;
    let starts = (0..40).map(|number| {
        let host = host.clone();
        let poison = (number % 13 == 7).then_some(POISON);
        tokio::spawn(async move {
            loop {
                match host.submit(Request { caller: caller(), command: create(poison), idempotency: None }).await {
                    Err(HostError::Unavailable { .. }) => tokio::task::yield_now().await,
                    outcome => return (poison.is_some(), outcome),
                }
            }
        })
    });
    for started in starts.collect::<Vec<_>>() {
        match started.await.unwrap() {
            (false, Ok(Answer::Created(_))) => {}
            (true, Err(HostError::Rejected(rejection))) => assert!(rejection.reason.contains("store"), "{}", rejection.reason),
            (poison, outcome) => panic!("poison: {poison}, {outcome:?}"),
        }
    }
    // The same through the inbox, as another server would send it.
    let position =
        host.submit_durably(Request { caller: caller(), command: create(Some(POISON)), idempotency: None }).await.unwrap();
    let after = submit(&host, create(None)).await;
    assert!(matches!(after, Answer::Created(_)));
    let answer = loop {
        if let Some(answer) = host.command(position).await.unwrap().unwrap().answer {
            break answer;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    assert!(matches!(answer, Answer::Rejected(_)), "{answer:?}");
    assert_eq!(instances(&*store).await.len(), 38, "37 of the first, one after the last");
    stop.send(true).unwrap();
    driver.await.unwrap();
}

struct Running {
    host: Host,
    store: Arc<dyn Store>,
    stop: watch::Sender<bool>,
    driver: tokio::task::JoinHandle<()>,
}

/// A server that owns its partition, on a store that fails as planned.
async fn start(layer: Layer) -> Running {
    let store = layer.shared();
    let limits = Arc::new(Limits { batch_max: 3, stream_buffer_max: 4, ..Limits::default() });
    let metrics = Arc::new(Metrics::default());
    let definitions = Arc::new(Definitions::new(store.clone(), &limits, metrics.clone()));
    let parts = Parts { store: store.clone(), limits, metrics, definitions, announcing: None, exporting: None };
    let (host, driver) = prepare(parts, "a".into(), Role::Engine);
    let (stop, stopping) = watch::channel(false);
    let driver = tokio::spawn(driver.run(stopping));
    while !host.owns() {
        tokio::task::yield_now().await;
    }
    Running { host, store, stop, driver }
}

fn deploy() -> Command {
    let resource = DeployResource { name: "order.bpmn".into(), content: PROCESS.as_bytes().into() };
    Command::Deploy(Deploy { tenant: TENANT.into(), resources: vec![resource] })
}

fn create(business_id: Option<&str>) -> Command {
    let process = ProcessRef::Id { id: "order".into(), version: None };
    let business_id = business_id.map(Into::into);
    Command::Create(Create { process, tenant: TENANT.into(), variables: vec![], tags: vec![], business_id })
}

/// With nobody asking for anything it would not be seen otherwise.
#[tokio::test]
async fn a_lease_that_cannot_be_renewed_counts_as_a_store_that_fails() {
    let store = Layer::over(clocked()).on_renew(|| Err(Error::full("no room"))).shared();
    let limits = Limits { lease: Duration::from_millis(30), ..Limits::default() };
    let server = Server::join(&store, "server", Role::Engine, limits);
    server.owning().await;
    while server.host.metrics().commit_failures.get() < 2 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    server.stop().await;
}

fn submission(count: usize) -> Command {
    let new = NewExecution { input: vec![], priority: 0, retries: 3, run_at: None, unique: None, group: vec![] };
    Command::Submit(Submit { tenant: TENANT.into(), action: "work".into(), executions: vec![new; count] })
}

fn jobs(answer: &Answer) -> Vec<JobKey> {
    match answer {
        Answer::Submitted(submitted) => submitted.executions.iter().map(|one| one.job).collect(),
        other => panic!("{other:?}"),
    }
}

/// Two of three workers are served by a tick that fails again and again, whether it was written or not.
#[tokio::test(start_paused = true)]
async fn who_was_served_by_a_tick_that_failed_is_served_once_and_in_order() {
    for fate in [Fate::Lost(broken()), Fate::AnswerLost] {
        let mut failures = 0;
        let failing = fate.clone();
        let layer = Layer::over(clocked()).on_commit(move |commit| match commit.changes.executions_new.is_empty() {
            false if failures < 3 => {
                failures += 1;
                failing.clone()
            }
            _ => Fate::Through,
        });
        let Running { host, stop, driver, .. } = start(layer).await;
        let polls = [2, 2, 2].map(|max| {
            let (host, poll) = (host.clone(), Poll { max, ..poll() });
            tokio::spawn(async move { host.activate(poll).await.unwrap().take() })
        });
        tokio::task::yield_now().await;
        let submitted = jobs(&submit(&host, submission(3)).await);
        let [first, second, third] = polls;
        let handed = [first.await.unwrap(), second.await.unwrap()];
        let keys = handed.each_ref().map(|jobs| jobs.iter().map(|job| job.key).collect::<Vec<_>>());
        assert_eq!(keys, [submitted[..2].to_vec(), submitted[2..].to_vec()], "{fate:?}");
        assert!(handed.iter().flatten().all(|job| job.lease == 1), "{fate:?}");
        // The one that was not served waits as before.
        let next = jobs(&submit(&host, submission(1)).await);
        assert_eq!(third.await.unwrap().iter().map(|job| job.key).collect::<Vec<_>>(), next, "{fate:?}");
        stop.send(true).unwrap();
        driver.await.unwrap();
    }
}

/// What the next tick has given to the same stream is undone with the one that fails.
#[tokio::test(start_paused = true)]
async fn a_stream_gets_each_job_once_and_in_order_whatever_fails() {
    for seed in 1..=4 {
        let mut plan = plan(seed);
        let layer = Layer::over(clocked()).on_commit(move |_| plan.pop_front().unwrap_or(Fate::Through));
        let Running { host, stop, driver, .. } = start(layer).await;
        let Poll { job_type, worker, timeout, tenants, fetch, .. } = poll();
        let mut stream = host.stream(Subscription { job_type, worker, timeout, tenants, fetch }).unwrap();
        let asking = (0..30).map(|_| {
            let host = host.clone();
            tokio::spawn(async move { jobs(&submit(&host, submission(2)).await) })
        });
        let mut submitted = Vec::new();
        for asked in asking.collect::<Vec<_>>() {
            submitted.extend(asked.await.unwrap());
        }
        submitted.sort_unstable();
        let mut got = Vec::new();
        while got.len() < submitted.len() {
            let job = stream.next().await.unwrap();
            assert_eq!(job.lease, 1, "seed {seed}");
            got.push(job.key);
        }
        assert_eq!(got, submitted, "seed {seed}");
        drop(stream);
        stop.send(true).unwrap();
        driver.await.unwrap();
    }
}

fn poll() -> Poll {
    Poll {
        job_type: "work".into(),
        worker: "w".into(),
        timeout: 600_000,
        max: 2,
        tenants: vec![TENANT.into()],
        fetch: vec![],
        wait: Some(Duration::from_secs(30)),
    }
}
