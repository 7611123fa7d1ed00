//! The producer, made when it is first needed: a server starts without its broker.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use host::{Published, Publisher};
use krafka::auth::{AuthConfig, TlsConfig};
use krafka::error::{ErrorCode, KrafkaError};
use krafka::producer::{Acks, Producer, ProducerBuilder};
use krafka::{Kafka as Client, Record};
use prost::Message;
use store::row::Announcement;
use tokio::sync::Mutex;

use crate::event::{JobDispatchEvent, key};
use crate::topics::{Topic, Topics};
use crate::wave;

const CONNECTED_WITHIN: Duration = Duration::from_secs(5);

/// How long to look for a topic.
const KNOWN_WITHIN: Duration = Duration::from_secs(2);

/// How long the name of a topic may be.
const TOPIC_LENGTH_MAX: usize = 249;

/// Small enough for topics that take less than is usual.
const WAVE_BYTES_MAX: usize = 128 * 1024;

/// What one message may weigh; what is larger the broker would refuse unless it was told otherwise.
const MESSAGE_BYTES_MAX: usize = 8 * 1024 * 1024;

#[derive(Debug, Clone)]
pub struct Options {
    /// Where to begin, with commas between.
    pub brokers: String,
    /// What the topic of a job type begins with.
    pub topic_prefix: String,
    /// Who this server says it is; without, it talks in plain text.
    pub sasl: Option<Sasl>,
}

#[derive(Clone)]
pub struct Sasl {
    pub mechanism: Mechanism,
    pub username: String,
    pub password: String,
    pub tls: Tls,
}

impl std::fmt::Debug for Sasl {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Sasl")
            .field("mechanism", &self.mechanism)
            .field("username", &self.username)
            .finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mechanism {
    ScramSha256,
    ScramSha512,
}

#[derive(Debug, Clone, Default)]
pub struct Tls {
    /// Who must have signed the broker's certificate; without, whom the world trusts.
    pub ca: Option<PathBuf>,
    /// The name in the certificate, where it is not the broker's address.
    pub server_name: Option<String>,
}

pub struct Kafka {
    options: Options,
    producer: Mutex<Option<Arc<Producer>>>,
    topics: Arc<Topics>,
}

impl Kafka {
    /// Nothing is connected yet.
    pub fn new(options: Options) -> Self {
        Self { options, producer: Mutex::new(None), topics: Arc::default() }
    }

    async fn producer(&self) -> Result<Arc<Producer>, KrafkaError> {
        let mut made = self.producer.lock().await;
        if let Some(producer) = &*made {
            return Ok(producer.clone());
        }
        let producer = wave::producer(producing(&self.options).await?, WAVE_BYTES_MAX);
        let producer = Arc::new(producer.build().await?);
        *made = Some(producer.clone());
        tracing::info!(brokers = self.options.brokers, "connected to the broker");
        Ok(producer)
    }

    /// The next one is made anew.
    async fn forget(&self) {
        self.producer.lock().await.take();
    }

    /// Sends records, and says of each in its place what became of it.
    async fn send(&self, producer: &Producer, records: Vec<(usize, Record)>, published: &mut [Published]) {
        let mut away = None;
        for wave in wave::split(records, WAVE_BYTES_MAX, |(_, record)| size(record)) {
            let (places, records): (Vec<_>, Vec<_>) = wave.into_iter().unzip();
            let sent = match &away {
                None => wave::send(producer, &records).await,
                Some(error) => records.iter().map(|_| Err(KrafkaError::clone(error))).collect(),
            };
            for ((place, record), sent) in places.into_iter().zip(&records).zip(sent) {
                published[place] = match sent {
                    Ok(()) => Published::Told,
                    Err(error) => {
                        self.topics.failed(&record.topic, &error);
                        let verdict = verdict(&error);
                        away = away.or(Some(error).filter(is_away));
                        verdict
                    }
                };
            }
        }
        if away.is_some_and(|error| error.is_fatal()) {
            self.forget().await;
        }
    }

