//! The stream of what happened on a real broker: in order for each instance, nothing missing, whatever is killed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use crate::broker::{Broker, Security};
use crate::brokered::{PATIENCE, Server, make_topics, post};
use crate::place::Place;
use serde_json::{Value, json};

const TOPIC: &str = "events";
const EXPORT: &[&str] = &["--export-kafka-topic", TOPIC, "--export-kafka-variables", "--limits-lease-millis", "1000"];

/// What one message says, and in which order they came.
type Heard = Vec<(String, Value)>;

/// Polls and completes until these have ended.
fn work(server: &Server, instances: &[String]) {
    let until = Instant::now() + PATIENCE;
    let poll = json!({"workerId": "w", "jobTypes": ["first", "second"], "maxJobs": 100, "leaseSeconds": 3600});
    let is_open = |instance: &&String| server.status(instance) != "COMPLETED";
    while let Some(open) = instances.iter().find(is_open) {
        assert!(Instant::now() < until, "instance {open} does not end");
        let (_, polled) = server.post("/v1/jobs/poll", &poll);
        for job in polled["jobs"].as_array().into_iter().flatten() {
            let url = server.url(&format!("/v1/jobs/{}/complete", job["id"].as_str().unwrap()));
            post(&url, &json!({"workerId": "w", "variables": {"done": job["id"]}}));
        }
    }
}

/// Everything on the topic, until each of these instances has ended there.
fn hear(broker: &Broker, instances: &[String]) -> Heard {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = krafka::Kafka::builder(broker.address.clone()).connect().await.unwrap();
        let group = client.consumer("listeners").auto_offset_reset(krafka::consumer::AutoOffsetReset::Earliest);
        let consumer = group.build().await.unwrap();
        consumer.subscribe([TOPIC]).await.unwrap();
        let mut open: BTreeSet<&str> = instances.iter().map(String::as_str).collect();
        let (mut heard, until) = (Vec::new(), Instant::now() + PATIENCE);
        while !open.is_empty() {
            assert!(Instant::now() < until, "not heard to the end: {open:?}");
            let Ok(record) = tokio::time::timeout(Duration::from_secs(5), consumer.recv()).await else { continue };
            let record = record.unwrap().unwrap();
            let key = String::from_utf8(record.key.as_deref().unwrap().to_vec()).unwrap();
            let value: Value = serde_json::from_slice(record.value.as_deref().unwrap()).unwrap();
            assert_eq!(value["processInstanceKey"].as_str(), Some(&*key));
            if value["event"] == "INSTANCE_COMPLETED" {
                open.remove(&*key);
            }
            heard.push((key, value));
        }
        consumer.close().await.unwrap();
        heard
    })
}

/// What a careful listener keeps: of each instance what comes after all it knows. Returns how much it passed over.
fn check(heard: &Heard, instances: &[String]) -> usize {
    let mut stories: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    let place = |value: &Value| (value["position"].as_u64().unwrap(), value["index"].as_u64().unwrap());
    let mut again = 0;
    for (instance, value) in heard {
        let story = stories.entry(instance).or_default();
        match story.last().is_none_or(|last| place(last) < place(value)) {
            true => story.push(value),
            false => again += 1,
        }
    }
    assert_eq!(stories.len(), instances.len());
    for instance in instances {
        let told: Vec<String> = stories[instance.as_str()].iter().map(|value| told(value)).collect();
        let expected = [
            "INSTANCE_STARTED",
            "VARIABLE_CREATED n",
            "ELEMENT_ENTERED one",
            "VARIABLE_CREATED done",
            "ELEMENT_COMPLETED one",
            "ELEMENT_ENTERED two",
            "VARIABLE_UPDATED done",
            "ELEMENT_COMPLETED two",
            "ELEMENT_ENTERED done",
            "ELEMENT_COMPLETED done",
            "INSTANCE_COMPLETED",
        ];
        assert_eq!(told, expected, "of {instance}");
    }
    again
}

fn told(value: &Value) -> String {
    let of = value["elementId"].as_str().or(value["name"].as_str());
    [value["event"].as_str(), of].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn begin(place: &Place) -> (Broker, Server) {
    let broker = Broker::start(Security::Plain);
    make_topics(&broker, &[TOPIC]);
    let server = Server::start(place, &broker, EXPORT);
    server.deploy();
    (broker, server)
}

#[test]
fn nothing_is_missing_when_the_broker_is_killed() {
    for place in Place::all() {
        let (mut broker, server) = begin(&place);
        let mut instances: Vec<_> = (0..10).map(|n| server.start_instance(n)).collect();
        work(&server, &instances[..5]);
        broker.kill();
        // The engine goes on.
        instances.extend((10..20).map(|n| server.start_instance(n)));
        work(&server, &instances);
        broker.start_again();
        check(&hear(&broker, &instances), &instances);
        assert!(0.0 < server.metric("caudal_export_published_total"));
    }
}

#[test]
fn nothing_is_missing_when_the_server_is_killed() {
    for place in Place::all() {
        let (broker, mut server) = begin(&place);
        let mut instances: Vec<String> = Vec::new();
        for round in 0..4 {
            instances.extend((0..5).map(|n| server.start_instance(round * 5 + n)));
            work(&server, &instances);
            // It is sure to have told something that it has not remembered: its place is written once a second.
            let until = Instant::now() + PATIENCE;
            while server.metric("caudal_export_lag") != 0.0 {
                assert!(Instant::now() < until, "it does not catch up");
                std::thread::park_timeout(Duration::from_millis(5));
            }
            server.restart(EXPORT);
        }
        let again = check(&hear(&broker, &instances), &instances);
        println!("{again} messages came again");
    }
}

#[test]
fn another_server_goes_on_where_one_was_killed() {
    for place in Place::all().iter().filter(|place| place.is_shared()) {
        let (broker, mut first) = begin(place);
        let second = Server::start(place, &broker, EXPORT);
        let mut instances: Vec<_> = (0..10).map(|n| first.start_instance(n)).collect();
        work(&first, &instances[..5]);
        first.kill();
        // It takes over when the lease of the first has run out.
        work(&second, &instances);
        instances.extend((10..15).map(|n| second.start_instance(n)));
        work(&second, &instances);
        check(&hear(&broker, &instances), &instances);
    }
}
