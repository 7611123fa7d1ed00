//! The whole path through a real host on the memory store: deploy, start, work, end.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use engine::{DefinitionKey, Document, InstanceKey, JobKey, PartitionId};
use host::{Definitions, Error, Host, Limits, Metrics, Parts, Poll, Role, Subscription, prepare};
use store::log::{
    ActivatedJob, Answer, Caller, Code, Command, Create, Created, Deploy, DeployResource, FailJob, IdempotencyKey, NewRequest,
    ProcessRef, Request, ThrowError, UpdateJob,
};
use store::memory::Memory;
use store::query::{Entity, Items, Query, Tenants};
use store::row::{InstanceState, JobState};
use store::{Backlog, Store};
use tokio::sync::watch;

const TENANT: &str = "<default>";

/// A clock the test moves; it runs along with real time.
#[derive(Clone)]
struct Clock {
    ahead: Arc<AtomicI64>,
    begun: std::time::Instant,
}

impl Clock {
    fn new() -> Self {
        Self { ahead: Arc::new(AtomicI64::new(1_000_000)), begun: std::time::Instant::now() }
    }

    fn now(&self) -> i64 {
        self.ahead.load(Ordering::SeqCst) + self.begun.elapsed().as_millis() as i64
    }
}

struct Server {
    host: Host,
    stop: watch::Sender<bool>,
    running: tokio::task::JoinHandle<()>,
}

impl Server {
    fn start(store: Arc<dyn Store>, node: &str, role: Role) -> Self {
        let limits =
            Arc::new(Limits { poll_every: Duration::from_millis(20), lease: Duration::from_millis(400), ..Limits::default() });
        let metrics = Arc::new(Metrics::default());
        let definitions = Arc::new(Definitions::new(store.clone(), &limits, metrics.clone()));
        let (host, driver) =
            prepare(Parts { store, limits, metrics, definitions, announcing: None, exporting: None }, node.into(), role);
        let (stop, stopping) = watch::channel(false);
        let running = tokio::spawn(driver.run(stopping));
        Self { host, stop, running }
    }

    async fn owning(self) -> Self {
        while !self.host.owns() {
            tokio::task::yield_now().await;
        }
        self
    }

    async fn stop(self) {
        self.stop.send(true).unwrap();
        self.running.await.unwrap();
    }
}

fn memory() -> (Clock, Arc<dyn Store>) {
    let clock = Clock::new();
    let reading = clock.clone();
    (clock, Arc::new(Memory::new(Arc::new(move || reading.now()))))
}

fn order(task: &str) -> String {
    format!(
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="t">
  <process id="order" name="Order" isExecutable="true">
    <startEvent id="start"/><sequenceFlow id="a" sourceRef="start" targetRef="work"/>
    <serviceTask id="work"><extensionElements><zeebe:taskDefinition type="{task}" retries="2"/></extensionElements></serviceTask>
    <sequenceFlow id="b" sourceRef="work" targetRef="end"/><endEvent id="end"/>
  </process>
</definitions>"#
    )
}

fn caller() -> Caller {
    Caller { name: "test".into(), tenants: Tenants::These(vec![TENANT.into()]), trace: None }
}

fn request(command: Command) -> Request {
    Request { caller: caller(), command, idempotency: None }
}

async fn deploy(host: &Host, xml: &str) -> DefinitionKey {
    let resource = DeployResource { name: "order.bpmn".into(), content: xml.as_bytes().into() };
    let command = Command::Deploy(Deploy { tenant: TENANT.into(), resources: vec![resource] });
    match host.submit(request(command)).await.unwrap() {
        Answer::Deployed(deployed) => deployed.processes[0].definition,
        other => panic!("{other:?}"),
    }
}

fn create(variables: Document) -> Command {
    let process = ProcessRef::Id { id: "order".into(), version: None };
    Command::Create(Create { process, tenant: TENANT.into(), variables, tags: vec![], business_id: None })
}

async fn start(host: &Host) -> InstanceKey {
    match host.submit(request(create(vec![("n".into(), "1".into())]))).await.unwrap() {
        Answer::Created(Created { instance, .. }) => instance,
        other => panic!("{other:?}"),
    }
}

fn poll(wait: Option<Duration>) -> Poll {
    Poll {
        job_type: "work".into(),
        worker: "w".into(),
        timeout: 60_000,
        max: 10,
        tenants: vec![TENANT.into()],
        fetch: vec![],
        wait,
    }
}

async fn jobs(host: &Host) -> Vec<ActivatedJob> {
    host.activate(poll(None)).await.unwrap().take()
}

async fn complete(host: &Host, job: JobKey) -> Result<Answer, Error> {
    host.submit(request(Command::CompleteJob { job, variables: vec![("done".into(), "true".into())], result: None })).await
}