    /// Where a type is announced, if that can be the name of a topic.
    fn topic(&self, job_type: &str) -> Result<String, Arc<str>> {
        let topic = format!("{}{job_type}", self.options.topic_prefix);
        let is_name = topic.len() <= TOPIC_LENGTH_MAX
            && topic.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
        match is_name {
            true => Ok(topic),
            false => Err(format!(
                "'{topic}' cannot be the name of a topic, which has at most {TOPIC_LENGTH_MAX} of the letters a-z, A-Z, 0-9, '.', '_' and '-'"
            )
            .into()),
        }
    }
}

fn record(topic: String, announcement: &Announcement) -> Record {
    Record::new(topic, JobDispatchEvent::from(announcement).encode_to_vec()).key(key(announcement))
}

#[async_trait::async_trait]
impl Publisher for Kafka {
    async fn publish(&self, announcements: &[Announcement]) -> Vec<Published> {
        let producer = match self.producer().await {
            Ok(producer) => producer,
            Err(error) => return vec![Published::Away { reason: error.to_string().into() }; announcements.len()],
        };
        let topics: Vec<_> = announcements.iter().map(|announcement| self.topic(&announcement.job_type)).collect();
        self.topics.look_for(&producer, topics.iter().flatten()).await;
        let (mut published, mut records) = (Vec::with_capacity(announcements.len()), Vec::new());
        for (place, (announcement, topic)) in announcements.iter().zip(topics).enumerate() {
            published.push(match topic.map(|topic| (self.topics.state(&topic), topic)) {
                Ok((Some(Topic::Known), topic)) => {
                    records.push((place, record(topic, announcement)));
                    Published::Later
                }
                Ok((Some(Topic::Absent { error, .. }), _)) => verdict(&error),
                Ok((Some(Topic::Sought) | None, _)) => Published::Later,
                Err(reason) => Published::Refused { reason, for_good: true },
            });
        }
        self.send(&producer, records, &mut published).await;
        published
    }
}

/// What all producers have in common.
pub(crate) async fn producing(options: &Options) -> Result<ProducerBuilder, KrafkaError> {
    let producer = connected(options).await?.producer();
    Ok(producer.acks(Acks::All).idempotent(true).max_block(KNOWN_WITHIN).max_request_size(MESSAGE_BYTES_MAX))
}

pub(crate) async fn connected(options: &Options) -> Result<Client, KrafkaError> {
    let mut client = Client::builder(options.brokers.clone())
        .client_id("caudal")
        .connect_timeout(CONNECTED_WITHIN)
        .request_timeout(CONNECTED_WITHIN);
    if let Some(sasl) = &options.sasl {
        client = client.security(security(sasl));
    }
    client.connect().await
}

fn security(sasl: &Sasl) -> AuthConfig {
    let mut tls = TlsConfig::new();
    if let Some(ca) = &sasl.tls.ca {
        tls = tls.with_ca_cert(ca.display().to_string());
    }
    if let Some(name) = &sasl.tls.server_name {
        tls = tls.with_sni_hostname(name.clone());
    }
    let (username, password) = (sasl.username.clone(), sasl.password.clone());
    let scram = match sasl.mechanism {
        Mechanism::ScramSha256 => AuthConfig::sasl_scram_sha256(username, password),
        Mechanism::ScramSha512 => AuthConfig::sasl_scram_sha512(username, password),
    };
    scram.with_tls(tls)
}

/// What a record weighs, about.
pub(crate) fn size(record: &Record) -> usize {
    record.value.as_ref().map_or(0, |value| value.len())
}

pub(crate) fn is_away(error: &KrafkaError) -> bool {
    matches!(verdict(error), Published::Away { .. })
}

/// What becomes of a message that was not acknowledged.
pub(crate) fn verdict(error: &KrafkaError) -> Published {
    let reason: Arc<str> = error.to_string().into();
    match error {
        KrafkaError::Broker { code, .. } => match code {
            ErrorCode::MessageTooLarge | ErrorCode::RecordListTooLarge | ErrorCode::InvalidRecord | ErrorCode::InvalidTopic => {
                Published::Refused { reason, for_good: true }
            }
            ErrorCode::UnknownTopicOrPartition | ErrorCode::TopicAuthorizationFailed => {
                Published::Refused { reason, for_good: false }
            }
            _ => Published::Away { reason },
        },
        // Larger than any message may be: found out before it was sent.
        KrafkaError::Config { .. } | KrafkaError::Serialization { .. } => Published::Refused { reason, for_good: true },
        _ => Published::Away { reason },
    }
}
