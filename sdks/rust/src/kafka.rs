//! The Kafka transport, for a server with `dispatch = "kafka_outbox"`: jobs are heard of there, and how they ended is said to the server.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use krafka::consumer::{AutoOffsetReset, Consumer, ConsumerRecord, PartitionAssignmentStrategy};
use krafka::error::KrafkaError;
use prost::Message as _;
use serde::de::DeserializeOwned;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::runner::give_back;
use crate::{Beat, EngineClient, Error, Job, Poll, Raw, Standing};

/// A consumer must ask all the time, or its group takes it for dead.
const ASK: Duration = Duration::from_secs(1);
/// What leaving the group may take.
const LEAVE_MAX: Duration = Duration::from_secs(5);
/// Those that were heard of wait for room here, where no other worker can get them.
const HEARD_MAX: i32 = 20;

/// The transport over Kafka. A job that came to a worker which was killed is announced again when its lease is over, so nothing is lost; it may come twice, and
/// its first completion counts. Clones are the same: keep one to [`Kafka::close`] it when the runner has ended.
#[derive(Clone)]
pub struct Kafka(Arc<Inner>);

struct Inner {
    server: Arc<dyn EngineClient>,
    options: KafkaOptions,
    ear: Arc<Ear>,
    listening: OnceLock<Mutex<Option<JoinHandle<()>>>>,
    /// Jobs that the server could not be asked about yet.
    doubtful: Mutex<Vec<Job>>,
    worker: OnceLock<String>,
}

impl Drop for Inner {
    /// Whoever forgot to close it: it leaves the group at least, and does not keep jobs from others.
    fn drop(&mut self) {
        self.ear.closed.cancel();
    }
}

/// How to hear of jobs.
#[derive(Debug, Clone)]
pub struct KafkaOptions {
    /// Where to begin, such as `kafka-1:9092,kafka-2:9092`.
    pub brokers: String,
    /// Instead of a new one: with TLS, SASL and the like. The brokers do not count then.
    pub client: Option<krafka::Kafka>,
    /// Shared by workers that share jobs: those of another group get all of them as well.
    pub group: String,
    /// As the server's `kafka.topic_prefix`.
    pub topic_prefix: String,
    /// After which time without a sign of life others get what this worker would have got.
    pub session_timeout: Duration,
}

impl KafkaOptions {
    /// The usual ones.
    pub fn at(brokers: impl Into<String>) -> KafkaOptions {
        KafkaOptions {
            brokers: brokers.into(),
            client: None,
            group: "caudal-workers".to_owned(),
            topic_prefix: "workflow.jobs.".to_owned(),
            session_timeout: Duration::from_secs(45),
        }
    }
}

/// What the task that listens shares with the one that polls.
#[derive(Default)]
struct Ear {
    heard: Mutex<VecDeque<Job>>,
    failure: Mutex<Option<String>>,
    came: Notify,
    taken: Notify,
    closed: CancellationToken,
}

impl Kafka {
    /// Hears of jobs, and says how they ended to the server behind the other transport. It connects when it is first needed.
    pub fn new(options: KafkaOptions, server: impl EngineClient + 'static) -> Kafka {
        Kafka(Arc::new(Inner {
            server: Arc::new(server),
            options,
            ear: Arc::default(),
            listening: OnceLock::new(),
            doubtful: Mutex::default(),
            worker: OnceLock::new(),
        }))
    }

    /// Leaves the group, so that others go on at once, and gives back what was heard of and not begun: each for 5 seconds at most.
    pub async fn close(&self) {
        self.0.ear.closed.cancel();
        let listening = self.0.listening.get().and_then(|task| lock(task).take());
        if let Some(listening) = listening {
            timeout(LEAVE_MAX, listening).await.ok();
        }
        let mut unbegun = std::mem::take(&mut *lock(&self.0.doubtful));
        unbegun.extend(lock(&self.0.ear.heard).drain(..));
        give_back(&self.0.server, self.0.worker.get().map_or("", String::as_str), unbegun).await;
    }

    fn listen(&self, job_types: &[String]) {
        self.0.listening.get_or_init(|| {
            let topics = job_types.iter().map(|job_type| format!("{}{job_type}", self.0.options.topic_prefix)).collect();
            Mutex::new(Some(tokio::spawn(listen(self.0.ear.clone(), self.0.options.clone(), topics))))
        });
    }

