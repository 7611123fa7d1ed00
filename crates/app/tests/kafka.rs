//! The server with `dispatch = "kafka_outbox"` and a real broker: what happens to jobs when either of them is killed.
#![cfg(feature = "kafka")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod brokered;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use brokered::broker::{Broker, Security};
use brokered::{PATIENCE, Place, Server, make_topics, post};
use kafka::JobDispatchEvent;
use prost::Message;
use serde_json::json;

const KAFKA: &[&str] = &["--dispatch", "kafka_outbox"];
const TOPICS: &[&str] = &["workflow.jobs.first", "workflow.jobs.second"];

/// Hears of jobs as members of one group, and completes them over REST.
struct Workers {
    heard: Arc<Mutex<Vec<JobDispatchEvent>>>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Workers {
    fn start(count: usize, broker: &Broker, server: &Server) -> Self {
        Self::join(count, broker, server, Arc::default())
    }

    /// Those that write down in one place what they hear.
    fn join(count: usize, broker: &Broker, server: &Server, heard: Arc<Mutex<Vec<JobDispatchEvent>>>) -> Self {
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
            heard.lock().unwrap().push(event.clone());
            complete(jobs, &event, stop).await;
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

#[test]
fn every_job_is_announced_and_none_is_polled_for() {
    Place::all().iter().for_each(every_job_is_announced);
}

fn every_job_is_announced(place: &Place) {
    let broker = Broker::start(Security::Plain);
    make_topics(&broker, TOPICS);
    let server = Server::start(place, &broker, KAFKA);
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
    Place::all().iter().for_each(nothing_is_lost);
}

fn nothing_is_lost(place: &Place) {
    let mut broker = Broker::start(Security::Plain);
    make_topics(&broker, TOPICS);
    let mut server = Server::start(place, &broker, KAFKA);
    server.deploy();
    let workers = Workers::start(1, &broker, &server);
    let mut instances: Vec<_> = (0..10).map(|n| server.start_instance(n)).collect();
    broker.kill();
    // Everything else goes on.
    instances.extend((10..20).map(|n| server.start_instance(n)));
    server.restart(KAFKA);
    instances.extend((20..30).map(|n| server.start_instance(n)));
    broker.start_again();
    server.completed(&instances);
    workers.stop();
}

#[test]
fn switching_loses_nothing_in_either_direction() {
    Place::all().iter().for_each(switching_loses_nothing);
}

fn switching_loses_nothing(place: &Place) {
    let broker = Broker::start(Security::Plain);
    make_topics(&broker, TOPICS);
    let mut server = Server::start(place, &broker, KAFKA);
    server.deploy();
    // Announced to nobody.
    let mut instances: Vec<_> = (0..5).map(|n| server.start_instance(n)).collect();
    server.restart(&["--dispatch", "polling"]);
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
    server.restart(KAFKA);
    let workers = Workers::start(1, &broker, &server);
    server.completed(&instances);
    workers.stop();
}

#[test]
fn jobs_of_an_instance_are_heard_in_order_however_the_group_changes() {
    const BRANCHES: usize = 8;
    let broker = Broker::start(Security::Plain);
    make_topics(&broker, TOPICS);
    let server = Server::start(&Place::folder(), &broker, KAFKA);
    let ids: Vec<_> = (0..BRANCHES).map(|n| format!("branch-{n}")).collect();
    let fork = json!({"id": "fork", "name": "fork", "type": "PARALLEL_GATEWAY", "parallelNextSteps": ids, "joinStep": "join"});
    let join = json!({"id": "join", "name": "join", "type": "JOIN_GATEWAY", "nextStep": "done"});
    let done = json!({"id": "done", "name": "done", "type": "END"});
    let branch = |id: &String| json!({"id": id, "name": id, "type": "SERVICE_TASK", "jobType": "first", "nextStep": "join"});
    let steps: Vec<_> = [fork].into_iter().chain(ids.iter().map(branch)).chain([join, done]).collect();
    let (status, answer) = server.post("/v1/definitions", &json!({"id": "two-steps", "name": "Branches", "steps": steps}));
    assert_eq!(status, 201, "{answer}");
    let heard = Arc::new(Mutex::new(Vec::new()));
    let first = Workers::join(1, &broker, &server, heard.clone());
    let mut instances: Vec<_> = (0..20).map(|n| server.start_instance(n)).collect();
    let until = Instant::now() + PATIENCE;
    while heard.lock().unwrap().is_empty() {
        assert!(Instant::now() < until, "nobody hears of anything");
        std::thread::park_timeout(Duration::from_millis(10));
    }
    // The partitions are dealt out anew, twice, while jobs are announced.
    let more = Workers::join(2, &broker, &server, heard.clone());
    instances.extend((20..40).map(|n| server.start_instance(n)));
    first.stop();
    instances.extend((40..60).map(|n| server.start_instance(n)));
    server.completed(&instances);
    more.stop();
    let mut known: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for event in heard.lock().unwrap().iter() {
        let announcement = event.dedup_id.rsplit('-').next().unwrap().parse().unwrap();
        let of_instance = known.entry(event.instance_id.clone()).or_default();
        // Whoever takes over may hear of some again.
        if !of_instance.contains(&announcement) {
            of_instance.push(announcement);
        }
    }
    assert_eq!(known.len(), 60);
    for (instance, announcements) in known {
        assert!(announcements.len() == BRANCHES && announcements.is_sorted(), "{instance}: {announcements:?}");
    }
}