async fn search(host: &Host, entity: Entity) -> Items {
    host.store().search(&Query::of(entity, Tenants::Everything)).await.unwrap().items
}

async fn state_of(host: &Host, instance: InstanceKey) -> InstanceState {
    match search(host, Entity::Instances).await {
        Items::Instances(found) => found.iter().find(|i| i.key == instance).unwrap().state,
        other => panic!("{other:?}"),
    }
}

async fn job_state(host: &Host, job: JobKey) -> JobState {
    match search(host, Entity::Jobs).await {
        Items::Jobs(found) => found.iter().find(|j| j.key == job).unwrap().state,
        other => panic!("{other:?}"),
    }
}

fn code_of(result: Result<Answer, Error>) -> Code {
    match result {
        Err(Error::Rejected(rejection)) => rejection.code,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn from_deployment_to_the_end() {
    let server = Server::start(memory().1, "a", Role::Engine).owning().await;
    let host = &server.host;
    let first = deploy(host, &order("work")).await;
    assert_eq!(deploy(host, &order("work")).await, first, "identical content is the same version");
    let instance = start(host).await;
    assert_eq!(state_of(host, instance).await, InstanceState::Active);
    let found = jobs(host).await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].variables, r#"{"n":1}"#);
    assert!(jobs(host).await.is_empty(), "a leased job is given to nobody else");
    complete(host, found[0].key).await.unwrap();
    assert_eq!(state_of(host, instance).await, InstanceState::Completed);
    assert_eq!(code_of(complete(host, found[0].key).await), Code::NotFound);
    server.stop().await;
}

#[tokio::test]
async fn everything_survives_a_restart() {
    let (_, store) = memory();
    let server = Server::start(store.clone(), "a", Role::Engine).owning().await;
    deploy(&server.host, &order("work")).await;
    let instance = start(&server.host).await;
    let leased = jobs(&server.host).await;
    let waiting = start(&server.host).await;
    server.stop().await;

    let server = Server::start(store, "b", Role::Engine).owning().await;
    let scope = instance.root();
    let set = Command::SetVariables { scope, variables: vec![("late".into(), "true".into())], local: true };
    let answer = server.host.submit(Request { caller: caller(), command: set, idempotency: None }).await.unwrap();
    assert!(matches!(answer, Answer::VariablesSet { .. }), "an instance not in memory is found by its own scope");
    let found = jobs(&server.host).await;
    assert_eq!(found.iter().map(|job| job.instance).collect::<Vec<_>>(), [waiting], "the lease survived too");
    complete(&server.host, leased[0].key).await.unwrap();
    assert_eq!(state_of(&server.host, instance).await, InstanceState::Completed);
    server.stop().await;
}

#[tokio::test]
async fn a_poll_waits_for_a_job_and_a_stream_gets_them_pushed() {
    let server = Server::start(memory().1, "a", Role::Engine).owning().await;
    let host = server.host.clone();
    deploy(&host, &order("work")).await;
    let waiting = tokio::spawn({
        let host = host.clone();
        async move { host.activate(poll(Some(Duration::from_secs(20)))).await.unwrap().take() }
    });
    let instance = start(&host).await;
    assert_eq!(waiting.await.unwrap()[0].instance, instance);

    let subscription = Subscription {
        job_type: "work".into(),
        worker: "s".into(),
        timeout: 60_000,
        tenants: vec![TENANT.into()],
        fetch: vec![],
    };
    let mut stream = host.stream(subscription).unwrap();
    let mut started = Vec::new();
    for _ in 0..200 {
        started.push(start(&host).await);
    }
    for instance in started.iter().take(150) {
        assert_eq!(stream.next().await.unwrap().instance, *instance, "jobs come in order");
    }
    // What the stream did not take is there for others at once.
    drop(stream);
    let mut left = 0;
    while left < 50 {
        left += host.activate(poll(Some(Duration::from_secs(20)))).await.unwrap().take().len();
    }
    assert_eq!(left, 50);
    server.stop().await;
}

#[tokio::test]
async fn jobs_that_were_not_taken_are_ready_at_once() {
    let server = Server::start(memory().1, "a", Role::Engine).owning().await;
    deploy(&server.host, &order("work")).await;
    start(&server.host).await;
    let untaken = server.host.activate(poll(None)).await.unwrap();
    assert!(!untaken.is_empty());
    drop(untaken);
    let again = server.host.activate(poll(Some(Duration::from_secs(20)))).await.unwrap().take();
    assert_eq!(again.len(), 1);
    server.stop().await;
}

#[tokio::test]
async fn leases_and_backoffs_end_by_the_clock_of_the_store() {
    let (clock, store) = memory();
    let server = Server::start(store, "a", Role::Engine).owning().await;
    let host = &server.host;
    deploy(host, &order("work")).await;
    start(host).await;
    let job = jobs(host).await[0].key;
    clock.ahead.fetch_add(59_000, Ordering::SeqCst);
    start(host).await;
    assert_eq!(jobs(host).await.len(), 1, "the first lease has a second left");
    clock.ahead.fetch_add(2_000, Ordering::SeqCst);
    let again = host.activate(poll(Some(Duration::from_secs(20)))).await.unwrap().take();
    assert_eq!(again[0].key, job, "a lease that ran out makes the job available again");
    let fail = FailJob { job, retries: 1, message: "hot".into(), backoff: 30_000, variables: vec![] };
    host.submit(request(Command::FailJob(fail))).await.unwrap();
    assert!(jobs(host).await.is_empty(), "it backs off");
    clock.ahead.fetch_add(31_000, Ordering::SeqCst);
    let again = host.activate(poll(Some(Duration::from_secs(20)))).await.unwrap().take();
    assert_eq!(again[0].key, job);
    server.stop().await;
}

#[tokio::test]
async fn without_retries_a_job_is_an_incident_that_can_be_resolved() {
    let server = Server::start(memory().1, "a", Role::Engine).owning().await;
    let host = &server.host;
    deploy(host, &order("work")).await;
    let instance = start(host).await;
    let job = jobs(host).await[0].key;
    let fail = FailJob { job, retries: 0, message: "burnt".into(), backoff: 0, variables: vec![] };
    host.submit(request(Command::FailJob(fail))).await.unwrap();
    assert_eq!(job_state(host, job).await, JobState::Failed);
    assert_eq!(code_of(complete(host, job).await), Code::InvalidState);
    let Items::Incidents(incidents) = search(host, Entity::Incidents).await else { panic!() };
    let resolve = Command::ResolveIncident { incident: incidents[0].key };
    assert_eq!(incidents[0].message, "burnt");
    assert_eq!(code_of(host.submit(request(resolve.clone())).await), Code::InvalidState, "no retries yet");
    host.submit(request(Command::UpdateJob(UpdateJob { job, retries: Some(1), timeout: None }))).await.unwrap();
    assert!(jobs(host).await.is_empty(), "retries alone do not free it");
    host.submit(request(resolve.clone())).await.unwrap();
    assert_eq!(code_of(host.submit(request(resolve)).await), Code::NotFound);
    assert_eq!(jobs(host).await[0].key, job);
    let throw = ThrowError { job, code: "SOUR".into(), message: "lemon".into(), variables: vec![] };
    host.submit(request(Command::ThrowError(throw))).await.unwrap();
    assert_eq!(job_state(host, job).await, JobState::ErrorThrown);
    host.submit(request(Command::Cancel { instance })).await.unwrap();
    assert_eq!(state_of(host, instance).await, InstanceState::Terminated);
    assert_eq!(job_state(host, job).await, JobState::Cancelled);
    server.stop().await;
}

#[tokio::test]
async fn an_idempotency_key_gives_the_first_answer_again() {
    let (_, store) = memory();
    let server = Server::start(store.clone(), "a", Role::Engine).owning().await;
    deploy(&server.host, &order("work")).await;
    let keyed = |fingerprint| Request {
        caller: caller(),
        command: create(vec![]),
        idempotency: Some(IdempotencyKey { tenant: TENANT.into(), key: "k1".into(), fingerprint }),
    };
    let (one, two) = tokio::join!(server.host.submit(keyed(7)), server.host.submit(keyed(7)));
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!(one, two, "both at once");
    assert_eq!(code_of(server.host.submit(keyed(8)).await), Code::InvalidArgument, "another request with the same key");
    server.stop().await;
    let server = Server::start(store, "b", Role::Engine).owning().await;
    assert_eq!(server.host.submit(keyed(7)).await.unwrap(), one, "after a restart");
    let Items::Instances(found) = search(&server.host, Entity::Instances).await else { panic!() };
    assert_eq!(found.len(), 1);
    server.stop().await;
}

#[tokio::test]
async fn a_caller_waits_for_the_end() {
    let server = Server::start(memory().1, "a", Role::Engine).owning().await;
    let host = server.host.clone();
    deploy(&host, &order("work")).await;
    let waiting = tokio::spawn({
        let host = host.clone();
        async move { host.create_and_await(request(create(vec![])), vec!["done".into()], Duration::from_secs(20)).await }
    });
    let job = host.activate(poll(Some(Duration::from_secs(20)))).await.unwrap().take()[0].key;
    complete(&host, job).await.unwrap();
    let awaited = waiting.await.unwrap().unwrap();
    assert!(awaited.completed);
    assert_eq!(awaited.variables, vec![("done".into(), "true".into())]);
    let too_short = host.create_and_await(request(create(vec![])), vec![], Duration::from_millis(1)).await;
    assert!(matches!(too_short, Err(Error::Timeout)));
    assert_eq!(jobs(&host).await.len(), 1, "a time-out leaves the instance running");
    server.stop().await;
}

#[tokio::test]
async fn a_server_without_an_engine_works_through_the_log() {
    let (_, store) = memory();
    let follower = Server::start(store.clone(), "api", Role::Follower);
    let early = follower.host.submit_durably(request(create(vec![]))).await.unwrap();
    assert_eq!(early, 1);
    let outcome = follower.host.command(early).await.unwrap().unwrap();
    assert!(outcome.answer.is_none(), "nobody is there to process it");

    let owner = Server::start(store, "engine", Role::Engine).owning().await;
    let host = &follower.host;
    deploy(host, &order("work")).await;
    let instance = start(host).await;
    assert_eq!(state_of(host, instance).await, InstanceState::Active, "a read after the answer sees it");
    let own = start(&owner.host).await;
    let found = host.activate(poll(Some(Duration::from_secs(20)))).await.unwrap().take();
    assert_eq!(found.iter().map(|job| job.instance).collect::<Vec<_>>(), [instance, own]);
    complete(host, found[0].key).await.unwrap();
    assert_eq!(state_of(host, instance).await, InstanceState::Completed);
    let outcome = host.command(early).await.unwrap().unwrap();
    assert!(matches!(outcome.answer, Some(Answer::Rejected(_))), "it came before the deployment");

    let waiting = host.create_and_await(request(create(vec![])), vec![], Duration::from_secs(20));
    let working = async {
        let jobs = host.activate(poll(Some(Duration::from_secs(20)))).await.unwrap().take();
        complete(host, jobs[0].key).await.unwrap();
    };
    let (awaited, ()) = tokio::join!(waiting, working);
    assert!(awaited.unwrap().completed);
    owner.stop().await;
    follower.stop().await;
}

#[tokio::test]
async fn a_command_made_durable_first_is_processed_at_once() {
    let server = Server::start(memory().1, "a", Role::Engine).owning().await;
    deploy(&server.host, &order("work")).await;
    let position = server.host.submit_durably(request(create(vec![]))).await.unwrap();
    let found = server.host.activate(poll(Some(Duration::from_secs(20)))).await.unwrap().take();
    assert_eq!(found.len(), 1);
    let outcome = server.host.command(position).await.unwrap().unwrap();
    assert!(matches!(outcome.answer, Some(Answer::Created(created)) if created.instance == found[0].instance));
    server.stop().await;
}

#[tokio::test]
async fn a_command_that_cannot_be_read_is_refused_and_stops_nothing() {
    let (_, store) = memory();
    let garbage = NewRequest { kind: "create", request: vec![255, 1, 2, 3], lives: None };
    let backlog = Backlog { requests_max: 10, bytes_max: 1_000 };
    let position = store.append(PartitionId(1), vec![garbage], backlog).await.unwrap()[0];
    let server = Server::start(store, "a", Role::Engine).owning().await;
    deploy(&server.host, &order("work")).await;
    start(&server.host).await;
    let outcome = server.host.command(position).await.unwrap().unwrap();
    assert!(matches!(outcome.answer, Some(Answer::Rejected(_))), "{outcome:?}");
    server.stop().await;
}

#[tokio::test]
async fn both_write_at_once_and_nothing_is_lost() {
    let (_, store) = memory();
    let owner = Server::start(store.clone(), "engine", Role::Engine).owning().await;
    let follower = Server::start(store.clone(), "api", Role::Follower);
    deploy(&owner.host, &order("work")).await;
    let starts = (0..40).map(|n| {
        let host = if n % 2 == 0 { owner.host.clone() } else { follower.host.clone() };
        tokio::spawn(async move { start(&host).await })
    });
    let mut keys = Vec::new();
    for started in starts.collect::<Vec<_>>() {
        keys.push(started.await.unwrap());
    }
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 40);
    let status = &store.partitions().await.unwrap()[0];
    assert_eq!((status.inbox_tail, status.inbox_to), (20, 20), "every request of the follower is answered");
    owner.stop().await;
    follower.stop().await;
}

#[tokio::test]
async fn the_next_server_takes_over_when_the_lease_runs_out() {
    let (_, store) = memory();
    let first = Server::start(store.clone(), "a", Role::Engine).owning().await;
    deploy(&first.host, &order("work")).await;
    first.running.abort();
    let second = Server::start(store, "b", Role::Engine).owning().await;
    start(&second.host).await;
    second.stop().await;
}
