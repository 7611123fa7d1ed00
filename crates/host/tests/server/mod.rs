//! A server over a store, for tests that want to stop it and start another.
#![allow(dead_code, reason = "each test uses its part")]

use std::sync::Arc;
use std::time::Duration;

use engine::JobKey;
use host::{Awaited, Definitions, Error, Host, Limits, Metrics, Parts, Poll, Role, prepare};
use store::Store;
use store::log::{Answer, Command, Create, Deploy, DeployResource, ProcessRef, Request};
use store::memory::Memory;
use tokio::sync::watch;

pub(crate) const TENANT: &str = "<default>";

pub(crate) struct Server {
    pub(crate) host: Host,
    stop: watch::Sender<bool>,
    running: tokio::task::JoinHandle<()>,
}

pub(crate) fn memory() -> Arc<dyn Store> {
    Arc::new(Memory::new(Arc::new(|| {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        since.as_millis() as i64
    })))
}

impl Server {
    pub(crate) async fn start(store: &Arc<dyn Store>) -> Self {
        let limits = Arc::new(Limits::default());
        let metrics = Arc::new(Metrics::default());
        let definitions = Arc::new(Definitions::new(store.clone(), &limits, metrics.clone()));
        let parts = Parts { store: store.clone(), limits, metrics, definitions };
        let (host, driver) = prepare(parts, "server".into(), Role::Engine);
        let (stop, stopping) = watch::channel(false);
        let running = tokio::spawn(driver.run(stopping));
        while !host.owns() {
            tokio::task::yield_now().await;
        }
        Self { host, stop, running }
    }

    pub(crate) async fn stop(self) {
        self.stop.send(true).unwrap();
        self.running.await.unwrap();
    }

    /// The answer, also if it is a refusal.
    pub(crate) async fn ask(&self, command: Command) -> Answer {
        match self.host.submit(Request { command, idempotency: None }).await {
            Ok(answer) => answer,
            Err(Error::Rejected(rejection)) => Answer::Rejected(rejection),
            Err(error) => panic!("{error}"),
        }
    }

    pub(crate) async fn deploy(&self, files: &[(&str, &str)]) {
        let resource = |(name, xml): &(&str, &str)| DeployResource { name: (*name).into(), content: xml.as_bytes().into() };
        let resources = files.iter().map(resource).collect();
        let answer = self.ask(Command::Deploy(Deploy { tenant: TENANT.into(), resources })).await;
        assert!(matches!(answer, Answer::Deployed(_)), "{answer:?}");
    }

    pub(crate) async fn create(&self, id: &str, variables: &[(&str, &str)]) -> Answer {
        self.ask(Command::Create(create(id, variables))).await
    }

    /// Starts an instance that runs to its end.
    pub(crate) async fn run(&self, id: &str, variables: &[(&str, &str)]) -> Awaited {
        let request = Request { command: Command::Create(create(id, variables)), idempotency: None };
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

fn create(id: &str, variables: &[(&str, &str)]) -> Create {
    let process = ProcessRef::Id { id: id.into(), version: None };
    let variables = variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    Create { process, tenant: TENANT.into(), variables, tags: vec![], business_id: None }
}
