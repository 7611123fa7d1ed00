//! A server beside a broker, on each kind of store; both can be killed.

pub(crate) mod workers;

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::broker::{Broker, ports};
use crate::place::Place;

/// A busy machine takes its time.
pub(crate) const PATIENCE: Duration = Duration::from_secs(240);

pub(crate) struct Server {
    child: Child,
    /// What it says besides.
    log: tempfile::NamedTempFile,
    store: String,
    addresses: [SocketAddr; 3],
    broker: String,
}

impl Server {
    pub(crate) fn start(place: &Place, broker: &Broker, settings: &[&str]) -> Self {
        let addresses = ports::addresses();
        let store = place.url();
        let log = tempfile::NamedTempFile::new().unwrap();
        let child = spawn(&store, addresses, &broker.address, settings, &log);
        Self { child, log, store, addresses, broker: broker.address.clone() }
    }

    pub(crate) fn restart(&mut self, settings: &[&str]) {
        self.kill();
        self.child = spawn(&self.store, self.addresses, &self.broker, settings, &self.log);
    }

    /// Warnings and errors, since it was first started.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.log.path()).unwrap()
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// A line of its metrics, as a number.
    pub(crate) fn metric(&self, name: &str) -> f64 {
        let url = format!("http://{}/metrics", self.addresses[2]);
        let text = agent().get(&url).call().unwrap().body_mut().read_to_string().unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("no {name} in {text}"));
        line.trim().parse().unwrap()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addresses[0])
    }

    /// Whether it answers, for those who ask while it is started again.
    pub(crate) fn try_start_instance(url: &str, n: usize) -> Option<String> {
        let key = format!("instance-{n}");
        let body = json!({"definitionId": "two-steps", "variables": {"n": n}}).to_string();
        let request = agent().post(url).header("content-type", "application/json").header("idempotency-key", key);
        let mut answer = request.send(body).ok().filter(|answer| answer.status() == 201)?;
        let answer: Value = serde_json::from_str(&answer.body_mut().read_to_string().ok()?).ok()?;
        Some(answer["id"].as_str()?.to_owned())
    }

    /// The status and what came with it.
    pub(crate) fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        post(&self.url(path), body)
    }

    /// The first of what a search finds that is as wanted, as soon as there is one.
    pub(crate) fn found(&self, path: &str, search: &Value, is_wanted: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let (_, answer) = self.post(path, search);
            if let Some(found) = answer["items"].as_array().into_iter().flatten().find(|item| is_wanted(item)) {
                return found.clone();
            }
            assert!(Instant::now() < until, "{path} finds {answer}\n{}", self.log());
            std::thread::park_timeout(Duration::from_millis(20));
        }
    }

    pub(crate) fn deploy(&self) {
        let task = |id: &str, job_type: &str, next: &str| json!({"id": id, "name": id, "type": "SERVICE_TASK", "jobType": job_type, "nextStep": next});
        let end = json!({"id": "done", "name": "done", "type": "END"});
        let steps = [task("one", "first", "two"), task("two", "second", "done"), end];
        let (status, answer) = self.post("/v1/definitions", &json!({"id": "two-steps", "name": "Two steps", "steps": steps}));
        assert_eq!(status, 201, "{answer}");
    }

    pub(crate) fn start_instance(&self, n: usize) -> String {
        let (status, answer) = self.post("/v1/instances", &json!({"definitionId": "two-steps", "variables": {"n": n}}));
        assert_eq!(status, 201, "{answer}");
        answer["id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn status(&self, instance: &str) -> String {
        let agent = agent();
        let mut answer = agent.get(&self.url(&format!("/v1/instances/{instance}"))).call().unwrap();
        let answer: Value = serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap();
        answer["status"].as_str().unwrap().to_owned()
    }

    pub(crate) fn completed(&self, instances: &[String]) {
        let until = Instant::now() + PATIENCE;
        for instance in instances {
            while self.status(instance) != "COMPLETED" {
                assert!(Instant::now() < until, "instance {instance} is {}", self.status(instance));
                std::thread::park_timeout(Duration::from_millis(20));
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _already_gone = self.child.kill();
        let _already_gone = self.child.wait();
    }
}

fn spawn(
    store: &str,
    [rest, grpc, metrics]: [SocketAddr; 3],
    broker: &str,
    settings: &[&str],
    log: &tempfile::NamedTempFile,
) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_caudal"));
    command.args(["serve", "--test-clock", "--log-level", "warn", "--store", store, "--kafka-brokers", broker]);
    command.args(settings);
    let addresses = [("--rest", rest), ("--grpc", grpc), ("--metrics", metrics)];
    command.args(addresses.iter().flat_map(|(flag, address)| [(*flag).to_owned(), address.to_string()]));
    let log = std::fs::File::options().append(true).open(log.path()).unwrap();
    let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
    let (said, banner) = channel();
    let out = child.stdout.take().unwrap();
    std::thread::spawn(move || said.send(BufReader::new(out).lines().next()));
    let banner = banner.recv_timeout(PATIENCE);
    assert!(matches!(&banner, Ok(Some(Ok(line))) if line.contains("is ready")), "the server does not start: {banner:?}");
    child
}

/// Whoever gets no answer in time says so, instead of waiting for ever.
pub(crate) fn agent() -> ureq::Agent {
    ureq::Agent::config_builder().http_status_as_error(false).timeout_global(Some(PATIENCE / 2)).build().into()
}

pub(crate) fn post(url: &str, body: &Value) -> (u16, Value) {
    let sent = agent().post(url).header("content-type", "application/json").send(body.to_string());
    let Ok(mut answer) = sent else { return (0, Value::Null) };
    let text = answer.body_mut().read_to_string().unwrap_or_default();
    (answer.status().as_u16(), serde_json::from_str(&text).unwrap_or(Value::Null))
}

/// Topics are made by whoever first speaks of them; here nobody waits for that.
pub(crate) fn make_topics(broker: &Broker, names: &[&str]) {
    make_topics_by(krafka::Kafka::builder(broker.address.clone()), names);
}

pub(crate) fn make_topics_by(client: krafka::KafkaBuilder, names: &[&str]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = client.connect().await.unwrap();
        let topics: Vec<_> = names.iter().map(|name| krafka::admin::NewTopic::new(*name, 3, 1).unwrap()).collect();
        let _made = client.admin().create_topics(topics, Default::default()).await.unwrap();
    });
}
