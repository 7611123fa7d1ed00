//! The server with `dispatch = "kafka_outbox"` and a real broker: what happens to jobs when either of them is killed.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::broker::{Broker, PASSWORD, Security, USER};
use crate::brokered::workers::{Pollers, Workers, hear};
use crate::brokered::{PATIENCE, Server, make_topics, make_topics_by};
use crate::place::Place;
use kafka::JobDispatchEvent;
use krafka::auth::{AuthConfig, TlsConfig};
use serde_json::{Value, json};

const KAFKA: &[&str] = &["--dispatch", "kafka_outbox"];
const POLLING: &[&str] = &["--dispatch", "polling"];
const TOPICS: &[&str] = &["workflow.jobs.first", "workflow.jobs.second"];

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
    instances.extend((30..35).map(|n| server.start_instance(n)));
    broker.stop();
    instances.extend((35..40).map(|n| server.start_instance(n)));
    broker.start_again();
    // One that answers nothing is as good as away.
    broker.hold();
    instances.extend((40..50).map(|n| server.start_instance(n)));
    broker.release();
    server.completed(&instances);
    workers.stop();
}

#[test]
fn what_was_published_and_not_removed_is_published_again_as_the_same() {
    for place in Place::all().iter().filter(|place| place.is_shared()) {
        let broker = Broker::start(Security::Plain);
        make_topics(&broker, TOPICS);
        let mut server = Server::start(place, &broker, KAFKA);
        server.deploy();
        broker.hold();
        let instance = server.start_instance(1);
        let until = Instant::now() + PATIENCE;
        while server.metric("caudal_outbox ") != 1.0 {
            assert!(Instant::now() < until, "it is not in the outbox");
            std::thread::park_timeout(Duration::from_millis(10));
        }
        // There it stays.
        let locked = place.lock("dispatch_outbox");
        broker.release();
        let first = hear(&broker, TOPICS[0], 1).remove(0);
        server.kill();
        locked.release_to_nobody();
        server.restart(KAFKA);
        let heard = hear(&broker, TOPICS[0], 2);
        assert_eq!(heard, [first.clone(), first]);
        let workers = Workers::start(1, &broker, &server);
        server.completed(&[instance]);
        workers.stop();
    }
}

#[test]
fn switching_under_load_loses_nothing() {
    Place::all().iter().for_each(switching_under_load);
}

fn switching_under_load(place: &Place) {
    let broker = Broker::start(Security::Plain);
    make_topics(&broker, TOPICS);
    let by_kafka = &["--dispatch", "kafka_outbox", "--kafka-lease-seconds", "5"];
    let mut server = Server::start(place, &broker, by_kafka);
    server.deploy();
    let (workers, pollers) = (Workers::start(2, &broker, &server), Pollers::start(2, &server));
    let (started, stop) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
    let starter = {
        let (started, stop, url) = (started.clone(), stop.clone(), server.url("/v1/instances"));
        std::thread::spawn(move || {
            for n in 0.. {
                let instance = loop {
                    if stop.load(Ordering::SeqCst) {
                        return;
                    }
                    match Server::try_start_instance(&url, n) {
                        Some(instance) => break instance,
                        None => std::thread::park_timeout(Duration::from_millis(20)),
                    }
                };
                started.lock().unwrap().push(instance);
            }
        })
    };
    let more = |count: usize| {
        let (had, until) = (started.lock().unwrap().len(), Instant::now() + PATIENCE);
        while started.lock().unwrap().len() < had + count {
            assert!(Instant::now() < until, "nothing is started");
            std::thread::park_timeout(Duration::from_millis(10));
        }
    };
    for settings in [POLLING, by_kafka, POLLING, by_kafka] {
        more(30);
        server.restart(settings);
    }
    more(30);
    stop.store(true, Ordering::SeqCst);
    starter.join().unwrap();
    let instances = started.lock().unwrap().clone();
    server.completed(&instances);
    let polled = pollers.stop();
    let heard = workers.stop();
    assert!(0 < polled && !heard.is_empty(), "{polled} polled, {} heard", heard.len());
}

