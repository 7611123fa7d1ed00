//! What scenarios share: the server, the transport, waiting for conditions.

use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;

use async_trait::async_trait;
use caudal_client::testing::Server;
use caudal_client::{
    Beat, Client, EngineClient, Error, Failure, Grpc, Instance, Job, JobContext, Poll, Raw, Registry, Resource, Rest, Runner,
    Standing, Start,
};
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

pub(crate) const WITHIN: Duration = Duration::from_secs(60);

pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) play: Pin<Box<dyn Future<Output = ()> + Send>>,
    rest_only: bool,
}

impl Scenario {
    pub(crate) fn new(name: &'static str, play: impl Future<Output = ()> + Send + 'static) -> Scenario {
        Scenario { name, play: Box::pin(play), rest_only: false }
    }

    pub(crate) fn over_rest(name: &'static str, play: impl Future<Output = ()> + Send + 'static) -> Scenario {
        Scenario { rest_only: true, ..Scenario::new(name, play) }
    }

    pub(crate) fn suits(&self) -> bool {
        !self.rest_only || !is_grpc()
    }
}

fn is_grpc() -> bool {
    std::env::var("CAUDAL_TRANSPORT").is_ok_and(|transport| transport == "grpc")
}

pub(crate) fn file(name: &str) -> PathBuf {
    PathBuf::from(std::env::var_os("CAUDAL_SCENARIOS").unwrap()).join(name)
}

pub(crate) fn address(server: &Server) -> &str {
    if is_grpc() { &server.grpc } else { &server.rest }
}

/// One of the transports, as the runner takes it.
pub(crate) struct Transport(Box<dyn EngineClient>);

pub(crate) fn engine(address: &str) -> Transport {
    match is_grpc() {
        true => Transport(Box::new(Grpc::new(address).unwrap())),
        false => Transport(Box::new(Rest::new(address))),
    }
}

#[async_trait]
impl EngineClient for Transport {
    async fn poll(&self, poll: Poll<'_>) -> Result<Vec<Job>, Error> {
        self.0.poll(poll).await
    }
    async fn complete(&self, worker: &str, job: &Job, variables: &Raw) -> Result<(), Error> {
        self.0.complete(worker, job, variables).await
    }
    async fn fail(&self, worker: &str, job: &Job, message: &str, retryable: bool, after: Option<Duration>) -> Result<(), Error> {
        self.0.fail(worker, job, message, retryable, after).await
    }
    async fn throw_error(&self, worker: &str, job: &Job, code: &str, message: &str, variables: &Raw) -> Result<(), Error> {
        self.0.throw_error(worker, job, code, message, variables).await
    }
    async fn heartbeat(&self, worker: &str, lease: Duration, beats: &[Beat<'_>]) -> Result<Vec<Standing>, Error> {
        self.0.heartbeat(worker, lease, beats).await
    }
    async fn release(&self, worker: &str, job: &Job, delay: Option<Duration>) -> Result<(), Error> {
        self.0.release(worker, job, delay).await
    }
}

/// Handlers that run until they are stopped.
pub(crate) struct Working {
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<(), Error>>,
}

impl Working {
    pub(crate) async fn stop(self) {
        self.stop.send(()).ok();
        self.task.await.unwrap().unwrap();
    }
}

pub(crate) fn work(server: &Server, registry: Registry) -> Working {
    work_with(server, registry, |runner| runner)
}

pub(crate) fn work_with(server: &Server, registry: Registry, options: impl FnOnce(Runner) -> Runner) -> Working {
    let runner = Runner::new(registry, engine(address(server))).poll_wait(Duration::from_secs(5)).grace(Duration::from_secs(10));
    let (stop, stopped) = oneshot::channel();
    let task = tokio::spawn(options(runner).run(async move { drop(stopped.await) }));
    Working { stop, task }
}

/// Handlers of `work` that say who they are.
pub(crate) fn by(name: &'static str) -> Registry {
    Registry::new()
        .handle("work", move |_: JobContext, _: Map<String, Value>| async move { Ok::<_, Failure>(json_object("by", name)) })
}

pub(crate) fn json_object(name: &str, value: impl Into<Value>) -> Value {
    Value::Object([(name.to_owned(), value.into())].into_iter().collect())
}

/// An instance of `work.json`, whose one job has the type `work`.
pub(crate) async fn start_work(client: &Client, variables: &impl Serialize) -> String {
    client.deploy([Resource::file(file("work.json"))]).await.unwrap();
    client.start(Start::of("work").variables(variables).unwrap()).await.unwrap().id
}

pub(crate) async fn ended(client: &Client, id: &str) -> Instance {
    client.wait(id, WITHIN).await.unwrap()
}

pub(crate) fn is_json(seen: &Raw, expected: Value) {
    assert_eq!(serde_json::from_str::<Value>(seen.get()).unwrap(), expected);
}

pub(crate) async fn until<Look: Future<Output = bool>>(what: &str, condition: impl Fn() -> Look) {
    let deadline = Instant::now() + WITHIN;
    while !condition().await {
        assert!(Instant::now() < deadline, "not in time: {what}");
        sleep(Duration::from_millis(10)).await;
    }
}
