//! Workers that hear of jobs on Kafka, and workers that poll.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use kafka::JobDispatchEvent;
use krafka::consumer::{AutoOffsetReset, Consumer};
use prost::Message;
use serde_json::json;

use super::{PATIENCE, Server, post};
use crate::broker::Broker;

/// A client of Kafka that has nothing after this time is made anew.
const JOINED_WITHIN: Duration = Duration::from_secs(30);

/// Hears of jobs as members of one group, and completes them over REST.
pub(crate) struct Workers {
    heard: Arc<Mutex<Vec<JobDispatchEvent>>>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Workers {
    pub(crate) fn start(count: usize, broker: &Broker, server: &Server) -> Self {
        Self::join(count, broker, server, Arc::default())
    }

    /// Those that write down in one place what they hear.
    pub(crate) fn join(count: usize, broker: &Broker, server: &Server, heard: Arc<Mutex<Vec<JobDispatchEvent>>>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let threads = (0..count).map(|_| {
            let (heard, stop, brokers, url) = (heard.clone(), stop.clone(), broker.address.clone(), server.url("/v1/jobs"));
            std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(work(&brokers, &url, &heard, &stop));
            })
        });
        Self { threads: threads.collect(), heard, stop }
    }

    pub(crate) fn stop(self) -> Vec<JobDispatchEvent> {
        self.stop.store(true, Ordering::SeqCst);
        self.threads.into_iter().for_each(|thread| thread.join().unwrap());
        self.heard.lock().unwrap().clone()
    }
}

async fn work(brokers: &str, jobs: &str, heard: &Mutex<Vec<JobDispatchEvent>>, stop: &AtomicBool) {
    while !stop.load(Ordering::SeqCst) {
        let Ok(Ok(consumer)) = tokio::time::timeout(JOINED_WITHIN, join(brokers)).await else { continue };
        while !stop.load(Ordering::SeqCst) {
            let record = match tokio::time::timeout(Duration::from_millis(500), consumer.recv()).await {
                Ok(Ok(Some(record))) => record,
                Ok(Ok(None) | Err(_)) => break,
                Err(_) => continue,
            };
            let event = JobDispatchEvent::decode(record.value.as_deref().unwrap_or_default()).unwrap();
            heard.lock().unwrap().push(event.clone());
            complete(jobs, &event, stop).await;
        }
        let _gone_is_fine = consumer.close().await;
    }
}

async fn join(brokers: &str) -> krafka::error::Result<Consumer> {
    let client = krafka::Kafka::builder(brokers.to_owned()).allow_auto_create_topics(true).connect().await?;
    let consumer = client.consumer("workers").auto_offset_reset(AutoOffsetReset::Earliest).build().await?;
    consumer.subscribe(["workflow.jobs.first", "workflow.jobs.second"]).await?;
    Ok(consumer)
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

/// Asks for jobs and completes them, while it may: how many it was given.
pub(crate) struct Pollers {
    polled: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Pollers {
    pub(crate) fn start(count: usize, server: &Server) -> Self {
        let (polled, stop) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let threads = (0..count).map(|_| {
            let (polled, stop, jobs) = (polled.clone(), stop.clone(), server.url("/v1/jobs"));
            std::thread::spawn(move || {
                let poll = json!({"workerId": "poller", "jobTypes": ["first", "second"], "maxJobs": 10, "leaseSeconds": 5});
                while !stop.load(Ordering::SeqCst) {
                    // There is no server, or none that may be asked.
                    let (_, answer) = post(&format!("{jobs}/poll"), &poll);
                    let found = answer["jobs"].as_array().cloned().unwrap_or_default();
                    for job in &found {
                        let url = format!("{jobs}/{}/complete", job["id"].as_str().unwrap_or_default());
                        polled.fetch_add(1, Ordering::SeqCst);
                        post(&url, &json!({"workerId": "poller", "variables": {}}));
                    }
                    if found.is_empty() {
                        std::thread::park_timeout(Duration::from_millis(20));
                    }
                }
            })
        });
        Self { threads: threads.collect(), polled, stop }
    }

    pub(crate) fn stop(self) -> usize {
        self.stop.store(true, Ordering::SeqCst);
        self.threads.into_iter().for_each(|thread| thread.join().unwrap());
        self.polled.load(Ordering::SeqCst)
    }
}

/// The first so many messages of a topic, by whoever listens to all of it.
pub(crate) fn hear(broker: &Broker, topic: &str, count: usize) -> Vec<JobDispatchEvent> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut heard = Vec::new();
    let hearing = async {
        let client = krafka::Kafka::builder(broker.address.clone()).connect().await.unwrap();
        let group = client.consumer(format!("hear-{count}"));
        let consumer = group.auto_offset_reset(AutoOffsetReset::Earliest).build().await.unwrap();
        consumer.subscribe([topic]).await.unwrap();
        while heard.len() < count {
            let record = consumer.recv().await.unwrap().unwrap();
            heard.push(JobDispatchEvent::decode(record.value.as_deref().unwrap_or_default()).unwrap());
        }
        consumer.close().await.unwrap();
    };
    let all = runtime.block_on(async { tokio::time::timeout(PATIENCE, hearing).await });
    assert!(all.is_ok(), "of {count} on {topic} only these are heard: {heard:?}");
    heard
}
