//! What happened, on one topic: a message for each thing, keyed by its instance.

use std::sync::Arc;
use std::time::Duration;

use host::{Exporter, Happened, Published};
use krafka::Record;
use krafka::error::KrafkaError;
use krafka::producer::Producer;
use tokio::sync::Mutex;

use crate::document::document;
use crate::publisher::{Options, producing, verdict};

/// Bytes that are on their way at once. All of it that goes to one partition of the topic is one batch there: it arrives whole or not at
/// all, so nothing overtakes what came before it and has to be sent again.
const WAVE_BYTES_MAX: usize = 512 * 1024;
const BATCH_BYTES_MAX: usize = 2 * WAVE_BYTES_MAX;

/// Far longer than it takes to gather a wave, which ends by being flushed.
const GATHERED_WITHIN: Duration = Duration::from_secs(10);
const ACKNOWLEDGED_WITHIN: Duration = Duration::from_secs(20);

pub struct Stream {
    options: Options,
    topic: String,
    producer: Mutex<Option<Arc<Producer>>>,
}

impl Stream {
    /// Nothing is connected yet.
    pub fn new(options: Options, topic: String) -> Self {
        Self { options, topic, producer: Mutex::new(None) }
    }

    async fn producer(&self) -> Result<Arc<Producer>, KrafkaError> {
        let mut made = self.producer.lock().await;
        if let Some(producer) = &*made {
            return Ok(producer.clone());
        }
        let producer = producing(&self.options).await?.batch_size(BATCH_BYTES_MAX).linger(GATHERED_WITHIN);
        let producer = Arc::new(producer.delivery_timeout(ACKNOWLEDGED_WITHIN).build().await?);
        *made = Some(producer.clone());
        tracing::info!(brokers = self.options.brokers, topic = self.topic, "connected to the broker, to export what happens");
        Ok(producer)
    }

    /// How many the broker will never have.
    async fn wave(&self, producer: &Producer, wave: Vec<Record>) -> Result<u64, KrafkaError> {
        let mut sent = Vec::with_capacity(wave.len());
        for record in wave {
            sent.push(producer.enqueue(record).await?);
        }
        producer.flush().await?;
        let mut refused = 0;
        for sent in sent {
            let Err(error) = sent.await else { continue };
            match verdict(&error) {
                Published::Refused { reason, for_good: true } => {
                    tracing::warn!(%reason, topic = self.topic, "the broker does not take something that happened");
                    refused += 1;
                }
                Published::Told | Published::Refused { for_good: false, .. } | Published::Away { .. } | Published::Later => {
                    return Err(error);
                }
            }
        }
        Ok(refused)
    }
}

#[async_trait::async_trait]
impl Exporter for Stream {
    async fn export(&self, happened: &[Happened]) -> Result<u64, Arc<str>> {
        let told = |error: KrafkaError| Arc::from(error.to_string());
        let producer = self.producer().await.map_err(told)?;
        let (mut wave, mut bytes, mut refused) = (Vec::new(), 0, 0);
        for one in happened {
            let value = document(one);
            if WAVE_BYTES_MAX < bytes + value.len() && !wave.is_empty() {
                refused += self.finish(&producer, std::mem::take(&mut wave)).await?;
                bytes = 0;
            }
            bytes += value.len();
            wave.push(Record::new(self.topic.clone(), value).key(one.instance.key.to_string()));
        }
        Ok(refused + self.finish(&producer, wave).await?)
    }
}

impl Stream {
    async fn finish(&self, producer: &Producer, wave: Vec<Record>) -> Result<u64, Arc<str>> {
        match self.wave(producer, wave).await {
            Ok(refused) => Ok(refused),
            Err(error) => {
                // What it still holds may arrive too: then it is there twice. The next is made anew.
                self.producer.lock().await.take();
                Err(error.to_string().into())
            }
        }
    }
}
