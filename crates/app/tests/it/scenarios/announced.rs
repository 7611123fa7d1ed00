//! Jobs heard of on Kafka instead of polled for; everything else over REST. One broker for all scenarios, each with topics of its own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use kafka::JobDispatchEvent;
use prost::Message;
use serde_json::{Value, json};

use super::rest::Rest;
use super::script::Script;
use super::server::{Server, StoreKind};
use super::{Reply, Surface, scenarios};
use crate::broker::{Broker, Security};

/// An announcement says nothing of who may work on it: whoever completes the job first has done it.
const ONLY_POLLED: &[&str] = &["lease-lost.scenario"];

/// What was heard: topic and message, each once.
type Heard = Arc<Mutex<Vec<(String, JobDispatchEvent)>>>;

pub(crate) fn run_all(store: StoreKind, members: usize) {
    let broker = Broker::start(Security::Plain);
    let scripts: Vec<Script> = scenarios().into_iter().filter(|script| !ONLY_POLLED.contains(&script.name())).collect();
    let topics: Vec<String> =
        scripts.iter().flat_map(|script| script.job_types().into_iter().map(|job_type| prefix(script) + &job_type)).collect();
    make(&broker, &topics);
    let group = Group::join(members, &broker, &topics);
    for script in &scripts {
        let prefix = prefix(script);
        let settings = ["--dispatch", "kafka_outbox", "--kafka-brokers", &broker.address, "--kafka-topic-prefix", &prefix];
        let server = Server::with(store, &settings);
        script.run(&Announced { rest: Rest::new(&server), prefix, heard: group.heard.clone() }, &server);
    }
}

fn prefix(script: &Script) -> String {
    format!("{}.", script.name())
}

fn make(broker: &Broker, topics: &[String]) {
    runtime().block_on(async {
        let client = krafka::Kafka::builder(broker.address.clone()).connect().await.unwrap();
        let topics: Vec<_> = topics.iter().map(|name| krafka::admin::NewTopic::new(name.as_str(), 3, 1).unwrap()).collect();
        let _made = client.admin().create_topics(topics, Default::default()).await.unwrap();
    });
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Members of one consumer group; they leave when this is dropped.
struct Group {
    heard: Heard,
    stop: Arc<AtomicBool>,
    members: Vec<JoinHandle<()>>,
}

impl Group {
    fn join(members: usize, broker: &Broker, topics: &[String]) -> Self {
        let (heard, stop) = (Heard::default(), Arc::new(AtomicBool::new(false)));
        let members = (0..members).map(|_| {
            let (heard, stop, brokers, topics) = (heard.clone(), stop.clone(), broker.address.clone(), topics.to_vec());
            std::thread::spawn(move || runtime().block_on(hear(brokers, &topics, &heard, &stop)))
        });
        Self { members: members.collect(), heard, stop }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        self.members.drain(..).for_each(|member| drop(member.join()));
    }
}

async fn hear(brokers: String, topics: &[String], heard: &Heard, stop: &AtomicBool) {
    let client = krafka::Kafka::builder(brokers).connect().await.unwrap();
    let group = client.consumer("workers").auto_offset_reset(krafka::consumer::AutoOffsetReset::Earliest);
    let consumer = group.build().await.unwrap();
    consumer.subscribe(topics.iter().map(String::as_str)).await.unwrap();
    while !stop.load(Ordering::SeqCst) {
        let Ok(record) = tokio::time::timeout(Duration::from_millis(200), consumer.recv()).await else { continue };
        let Some(record) = record.unwrap() else { break };
        let event = JobDispatchEvent::decode(record.value.as_deref().unwrap_or_default()).unwrap();
        let mut heard = heard.lock().unwrap();
        // A member that takes over may hear of one again.
        if !heard.iter().any(|(topic, known)| *topic == *record.topic && known.dedup_id == event.dedup_id) {
            heard.push((record.topic.to_string(), event));
        }
    }
    let _gone_is_fine = consumer.close().await;
}

struct Announced {
    rest: Rest,
    prefix: String,
    heard: Heard,
}

impl Surface for Announced {
    /// The first that was heard of and not taken yet.
    fn poll(&self, _: &str, job_types: &[&str]) -> Reply {
        let mut heard = self.heard.lock().unwrap();
        let is_wanted = |topic: &str| topic.strip_prefix(&self.prefix).is_some_and(|job_type| job_types.contains(&job_type));
        let found = heard.iter_mut().find(|(topic, event)| is_wanted(topic) && !event.job_id.is_empty());
        let job = found.map(|(_, event)| std::mem::take(&mut event.job_id));
        (200, json!({ "jobs": job.map(|id| json!({ "id": id })).into_iter().collect::<Vec<_>>() }))
    }

    fn upload(&self, document: &Value) -> Reply {
        self.rest.upload(document)
    }

    fn start(&self, body: &Value) -> Reply {
        self.rest.start(body)
    }

    fn instance(&self, id: &str) -> Reply {
        self.rest.instance(id)
    }

    fn history(&self, id: &str) -> Reply {
        self.rest.history(id)
    }

    fn list(&self, filters: &[(&str, &str)]) -> Reply {
        self.rest.list(filters)
    }

    fn complete(&self, job: &str, worker: &str, variables: &Value) -> Reply {
        self.rest.complete(job, worker, variables)
    }

    fn fail(&self, job: &str, worker: &str, retryable: bool, message: &str) -> Reply {
        self.rest.fail(job, worker, retryable, message)
    }

    fn user_task(&self, instance: &str, step: &str, body: &Value, buffer: bool) -> Reply {
        self.rest.user_task(instance, step, body, buffer)
    }

    fn signal(&self, instance: &str, step: &str, variables: &Value, buffer: bool) -> Reply {
        self.rest.signal(instance, step, variables, buffer)
    }

    fn cancel(&self, instance: &str) -> Reply {
        self.rest.cancel(instance)
    }

    fn retry(&self, instance: &str) -> Reply {
        self.rest.retry(instance)
    }
}
