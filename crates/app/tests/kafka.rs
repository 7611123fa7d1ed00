//! The server with `dispatch = "kafka_outbox"` and a real broker: what happens to jobs when either of them is killed.
#![cfg(feature = "kafka")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../kafka/tests/broker/mod.rs"]
mod broker;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use broker::{Broker, Security};
use kafka::JobDispatchEvent;
use prost::Message;
use serde_json::{Value, json};

/// A busy machine takes its time.
const PATIENCE: Duration = Duration::from_secs(240);

struct Server {
    child: Child,
    store: String,
    addresses: [SocketAddr; 3],
    broker: String,
}

impl Server {
    fn start(folder: &tempfile::TempDir, broker: &Broker, mode: &str) -> Self {
        let listeners = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let addresses = listeners.map(|listener| listener.local_addr().unwrap());
        let store = format!("sqlite:{}", folder.path().join("data").display());
        let child = spawn(&store, addresses, &broker.address, mode);
        Self { child, store, addresses, broker: broker.address.clone() }
    }

    fn restart(&mut self, mode: &str) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.child = spawn(&self.store, self.addresses, &self.broker, mode);
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addresses[0])
    }

    /// The status and what came with it.
    fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        post(&self.url(path), body)
    }

    fn deploy(&self) {
        let task = |id: &str, job_type: &str, next: &str| json!({"id": id, "name": id, "type": "SERVICE_TASK", "jobType": job_type, "nextStep": next});
        let end = json!({"id": "done", "name": "done", "type": "END"});
        let steps = [task("one", "first", "two"), task("two", "second", "done"), end];
        let (status, answer) = self.post("/v1/definitions", &json!({"id": "two-steps", "name": "Two steps", "steps": steps}));
        assert_eq!(status, 201, "{answer}");
    }

    fn start_instance(&self, n: usize) -> String {
        let (status, answer) = self.post("/v1/instances", &json!({"definitionId": "two-steps", "variables": {"n": n}}));
        assert_eq!(status, 201, "{answer}");
        answer["id"].as_str().unwrap().to_owned()
    }

    fn status(&self, instance: &str) -> String {
        let agent = agent();
        let mut answer = agent.get(&self.url(&format!("/v1/instances/{instance}"))).call().unwrap();
        let answer: Value = serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap();
        answer["status"].as_str().unwrap().to_owned()
    }

    fn completed(&self, instances: &[String]) {
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

fn spawn(store: &str, [rest, grpc, metrics]: [SocketAddr; 3], broker: &str, mode: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_caudal"));
    command.args([
        "serve",
        "--test-clock",
        "--log-level",
        "off",
        "--store",
        store,
        "--dispatch",
        mode,
        "--kafka-brokers",
        broker,
    ]);
    let addresses = [("--rest", rest), ("--grpc", grpc), ("--metrics", metrics)];
    command.args(addresses.iter().flat_map(|(flag, address)| [(*flag).to_owned(), address.to_string()]));
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut banner = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(banner.next().unwrap().unwrap().contains("is ready"));
    child
}

fn agent() -> ureq::Agent {
    ureq::Agent::config_builder().http_status_as_error(false).build().into()
}

fn post(url: &str, body: &Value) -> (u16, Value) {
    let sent = agent().post(url).header("content-type", "application/json").send(body.to_string());
    let Ok(mut answer) = sent else { return (0, Value::Null) };
    let text = answer.body_mut().read_to_string().unwrap_or_default();
    (answer.status().as_u16(), serde_json::from_str(&text).unwrap_or(Value::Null))
}

/// Hears of jobs as members of one group, and completes them over REST.
struct Workers {
    heard: Arc<Mutex<Vec<JobDispatchEvent>>>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Workers {
    fn start(count: usize, broker: &Broker, server: &Server) -> Self {
        let (heard, stop) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let threads = (0..count).map(|_| {
            let (heard, stop, brokers, url) = (heard.clone(), stop.clone(), broker.address.clone(), server.url("/v1/jobs"));
            std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(work(&brokers, &url, &heard, &stop));
            })
        });
        Self { threads: threads.collect(), heard, stop }
    }

    fn stop(self) -> Vec<JobDispatchEvent> {
        self.stop.store(true, Ordering::SeqCst);
        self.threads.into_iter().for_each(|thread| thread.join().unwrap());
        self.heard.lock().unwrap().clone()
    }
}

async fn work(brokers: &str, jobs: &str, heard: &Mutex<Vec<JobDispatchEvent>>, stop: &AtomicBool) {
    while !stop.load(Ordering::SeqCst) {
        let Ok(client) = krafka::Kafka::builder(brokers.to_owned()).allow_auto_create_topics(true).connect().await else {
            continue;
        };
        let group = client.consumer("workers").auto_offset_reset(krafka::consumer::AutoOffsetReset::Earliest);
        let Ok(consumer) = group.build().await else { continue };
        if consumer.subscribe(["workflow.jobs.first", "workflow.jobs.second"]).await.is_err() {
            continue;
        }
        while !stop.load(Ordering::SeqCst) {
            let record = match tokio::time::timeout(Duration::from_millis(500), consumer.recv()).await {
                Ok(Ok(Some(record))) => record,
                Ok(Ok(None) | Err(_)) => break,
                Err(_) => continue,
            };
            let event = JobDispatchEvent::decode(record.value.as_deref().unwrap_or_default()).unwrap();
            complete(jobs, &event, stop).await;
            heard.lock().unwrap().push(event);
        }
        let _gone_is_fine = consumer.close().await;
    }
}