#[test]
fn what_the_broker_refuses_shows_on_the_job_and_in_the_log_and_others_go_on() {
    let broker = Broker::start(Security::Guarded);
    make_topics(&broker, &["workflow.jobs.first", "workflow.jobs.second", "workflow.jobs.secret"]);
    broker.allow(&[["workflow.jobs.secret", "somebody", "Write"]]);
    let server = Server::start(&Place::folder(), &broker, KAFKA);
    server.deploy();
    for job_type in ["absent", "secret"] {
        let task = json!({"id": "one", "name": "one", "type": "SERVICE_TASK", "jobType": job_type, "nextStep": "done"});
        let end = json!({"id": "done", "name": "done", "type": "END"});
        let (status, answer) = server.post("/v1/definitions", &json!({"id": job_type, "name": job_type, "steps": [task, end]}));
        assert_eq!(status, 201, "{answer}");
        assert_eq!(server.post("/v1/instances", &json!({"definitionId": job_type})).0, 201);
    }
    let large = json!({"definitionId": "two-steps", "variables": {"text": "x".repeat(1_500_000)}, "businessKey": "large"});
    let (status, answer) = server.post("/v1/instances", &large);
    assert_eq!(status, 201, "{answer}");
    let workers = Workers::start(1, &broker, &server);
    server.completed(&(0..5).map(|n| server.start_instance(n)).collect::<Vec<_>>());
    workers.stop();
    for (job_type, reason) in [("absent", "UnknownTopicOrPartition"), ("secret", "TopicAuthorizationFailed")] {
        let says = |job: &Value| job["errorMessage"].as_str().is_some_and(|message| message.contains(reason));
        let job = server.found("/v2/jobs/search", &json!({"filter": {"type": job_type}}), says);
        assert!(job["errorMessage"].as_str().unwrap().starts_with("it could not be announced"), "{job}");
    }
    let says = |incident: &Value| incident["errorMessage"].as_str().is_some_and(|message| message.contains("MessageTooLarge"));
    server.found("/v2/incidents/search", &json!({}), says);
    let log = server.log();
    for job_type in ["absent", "secret", "first"] {
        let is_told = |line: &str| line.contains("the broker does not take jobs") && line.contains(job_type);
        assert!(log.lines().any(is_told), "{log}");
    }
    // It mends itself when there is a topic.
    make_topics(&broker, &["workflow.jobs.absent"]);
    let until = Instant::now() + PATIENCE;
    while server.metric("caudal_outbox ") != 0.0 || server.metric("caudal_announced_total ") < 11.0 {
        assert!(Instant::now() < until, "it is not announced: {}", server.log());
        server.post("/v1/clock/advance", &json!({"duration": "PT11S"}));
        std::thread::park_timeout(Duration::from_millis(200));
    }
    assert_eq!(hear(&broker, "workflow.jobs.absent", 1)[0].job_type, "absent");
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
    server.restart(POLLING);
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

#[test]
fn a_server_says_who_it_is_over_tls() {
    let broker = Broker::start(Security::ScramOverTls);
    let authority = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/tls/authority.crt").display().to_string();
    let trusted = TlsConfig::new().with_ca_cert(authority.clone()).with_sni_hostname("localhost");
    let known = AuthConfig::sasl_scram_sha512(USER, PASSWORD).with_tls(trusted);
    make_topics_by(krafka::Kafka::builder(broker.address.clone()).security(known), TOPICS);
    let password = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(password.path(), format!("{PASSWORD}\n")).unwrap();
    let password = password.path().display().to_string();
    for mechanism in ["SCRAM-SHA-256", "SCRAM-SHA-512"] {
        let by_whom = ["--kafka-security", "sasl_tls", "--kafka-username", USER, "--kafka-password-file", &password];
        let how = ["--kafka-mechanism", mechanism, "--kafka-ca", &authority, "--kafka-server-name", "localhost"];
        let server = Server::start(&Place::folder(), &broker, &[KAFKA, &by_whom, &how].concat());
        server.deploy();
        server.start_instance(1);
        let until = Instant::now() + PATIENCE;
        while server.metric("caudal_announced_total ") != 1.0 {
            assert!(Instant::now() < until, "{mechanism}: {}", server.log());
            std::thread::park_timeout(Duration::from_millis(20));
        }
    }
}
