//! What is stored but cannot be run stops alone; everything else goes on.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;
use std::time::Duration;

use engine::{InstanceKey, JobKey, PartitionId};
use host::{Definitions, Error, Host, Limits, Metrics, Parts, Poll, Role, prepare};
use store::log::{Answer, Code, Command, Create, Deploy, DeployResource, ProcessRef, Request};
use store::memory::Memory;
use store::{Changes, Commit, Store};
use tokio::sync::watch;

const TENANT: &str = "<default>";

fn process(id: &str) -> String {
    format!(
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"
  id="d" targetNamespace="t"><process id="{id}" isExecutable="true">
  <startEvent id="start"/><sequenceFlow id="a" sourceRef="start" targetRef="work"/>
  <serviceTask id="work"><extensionElements><zeebe:taskDefinition type="{id}"/></extensionElements></serviceTask>
  <sequenceFlow id="b" sourceRef="work" targetRef="end"/><endEvent id="end"/></process></definitions>"#
    )
}

/// A server over the store, until it is stopped.
struct Server {
    host: Host,
    stop: watch::Sender<bool>,
    running: tokio::task::JoinHandle<()>,
}

impl Server {
    async fn start(store: &Arc<dyn Store>) -> Self {
        let limits = Arc::new(Limits::default());
        let metrics = Arc::new(Metrics::default());
        let definitions = Arc::new(Definitions::new(store.clone(), &limits, metrics.clone()));
        let (host, driver) = prepare(Parts { store: store.clone(), limits, metrics, definitions }, "server".into(), Role::Engine);
        let (stop, stopping) = watch::channel(false);
        let running = tokio::spawn(driver.run(stopping));
        while !host.owns() {
            tokio::task::yield_now().await;
        }
        Self { host, stop, running }
    }

    async fn stop(self) {
        self.stop.send(true).unwrap();
        self.running.await.unwrap();
    }

    async fn ask(&self, command: Command) -> Answer {
        match self.host.submit(Request { command, idempotency: None }).await {
            Ok(answer) => answer,
            Err(Error::Rejected(rejection)) => Answer::Rejected(rejection),
            Err(error) => panic!("{error}"),
        }
    }

    async fn create(&self, id: &str) -> Answer {
        let process = ProcessRef::Id { id: id.into(), version: None };
        let create = Create { process, tenant: TENANT.into(), variables: vec![], tags: vec![], business_id: None };
        self.ask(Command::Create(create)).await
    }

    async fn poll(&self, job_type: &str, wait: Option<Duration>) -> Vec<JobKey> {
        let poll = Poll {
            job_type: job_type.into(),
            worker: "w".into(),
            timeout: 600_000,
            max: 5,
            tenants: vec![TENANT.into()],
            fetch: vec![],
            wait,
        };
        self.host.activate(poll).await.unwrap().take().iter().map(|job| job.key).collect()
    }
}

fn created(answer: &Answer) -> InstanceKey {
    match answer {
        Answer::Created(created) => created.instance,
        other => panic!("{other:?}"),
    }
}

fn is_refused(answer: &Answer) -> bool {
    matches!(answer, Answer::Rejected(rejection) if rejection.code == Code::InvalidState)
}

/// Writes another text where the resource of that name was.
async fn overwrite(store: &Arc<dyn Store>, resource: u64, name: &str, content: &str) {
    let owner = store.acquire(PartitionId(1), "editor", Duration::from_secs(5)).await.unwrap().unwrap();
    let content: Arc<[u8]> = content.as_bytes().into();
    let row = store::row::Resource { key: resource, name: name.into(), content, tenant: TENANT.into() };
    let commit = Commit {
        fence: owner.fence,
        tail: owner.tail,
        processed: vec![],
        appended: vec![],
        processed_to: owner.processed_to,
        next_key: owner.next_key,
        now: owner.now,
        changes: Changes { resources_new: vec![row], ..Changes::default() },
        wake: false,
    };
    store.commit(commit).await.unwrap();
    store.release(owner.fence).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_definition_that_no_longer_compiles_stops_only_its_own_instances() {
    let store: Arc<dyn Store> = Arc::new(Memory::new(Arc::new(|| {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        since.as_millis() as i64
    })));
    let server = Server::start(&store).await;
    for id in ["bad", "good"] {
        let resource = DeployResource { name: format!("{id}.bpmn").into(), content: process(id).as_bytes().into() };
        server.ask(Command::Deploy(Deploy { tenant: TENANT.into(), resources: vec![resource] })).await;
    }
    let instance = created(&server.create("bad").await);
    let leased = server.poll("bad", None).await[0];
    created(&server.create("bad").await);
    created(&server.create("good").await);
    server.stop().await;

    let definitions = store.latest_definitions(PartitionId(1)).await.unwrap();
    let resource = definitions.iter().find(|row| &*row.process_id == "bad").unwrap().resource;
    overwrite(&store, resource, "bad.bpmn", "<nonsense/>").await;

    let server = Server::start(&store).await;
    assert!(is_refused(&server.create("bad").await));
    assert!(is_refused(&server.ask(Command::Cancel { instance }).await));
    assert!(is_refused(&server.ask(Command::CompleteJob { job: leased, variables: vec![] }).await));
    assert_eq!(server.poll("bad", Some(Duration::from_millis(50))).await, []);
    let jobs = server.poll("good", None).await;
    assert_eq!(server.ask(Command::CompleteJob { job: jobs[0], variables: vec![] }).await, Answer::Done);
    created(&server.create("good").await);
    server.stop().await;

    overwrite(&store, resource, "bad.bpmn", &process("bad")).await;
    let server = Server::start(&store).await;
    assert_eq!(server.ask(Command::CompleteJob { job: leased, variables: vec![] }).await, Answer::Done);
    let jobs = server.poll("bad", None).await;
    assert_eq!(server.ask(Command::CompleteJob { job: jobs[0], variables: vec![] }).await, Answer::Done);
    server.stop().await;
}
