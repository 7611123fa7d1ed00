//! What scenarios share: the server, the transport, waiting for conditions.

use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use caudal_client::{
    Beat, Client, EngineClient, Error, Failure, Grpc, Instance, Job, JobContext, Kafka, KafkaOptions, Poll, Raw, Registry,
    Resource, Rest, Runner, Standing, Start, testing,
};
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

pub(crate) const WITHIN: Duration = Duration::from_secs(150);

pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) play: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Scenario {
    pub(crate) fn new(name: &'static str, play: impl Future<Output = ()> + Send + 'static) -> Scenario {
        Scenario { name, play: Box::pin(play) }
    }

    /// Whether it is for the transport.
    pub(crate) fn suits(&self) -> bool {
        let all: Value = serde_json::from_str(&std::fs::read_to_string(file("scenarios.json")).unwrap()).unwrap();
        let one = all.as_array().unwrap().iter().find(|one| one["name"] == self.name).unwrap();
        one["transports"].as_array().unwrap().contains(&transport().into())
    }
}

pub(crate) fn transport() -> String {
    std::env::var("CAUDAL_TRANSPORT").unwrap()
}

fn broker() -> String {
    std::env::var("CAUDAL_KAFKA").unwrap()
}

/// One that announces jobs on topics of its own, if they are to go over Kafka.
#[derive(Debug)]
pub(crate) struct Server {
    real: testing::Server,
    topics: String,
}

impl Server {
    pub(crate) async fn start() -> Result<Server, Error> {
        Server::start_with("memory:", &[]).await
    }

    pub(crate) async fn start_with(store: &str, arguments: &[&str]) -> Result<Server, Error> {
        static NUMBER: AtomicUsize = AtomicUsize::new(1);
        let topics = format!("rust-{}.", NUMBER.fetch_add(1, Ordering::Relaxed));
        let mut all = arguments.to_vec();
        let brokers = if transport() == "kafka" { broker() } else { String::new() };
        if !brokers.is_empty() {
            all.extend(["--dispatch", "kafka_outbox", "--kafka-brokers", &brokers, "--kafka-topic-prefix", &topics]);
        }
        let real = testing::Server::start_with(store, &all).await?;
        Ok(Server { real, topics })
    }
}

impl Deref for Server {
    type Target = testing::Server;

    fn deref(&self) -> &testing::Server {
        &self.real
    }
}

impl DerefMut for Server {
    fn deref_mut(&mut self) -> &mut testing::Server {
        &mut self.real
    }
}

pub(crate) fn file(name: &str) -> PathBuf {
    PathBuf::from(std::env::var_os("CAUDAL_SCENARIOS").unwrap()).join(name)
}

/// Where workers find the server; over Kafka with what its topics begin with.
pub(crate) fn address(server: &Server) -> String {
    match transport().as_str() {
        "grpc" => server.grpc.clone(),
        "kafka" => format!("{} {}", server.rest, server.topics),
        _ => server.rest.clone(),
    }
}

/// One of the transports, as the runner takes it.
pub(crate) struct Transport {
    engine: Box<dyn EngineClient>,
    /// To be closed in the end.
    pub(crate) kafka: Option<Kafka>,
}

/// Over Kafka those of another group hear of the same jobs.
pub(crate) fn engine(address: &str, group: &str) -> Transport {
    match (transport().as_str(), address.split_once(' ')) {
        ("grpc", _) => Transport { engine: Box::new(Grpc::new(address).unwrap()), kafka: None },
        ("kafka", Some((rest, topics))) => {
            let usual = KafkaOptions::at(broker());
            let (group, topic_prefix, session_timeout) = (format!("{topics}{group}"), topics.to_owned(), Duration::from_secs(6));
            let kafka = Kafka::new(KafkaOptions { group, topic_prefix, session_timeout, ..usual }, Rest::new(rest).unwrap());
            Transport { engine: Box::new(kafka.clone()), kafka: Some(kafka) }
        }
        _ => Transport { engine: Box::new(Rest::new(address).unwrap()), kafka: None },
    }
}

#[async_trait]
impl EngineClient for Transport {
    async fn poll(&self, poll: Poll<'_>) -> Result<Vec<Job>, Error> {
        self.engine.poll(poll).await
    }
    async fn complete(&self, worker: &str, job: &Job, variables: &Raw) -> Result<(), Error> {
        self.engine.complete(worker, job, variables).await
    }
    async fn fail(&self, worker: &str, job: &Job, message: &str, retryable: bool, after: Option<Duration>) -> Result<(), Error> {
        self.engine.fail(worker, job, message, retryable, after).await
    }
    async fn throw_error(&self, worker: &str, job: &Job, code: &str, message: &str, variables: &Raw) -> Result<(), Error> {
        self.engine.throw_error(worker, job, code, message, variables).await
    }
    async fn heartbeat(&self, worker: &str, lease: Duration, beats: &[Beat<'_>]) -> Result<Vec<Standing>, Error> {
        self.engine.heartbeat(worker, lease, beats).await
    }
    async fn release(&self, worker: &str, job: &Job, delay: Option<Duration>) -> Result<(), Error> {
        self.engine.release(worker, job, delay).await
    }
}

/// Handlers that run until they are stopped.
pub(crate) struct Working {
    stop: oneshot::Sender<()>,
    kafka: Option<Kafka>,
    task: JoinHandle<Result<(), Error>>,
}

impl Working {
    pub(crate) async fn stop(self) {
        self.stop.send(()).ok();
        self.task.await.unwrap().unwrap();
        if let Some(kafka) = self.kafka {
            kafka.close().await;
        }
    }
}

pub(crate) fn work(server: &Server, registry: Registry) -> Working {
    work_with(server, registry, |runner| runner)
}

pub(crate) fn work_in(group: &str, server: &Server, registry: Registry) -> Working {
    work_by(engine(&address(server), group), registry, |runner| runner)
}

pub(crate) fn work_with(server: &Server, registry: Registry, options: impl FnOnce(Runner) -> Runner) -> Working {
    work_by(engine(&address(server), ""), registry, options)
}

fn work_by(engine: Transport, registry: Registry, options: impl FnOnce(Runner) -> Runner) -> Working {
    let kafka = engine.kafka.clone();
    let runner = Runner::new(registry, engine).poll_wait(Duration::from_secs(5)).grace(Duration::from_secs(10));
    let (stop, stopped) = oneshot::channel();
    let task = tokio::spawn(options(runner).run(async move { drop(stopped.await) }));
    Working { stop, kafka, task }
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

/// What the server counts under a name; 0 if it has counted nothing yet.
pub(crate) async fn metric(server: &Server, name: &str) -> f64 {
    let text = reqwest::get(format!("{}/metrics", server.metrics)).await.unwrap().text().await.unwrap();
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    value.map_or(0.0, |value| value.parse().unwrap())
}

pub(crate) async fn until<Look: Future<Output = bool>>(what: &str, condition: impl Fn() -> Look) {
    let deadline = Instant::now() + WITHIN;
    while !condition().await {
        assert!(Instant::now() < deadline, "not in time: {what}");
        sleep(Duration::from_millis(10)).await;
    }
}
