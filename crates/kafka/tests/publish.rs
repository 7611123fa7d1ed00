//! Publishing to a real broker.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod broker;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use broker::{Broker, PASSWORD, Security, USER};
use engine::{ElementKey, InstanceKey, JobKey};
use host::{Published, Publisher};
use kafka::{JobDispatchEvent, Kafka, Mechanism, Options, Sasl, Tls};
use krafka::admin::NewTopic;
use krafka::auth::{AuthConfig, TlsConfig};
use prost::Message;
use store::row::{Announcement, AnnouncementKey};

fn options(brokers: &str) -> Options {
    Options { brokers: brokers.to_owned(), topic_prefix: "workflow.jobs.".to_owned(), sasl: None }
}

fn announcement(n: u64, job_type: &str, payload: &str) -> Announcement {
    Announcement {
        key: AnnouncementKey(n),
        job: JobKey(1_000 + n),
        instance: InstanceKey(1 + n % 7),
        element_instance: ElementKey(2_000 + n),
        job_type: job_type.into(),
        tenant: "<default>".into(),
        retries: 3,
        created: 1_700_000_000_123,
        payload: payload.into(),
        lease: n as u32,
        element_id: "pack".into(),
        progress: Some(r#"{"percent":40}"#.into()),
        trace: None,
    }
}

async fn create_topic(options: &Options, job_type: &str) {
    let client = krafka::Kafka::builder(options.brokers.clone()).allow_auto_create_topics(true).connect().await.unwrap();
    let producer = client.producer().build().await.unwrap();
    let topic = format!("{}{job_type}", options.topic_prefix);
    // What is not one of ours is told by its empty key.
    let _where = producer.send(krafka::Record::new(topic, Vec::<u8>::new())).await.unwrap();
    producer.close().await.unwrap();
}

/// So many announcements of a type, with their keys, as they come.
async fn consume(options: &Options, job_type: &str, count: usize) -> Vec<(String, JobDispatchEvent)> {
    let client = krafka::Kafka::builder(options.brokers.clone()).connect().await.unwrap();
    let group = format!("{}group", options.topic_prefix);
    let offset = krafka::consumer::AutoOffsetReset::Earliest;
    let consumer = client.consumer(group).auto_offset_reset(offset).build().await.unwrap();
    consumer.subscribe([format!("{}{job_type}", options.topic_prefix)]).await.unwrap();
    let mut heard = Vec::new();
    while heard.len() < count {
        let record = consumer.recv().await.unwrap().unwrap();
        let (Some(key), Some(value)) = (record.key.as_deref(), record.value.as_deref()) else { continue };
        heard.push((String::from_utf8(key.to_vec()).unwrap(), JobDispatchEvent::decode(value).unwrap()));
    }
    consumer.close().await.unwrap();
    heard
}

#[tokio::test]
async fn announcements_arrive_whole_and_in_order_for_each_instance() {
    let broker = Broker::start(Security::Plain);
    let options = options(&broker.address);
    create_topic(&options, "work").await;
    let kafka = Kafka::new(options.clone());
    let sent: Vec<_> = (1..=500).map(|n| announcement(n, "work", &format!(r#"{{"n":{n},"text":"Grüße"}}"#))).collect();
    for page in sent.chunks(100) {
        assert_eq!(kafka.publish(page).await, vec![Published::Told; page.len()]);
    }
    let heard = consume(&options, "work", sent.len()).await;
    let mut by_instance: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for (key, event) in &heard {
        assert_eq!(*key, event.instance_id);
        by_instance.entry(key.clone()).or_default().push(event.job_id.parse().unwrap());
    }
    assert_eq!(by_instance.len(), 7);
    assert!(by_instance.values().all(|jobs| jobs.is_sorted()), "{by_instance:?}");
    let first = heard.iter().find(|(_, event)| event.job_id == "1001").map(|(_, event)| event.clone()).unwrap();
    assert_eq!((first.schema_version, first.retries_remaining), (1, 2));
    assert_eq!((first.dedup_id.as_str(), first.step_execution_id.as_str(), first.job_type.as_str()), ("1001-1", "2001", "work"));
    assert_eq!(
        (first.step_id.as_str(), first.lease, &*first.progress, &*first.trace_context),
        ("pack", 1, &br#"{"percent":40}"#[..], &[][..])
    );
    assert_eq!(String::from_utf8(first.job_payload).unwrap(), r#"{"n":1,"text":"Grüße"}"#);
    let created = first.created_at.unwrap();
    assert_eq!((created.seconds, created.nanos), (1_700_000_000, 123_000_000));
}

#[tokio::test]
async fn what_the_broker_refuses_keeps_nothing_else_back() {
    let broker = Broker::start(Security::Plain);
    let options = options(&broker.address);
    create_topic(&options, "work").await;
    let kafka = Kafka::new(options);
    let large = "x".repeat(2 * 1024 * 1024);
    let sent = [
        announcement(1, "work", "{}"),
        announcement(2, "work", &large),
        announcement(3, "no/topic", "{}"),
        announcement(4, "work", "{}"),
    ];
    let published = kafka.publish(&sent).await;
    assert_eq!(published[0], Published::Told);
    assert!(matches!(&published[1], Published::Refused { for_good: true, .. }), "{published:?}");
    assert!(matches!(&published[2], Published::Refused { for_good: true, .. }), "{published:?}");
    assert_eq!(published[3], Published::Told);
}

#[tokio::test]
async fn a_broker_that_is_not_there_is_away() {
    let kafka = Kafka::new(options("127.0.0.1:1"));
    let published = tokio::time::timeout(Duration::from_secs(60), kafka.publish(&[announcement(1, "work", "{}")])).await.unwrap();
    assert!(matches!(published.as_slice(), [Published::Away { .. }]), "{published:?}");
}

#[tokio::test]
async fn a_broker_that_asks_who_it_is_over_tls_is_told() {
    let broker = Broker::start(Security::ScramOverTls);
    let authority = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/tls/authority.crt");
    let trusted = TlsConfig::new().with_ca_cert(authority.display().to_string()).with_sni_hostname("localhost");
    let known = AuthConfig::sasl_scram_sha512(USER, PASSWORD).with_tls(trusted);
    let client = krafka::Kafka::builder(broker.address.clone()).security(known).connect().await.unwrap();
    let topic = NewTopic::new("jobs.work", 1, 1).unwrap();
    let _made = client.admin().create_topics([topic], Default::default()).await.unwrap();
    let tls = Tls { ca: Some(authority), server_name: Some("localhost".to_owned()) };
    for mechanism in [Mechanism::ScramSha256, Mechanism::ScramSha512] {
        let sasl = Sasl { mechanism, username: USER.to_owned(), password: PASSWORD.to_owned(), tls: tls.clone() };
        let options = Options { brokers: broker.address.clone(), topic_prefix: "jobs.".to_owned(), sasl: Some(sasl.clone()) };
        let told = Kafka::new(options.clone()).publish(&[announcement(1, "work", "{}")]).await;
        assert_eq!(told, [Published::Told]);
        let wrong = Sasl { password: "something else".to_owned(), ..sasl };
        let refused = Kafka::new(Options { sasl: Some(wrong), ..options }).publish(&[announcement(1, "work", "{}")]).await;
        assert!(matches!(refused.as_slice(), [Published::Away { reason }] if !reason.contains("something else")), "{refused:?}");
    }
}

#[tokio::test]
async fn a_topic_that_is_not_there_keeps_nothing_else_back() {
    let broker = Broker::start(Security::Plain);
    let options = options(&broker.address);
    create_topic(&options, "work").await;
    let kafka = Kafka::new(options);
    let sent = [announcement(1, "absent", "{}"), announcement(2, "work", "{}"), announcement(3, "absent", "{}")];
    let (mut pages, mut told) = (0, Published::Later);
    while told == Published::Later {
        let published = kafka.publish(&sent).await;
        // Whatever becomes of the others.
        assert_eq!(published[1], Published::Told);
        assert_eq!(published[0], published[2]);
        told = published[0].clone();
        pages += 1;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(matches!(told, Published::Refused { for_good: false, .. }), "{told:?} after {pages} pages");
}

/// Publishes until it is known what becomes of all of them; the last is to be told every time.
async fn settled(kafka: &Kafka, sent: &[Announcement]) -> Vec<Published> {
    loop {
        let published = kafka.publish(sent).await;
        assert_eq!(published.last(), Some(&Published::Told), "{published:?}");
        if !published.contains(&Published::Later) {
            return published;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_topic_that_may_not_be_written_to_keeps_nothing_else_back() {
    let broker = Broker::start(Security::Guarded);
    let options = options(&broker.address);
    let client = krafka::Kafka::builder(broker.address.clone()).connect().await.unwrap();
    let names = ["secret", "seen", "work"];
    let topics = names.map(|name| NewTopic::new(format!("workflow.jobs.{name}"), 1, 1).unwrap());
    let _made = client.admin().create_topics(topics, Default::default()).await.unwrap();
    broker.allow(&[["workflow.jobs.secret", "somebody", "Write"], ["workflow.jobs.seen", "ANONYMOUS", "Describe"]]);
    let kafka = Kafka::new(options);
    let sent = [announcement(1, "secret", "{}"), announcement(2, "seen", "{}"), announcement(3, "work", "{}")];
    let published = settled(&kafka, &sent).await;
    for refused in &published[..2] {
        let Published::Refused { reason, for_good: false } = refused else { panic!("{published:?}") };
        assert!(reason.contains("TopicAuthorizationFailed"), "{reason}");
    }
}

#[tokio::test]
async fn a_topic_that_is_taken_away_keeps_nothing_else_back_for_long() {
    let broker = Broker::start(Security::Plain);
    let options = options(&broker.address);
    create_topic(&options, "gone").await;
    create_topic(&options, "work").await;
    let kafka = Kafka::new(options.clone());
    let sent = [announcement(1, "gone", "{}"), announcement(2, "work", "{}")];
    assert_eq!(settled(&kafka, &sent).await, vec![Published::Told; 2]);
    let client = krafka::Kafka::builder(broker.address.clone()).connect().await.unwrap();
    let _gone = client.admin().delete_topics(["workflow.jobs.gone"], Default::default()).await.unwrap();
    let (mut published, mut away) = (kafka.publish(&sent).await, 0);
    while !matches!(&published[..], [Published::Refused { for_good: false, .. }, Published::Told]) {
        // Once it was not heard of there it is looked for, and the other goes out.
        away += u32::from(published[1] != Published::Told);
        assert!(away < 3, "{published:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
        published = kafka.publish(&sent).await;
    }
    create_topic(&options, "gone").await;
    while published[0] != Published::Told {
        tokio::time::sleep(Duration::from_millis(50)).await;
        published = kafka.publish(&sent).await;
    }
}

#[tokio::test]
async fn a_topic_that_takes_little_gets_what_fits_one_by_one() {
    let broker = Broker::start(Security::Plain);
    let options = options(&broker.address);
    let client = krafka::Kafka::builder(broker.address.clone()).connect().await.unwrap();
    let topic = NewTopic::new("workflow.jobs.work", 1, 1).unwrap().with_config("max.message.bytes", "20000");
    let _made = client.admin().create_topics([topic], Default::default()).await.unwrap();
    let kafka = Kafka::new(options.clone());
    let (fits, large) = ("x".repeat(15_000), "x".repeat(25_000));
    let sent: Vec<_> = (1..=20).map(|n| announcement(n, "work", if n == 7 { &large } else { &fits })).collect();
    let published = kafka.publish(&sent).await;
    assert!(matches!(&published[6], Published::Refused { for_good: true, .. }), "{published:?}");
    assert_eq!(published.iter().filter(|published| **published == Published::Told).count(), 19, "{published:?}");
    let heard = consume(&options, "work", 19).await;
    let of_one: Vec<u64> = heard.iter().filter(|(key, _)| key == "2").map(|(_, event)| event.job_id.parse().unwrap()).collect();
    assert!(of_one.is_sorted() && 1 < of_one.len(), "{of_one:?}");
}