    /// Jobs that were heard of; none if there are none in time.
    async fn take(&self, max: usize, wait: Duration) -> Result<(), Error> {
        let ear = &self.0.ear;
        let came = async {
            while lock(&ear.heard).is_empty() {
                ear.came.notified().await;
            }
        };
        if timeout(wait, came).await.is_err() {
            let failure = lock(&ear.failure).clone();
            return failure.map_or(Ok(()), |message| Err(Error::Unavailable { message, retry_after: None }));
        }
        let (mut heard, mut doubtful) = (lock(&ear.heard), lock(&self.0.doubtful));
        let some = heard.len().min(max);
        doubtful.extend(heard.drain(..some));
        if heard.is_empty() {
            ear.taken.notify_one();
        }
        Ok(())
    }
}

impl std::fmt::Debug for Kafka {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kafka").field("options", &self.0.options).finish_non_exhaustive()
    }
}

#[async_trait]
impl EngineClient for Kafka {
    async fn poll(&self, poll: Poll<'_>) -> Result<Vec<Job>, Error> {
        self.listen(poll.job_types);
        self.0.worker.get_or_init(|| poll.worker.to_owned());
        if lock(&self.0.doubtful).is_empty() {
            self.take(poll.max, poll.wait).await?;
        }
        // Kept while the server is asked: this may be dropped in the middle.
        let asked = lock(&self.0.doubtful).clone();
        let beats: Vec<Beat<'_>> = asked.iter().map(|job| Beat { job, progress: None }).collect();
        // An announcement may be old: the job is over, or its lease nearly.
        let standings = if beats.is_empty() { Vec::new() } else { self.heartbeat(poll.worker, poll.lease, &beats).await? };
        lock(&self.0.doubtful).clear();
        Ok(asked.into_iter().zip(standings).filter(|(_, standing)| *standing == Standing::Held).map(|(job, _)| job).collect())
    }

    async fn complete(&self, worker: &str, job: &Job, variables: &Raw) -> Result<(), Error> {
        self.0.server.complete(worker, job, variables).await
    }

    async fn fail(&self, worker: &str, job: &Job, message: &str, retryable: bool, after: Option<Duration>) -> Result<(), Error> {
        self.0.server.fail(worker, job, message, retryable, after).await
    }

    async fn throw_error(&self, worker: &str, job: &Job, code: &str, message: &str, variables: &Raw) -> Result<(), Error> {
        self.0.server.throw_error(worker, job, code, message, variables).await
    }

