//! Hearing of jobs, as a worker would: for the bench.

use std::time::Duration;

use krafka::admin::NewTopic;
use krafka::consumer::{AutoOffsetReset, Consumer};
use prost::Message;

use crate::event::JobDispatchEvent;
use crate::publisher::{Options, connected};

/// How long to wait for the next ones before asking again.
const WAITED: Duration = Duration::from_secs(1);

/// One that is gone without a word, because the broker was, is missed soon: its partitions wait for nobody.
const MISSED_WITHIN: Duration = Duration::from_secs(6);

/// One member of a group of workers.
pub struct Listener(Consumer);

impl Listener {
    /// # Errors
    /// If the broker cannot be reached.
    pub async fn join(options: &Options, job_type: &str, group: &str) -> Result<Self, String> {
        let client = connected(options).await.map_err(|error| error.to_string())?;
        let consumer = client.consumer(group).auto_offset_reset(AutoOffsetReset::Earliest);
        let consumer = consumer.session_timeout(MISSED_WITHIN).heartbeat_interval(MISSED_WITHIN / 3).build().await;
        let consumer = consumer.map_err(|error| error.to_string())?;
        let topic = format!("{}{job_type}", options.topic_prefix);
        consumer.subscribe([topic]).await.map_err(|error| error.to_string())?;
        Ok(Self(consumer))
    }

    /// The next jobs; maybe none.
    ///
    /// # Errors
    /// If the broker is away, or says something else than jobs.
    pub async fn next(&self) -> Result<Vec<JobDispatchEvent>, String> {
        let records = self.0.poll(WAITED).await.map_err(|error| error.to_string())?;
        let event = |value: Option<&[u8]>| JobDispatchEvent::decode(value.unwrap_or_default()).map_err(|error| error.to_string());
        records.iter().map(|record| event(record.value.as_deref())).collect()
    }
}

/// Makes the topic of a job type.
///
/// # Errors
/// If the broker does not.
pub async fn make_topic(options: &Options, job_type: &str, partitions: u32) -> Result<(), String> {
    let client = connected(options).await.map_err(|error| error.to_string())?;
    let topic = NewTopic::new(format!("{}{job_type}", options.topic_prefix), partitions as i32, 1);
    let topic = topic.map_err(|error| error.to_string())?;
    client.admin().create_topics([topic], Default::default()).await.map(drop).map_err(|error| error.to_string())
}
