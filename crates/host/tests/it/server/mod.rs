//! A server over a store, for tests that want to stop it and start another.

pub(crate) mod layer;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use engine::JobKey;
use host::{Announcing, Awaited, Definitions, Error, Exporting, Host, Limits, Metrics, Parts, Poll, Role, prepare};
use store::Store;
use store::log::{Answer, Caller, Command, Create, Deploy, DeployResource, ProcessRef, Request};
use store::memory::Memory;
use store::query::Tenants;
use tokio::sync::watch;

pub(crate) const TENANT: &str = "<default>";

pub(crate) fn caller() -> Caller {
    caller_of(&TENANT.into())
}

fn caller_of(tenant: &Arc<str>) -> Caller {
    Caller { name: "test".into(), tenants: Tenants::These(vec![tenant.clone()]), trace: None }
}

pub(crate) struct Server {
    pub(crate) host: Host,
    /// Whose commands it is asked.
    tenant: Arc<str>,
    stop: watch::Sender<bool>,
    running: tokio::task::JoinHandle<()>,
}

/// Of which jobs, and what happened.
type Tells = (Option<Announcing>, Option<Exporting>);

pub(crate) fn memory() -> Arc<dyn Store> {
    Arc::new(clocked())
}

/// A memory store with the time of this machine.
pub(crate) fn clocked() -> Memory {
    Memory::new(Arc::new(|| {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        since.as_millis() as i64
    }))
}

/// A memory store whose clock the test sets.
pub(crate) fn with_clock() -> (Arc<dyn Store>, Arc<AtomicI64>) {
    let clock = Arc::new(AtomicI64::new(1_000_000));
    let read = clock.clone();
    (Arc::new(Memory::new(Arc::new(move || read.load(Ordering::SeqCst)))), clock)
}

/// A memory store with the time of the runtime, which may be paused.
pub(crate) fn timed() -> Memory {
    let began = tokio::time::Instant::now();
    Memory::new(Arc::new(move || 1_000_000_000 + began.elapsed().as_millis() as i64))
}

impl Server {
    /// One that owns the partition.
    pub(crate) async fn start(store: &Arc<dyn Store>) -> Self {
        let server = Self::join(store, "server", Role::Engine, Limits::default());
        server.owning().await;
        server
    }

    /// One that announces jobs.
    pub(crate) async fn announcing(store: &Arc<dyn Store>, announcing: Announcing) -> Self {
        let server = Self::with(store, "server", Role::Engine, Limits::default(), (Some(announcing), None));
        server.owning().await;
        server
    }

    /// One that tells what happens.
    pub(crate) async fn exporting(store: &Arc<dyn Store>, limits: Limits, exporting: Exporting) -> Self {
        let server = Self::with(store, "server", Role::Engine, limits, (None, Some(exporting)));
        server.owning().await;
        server
    }

    /// One that may have to wait for the partition.
    pub(crate) fn join(store: &Arc<dyn Store>, node: &str, role: Role, limits: Limits) -> Self {
        Self::with(store, node, role, limits, (None, None))
    }

    fn with(store: &Arc<dyn Store>, node: &str, role: Role, limits: Limits, tells: Tells) -> Self {
        let limits = Arc::new(limits);
        let metrics = Arc::new(Metrics::default());
        let definitions = Arc::new(Definitions::new(store.clone(), &limits, metrics.clone()));
        let (announcing, exporting) = (tells.0.map(Arc::new), tells.1.map(Arc::new));
        let parts = Parts { store: store.clone(), limits, metrics, definitions, announcing, exporting };
        let (host, driver) = prepare(parts, node.into(), role);
        let (stop, stopping) = watch::channel(false);
        let running = tokio::spawn(driver.run(stopping));
        Self { host, tenant: TENANT.into(), stop, running }
    }

    pub(crate) fn for_tenant(self, tenant: &Arc<str>) -> Self {
        Self { tenant: tenant.clone(), ..self }
    }

    pub(crate) async fn owning(&self) {
        while !self.host.owns() {
            tokio::task::yield_now().await;
        }
    }