    async fn heartbeat(&self, worker: &str, lease: Duration, beats: &[Beat<'_>]) -> Result<Vec<Standing>, Error> {
        self.0.server.heartbeat(worker, lease, beats).await
    }

    async fn release(&self, worker: &str, job: &Job, delay: Option<Duration>) -> Result<(), Error> {
        self.0.server.release(worker, job, delay).await
    }
}

/// Until it is closed, whatever happens to the broker.
async fn listen(ear: Arc<Ear>, options: KafkaOptions, topics: Vec<String>) {
    while !ear.closed.is_cancelled() {
        let ended = match connect(&options, &topics).await {
            Ok(consumer) => {
                let ended = hear(&ear, &consumer).await;
                consumer.close().await.and(ended)
            }
            Err(error) => Err(error),
        };
        if let Err(error) = ended {
            *lock(&ear.failure) = Some(error.to_string());
            tracing::warn!(%error, "no jobs are heard of");
            tokio::select! {
                () = ear.closed.cancelled() => {}
                () = sleep(ASK) => {}
            }
        }
    }
}

async fn connect(options: &KafkaOptions, topics: &[String]) -> Result<Consumer, KrafkaError> {
    let client = match &options.client {
        Some(client) => client.clone(),
        None => krafka::Kafka::builder(options.brokers.clone()).connect().await?,
    };
    let consumer = client
        .consumer(options.group.clone())
        .auto_offset_reset(AutoOffsetReset::Earliest)
        .partition_assignment_strategy(PartitionAssignmentStrategy::CooperativeSticky)
        .session_timeout(options.session_timeout)
        .heartbeat_interval(options.session_timeout / 3)
        .max_poll_records(HEARD_MAX)
        .build()
        .await?;
    consumer.subscribe(topics).await?;
    Ok(consumer)
}

/// Hears of jobs while there is room for them; asks for none otherwise, but asks.
async fn hear(ear: &Ear, consumer: &Consumer) -> Result<(), KrafkaError> {
    while !ear.closed.is_cancelled() {
        let is_full = !lock(&ear.heard).is_empty();
        if is_full {
            for (topic, partitions) in consumer.assignment().await {
                consumer.pause(&topic, &partitions).await;
            }
        } else {
            for (topic, partition) in consumer.paused_partitions().await {
                consumer.resume(&topic, &[partition]).await;
            }
        }
        tokio::select! {
            () = ear.closed.cancelled() => {}
            () = ear.taken.notified(), if is_full => {}
            polled = consumer.poll(ASK) => {
                lock(&ear.heard).extend(polled?.iter().filter_map(read));
                lock(&ear.failure).take();
                ear.came.notify_one();
            }
        }
    }
    Ok(())
}

fn read(record: &ConsumerRecord) -> Option<Job> {
    let value = record.value.as_deref().unwrap_or_default();
    let job = JobDispatchEvent::decode(value).map_err(|error| error.to_string()).and_then(JobDispatchEvent::read);
    // It would be the same again and again.
    job.inspect_err(|error| tracing::warn!(topic = &*record.topic, offset = record.offset, error, "no announcement of a job"))
        .ok()
}

/// What the server publishes.
#[derive(Clone, PartialEq, prost::Message)]
struct JobDispatchEvent {
    #[prost(string, tag = "10")]
    job_id: String,
    #[prost(string, tag = "11")]
    instance_id: String,
    #[prost(string, tag = "12")]
    step_execution_id: String,
    #[prost(string, tag = "13")]
    job_type: String,
    #[prost(string, tag = "14")]
    step_id: String,
    #[prost(int32, tag = "20")]
    retries_remaining: i32,
    #[prost(uint32, tag = "21")]
    lease: u32,
    #[prost(bytes = "vec", tag = "30")]
    job_payload: Vec<u8>,
    #[prost(bytes = "vec", tag = "31")]
    progress: Vec<u8>,
    #[prost(bytes = "vec", tag = "32")]
    trace_context: Vec<u8>,
}

impl JobDispatchEvent {
    fn read(self) -> Result<Job, String> {
        Ok(Job {
            id: self.job_id,
            job_type: self.job_type,
            instance_id: self.instance_id,
            step_id: self.step_id,
            step_execution_id: self.step_execution_id,
            retries_remaining: self.retries_remaining,
            variables: serde_json::from_slice(&self.job_payload).map_err(|error| error.to_string())?,
            lease: self.lease,
            progress: if_any(&self.progress)?,
            trace_context: if_any(&self.trace_context)?.unwrap_or_default(),
        })
    }
}

fn if_any<T: DeserializeOwned>(json: &[u8]) -> Result<Option<T>, String> {
    if json.is_empty() {
        return Ok(None);
    }
    serde_json::from_slice(json).map(Some).map_err(|error| error.to_string())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_that_is_dropped_stops_listening() {
        let kafka = Kafka::new(KafkaOptions::at("127.0.0.1:9"), crate::Rest::new("http://127.0.0.1:9").unwrap());
        kafka.listen(&["work".to_owned()]);
        let listening = kafka.0.listening.get().and_then(|task| lock(task).take()).unwrap();
        drop(kafka);
        listening.await.unwrap();
    }

    #[test]
    fn an_announcement_is_a_job_with_every_digit() {
        let event = JobDispatchEvent {
            job_id: "1".to_owned(),
            job_type: "work".to_owned(),
            retries_remaining: 2,
            job_payload: br#"{"n": 9007199254740993}"#.to_vec(),
            step_id: "do".to_owned(),
            lease: 3,
            progress: br#"{"percent": 40}"#.to_vec(),
            trace_context: br#"{"traceparent": "00-1"}"#.to_vec(),
            ..JobDispatchEvent::default()
        };
        let job = JobDispatchEvent::decode(event.encode_to_vec().as_slice()).unwrap().read().unwrap();
        assert_eq!((job.id.as_str(), job.retries_remaining), ("1", 2));
        assert_eq!(job.variables.get(), r#"{"n": 9007199254740993}"#);
        assert_eq!((job.step_id.as_str(), job.lease), ("do", 3));
        assert_eq!(job.progress.and_then(|progress| progress.percent), Some(40));
        assert_eq!(job.trace_context["traceparent"], "00-1");
        assert!(JobDispatchEvent::default().read().is_err());
    }
}