/// Until the server has heard of it.
async fn complete(jobs: &str, event: &JobDispatchEvent, stop: &AtomicBool) {
    let url = format!("{jobs}/{}/complete", event.job_id);
    while !stop.load(Ordering::SeqCst) {
        match post(&url, &json!({"workerId": "worker", "variables": {}})).0 {
            200..=299 | 404 | 409 => return,
            _ => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

/// Topics are made by whoever first speaks of them; here nobody waits for that.
fn make_topics(broker: &Broker) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = krafka::Kafka::builder(broker.address.clone()).connect().await.unwrap();
        let topics =
            ["first", "second"].map(|job_type| krafka::admin::NewTopic::new(format!("workflow.jobs.{job_type}"), 3, 1).unwrap());
        let _made = client.admin().create_topics(topics.to_vec(), Default::default()).await.unwrap();
    });
}

#[test]
fn every_job_is_announced_and_none_is_polled_for() {
    let (folder, broker) = (tempfile::tempdir().unwrap(), Broker::start(Security::Plain));
    make_topics(&broker);
    let server = Server::start(&folder, &broker, "kafka_outbox");
    server.deploy();
    let (status, refused) = server.post("/v1/jobs/poll", &json!({"workerId": "w", "jobTypes": ["first"]}));
    assert_eq!(status, 410, "{refused}");
    let workers = Workers::start(3, &broker, &server);
    let instances: Vec<_> = (0..30).map(|n| server.start_instance(n)).collect();
    server.completed(&instances);
    let heard = workers.stop();
    let mut by_job: BTreeMap<&str, Vec<&JobDispatchEvent>> = BTreeMap::new();
    heard.iter().for_each(|event| by_job.entry(&event.job_id).or_default().push(event));
    assert_eq!(by_job.len(), 60);
    // A group that changes hands may hear of one again, as the same.
    for events in by_job.values() {
        assert!(events.iter().all(|event| event.dedup_id == events[0].dedup_id), "{events:?}");
    }
}

#[test]
fn nothing_is_lost_when_the_broker_or_the_server_is_killed() {
    let (folder, mut broker) = (tempfile::tempdir().unwrap(), Broker::start(Security::Plain));
    make_topics(&broker);
    let mut server = Server::start(&folder, &broker, "kafka_outbox");
    server.deploy();
    let workers = Workers::start(1, &broker, &server);
    let mut instances: Vec<_> = (0..10).map(|n| server.start_instance(n)).collect();
    broker.kill();
    // Everything else goes on.
    instances.extend((10..20).map(|n| server.start_instance(n)));
    server.restart("kafka_outbox");
    instances.extend((20..30).map(|n| server.start_instance(n)));
    broker.start_again();
    server.completed(&instances);
    workers.stop();
}

#[test]
fn switching_loses_nothing_in_either_direction() {
    let (folder, broker) = (tempfile::tempdir().unwrap(), Broker::start(Security::Plain));
    make_topics(&broker);
    let mut server = Server::start(&folder, &broker, "kafka_outbox");
    server.deploy();
    // Announced to nobody.
    let mut instances: Vec<_> = (0..5).map(|n| server.start_instance(n)).collect();
    server.restart("polling");
    instances.extend((5..10).map(|n| server.start_instance(n)));
    let poll = json!({"workerId": "w", "jobTypes": ["first"], "maxJobs": 100, "leaseSeconds": 3600});
    let (status, polled) = server.post("/v1/jobs/poll", &poll);
    assert_eq!((status, polled["jobs"].as_array().unwrap().len()), (200, 5), "{polled}");
    // Leases of those that were announced end.
    server.post("/v1/clock/advance", &json!({"duration": "PT301S"}));
    let mut late = 0;
    let until = Instant::now() + PATIENCE;
    let mut jobs = polled["jobs"].as_array().unwrap().clone();
    while late < 5 {
        assert!(Instant::now() < until, "only {late} came back");
        let (_, polled) = server.post("/v1/jobs/poll", &poll);
        late += polled["jobs"].as_array().unwrap().len();
        jobs.extend(polled["jobs"].as_array().unwrap().iter().cloned());
    }
    for job in &jobs {
        let path = format!("/v1/jobs/{}/complete", job["id"].as_str().unwrap());
        let (status, answer) = server.post(&path, &json!({"workerId": "w", "variables": {}}));
        assert_eq!(status / 100, 2, "{answer}");
    }
    // The second steps wait to be polled for, and are announced instead.
    server.restart("kafka_outbox");
    let workers = Workers::start(1, &broker, &server);
    server.completed(&instances);
    workers.stop();
}