    pub(crate) async fn stop(self) {
        self.stop.send(true).unwrap();
        self.running.await.unwrap();
    }

    /// It is gone in the middle of whatever it does.
    pub(crate) async fn kill(self) {
        self.running.abort();
        assert!(self.running.await.unwrap_err().is_cancelled());
    }

    fn request(&self, command: Command) -> Request {
        Request { caller: caller_of(&self.tenant), command, idempotency: None }
    }

    /// The answer, also if it is a refusal.
    pub(crate) async fn ask(&self, command: Command) -> Answer {
        match self.host.submit(self.request(command)).await {
            Ok(answer) => answer,
            Err(Error::Rejected(rejection)) => Answer::Rejected(rejection),
            Err(error) => panic!("{error}"),
        }
    }

    /// The first answer, without waiting for those who listen.
    pub(crate) async fn ask_durably(&self, command: Command) -> Answer {
        let position = self.host.submit_durably(self.request(command)).await.expect("it is taken");
        loop {
            match self.host.command(position).await.expect("it was taken").and_then(|outcome| outcome.answer) {
                Some(answer) => return answer,
                None => tokio::time::sleep(Duration::from_millis(1)).await,
            }
        }
    }

    pub(crate) async fn deploy(&self, files: &[(&str, &str)]) {
        let answer = self.try_deploy(files).await;
        assert!(matches!(answer, Answer::Deployed(_)), "{answer:?}");
    }

    /// Files that do not go in, and why.
    pub(crate) async fn deploy_refused(&self, files: &[(&str, &str)]) -> String {
        match self.try_deploy(files).await {
            Answer::Rejected(rejection) => rejection.reason,
            other => panic!("{other:?}"),
        }
    }

    async fn try_deploy(&self, files: &[(&str, &str)]) -> Answer {
        let resource = |(name, xml): &(&str, &str)| DeployResource { name: (*name).into(), content: xml.as_bytes().into() };
        let resources = files.iter().map(resource).collect();
        self.ask(Command::Deploy(Deploy { tenant: self.tenant.clone(), resources })).await
    }

    pub(crate) async fn create(&self, id: &str, variables: &[(&str, &str)]) -> Answer {
        self.ask(Command::Create(create(id, variables))).await
    }

    /// Starts an instance that runs to its end.
    pub(crate) async fn run(&self, id: &str, variables: &[(&str, &str)]) -> Awaited {
        let request = self.request(Command::Create(create(id, variables)));
        self.host.create_and_await(request, vec![], Duration::from_secs(10)).await.expect("it ends")
    }

    pub(crate) async fn poll(&self, job_type: &str, wait: Option<Duration>) -> Vec<JobKey> {
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

/// A process of one task.
pub(crate) fn task(id: &str, job_type: &str) -> String {
    format!(
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="t">
  <process id="{id}" isExecutable="true"><startEvent id="start"/><sequenceFlow id="a" sourceRef="start" targetRef="work"/>
    <serviceTask id="work"><extensionElements><zeebe:taskDefinition type="{job_type}"/></extensionElements></serviceTask>
    <sequenceFlow id="b" sourceRef="work" targetRef="end"/><endEvent id="end"/></process></definitions>"#
    )
}

/// A process that goes straight through so many plain tasks, side by side.
pub(crate) fn plain_tasks(id: &str, count: usize) -> String {
    let tasks = (0..count).map(|n| format!(r#"<sequenceFlow id="f{n}" sourceRef="start" targetRef="t{n}"/><task id="t{n}"/>"#));
    let tasks: String = tasks.collect();
    format!(
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" targetNamespace="t">
  <process id="{id}" isExecutable="true"><startEvent id="start"/>{tasks}</process></definitions>"#
    )
}

pub(crate) fn create(id: &str, variables: &[(&str, &str)]) -> Create {
    let process = ProcessRef::Id { id: id.into(), version: None };
    let variables = variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    Create { process, tenant: TENANT.into(), variables, tags: vec![], business_id: None }
}
