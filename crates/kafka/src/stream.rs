//! What happened, on one topic: a message for each thing, keyed by its instance.

use std::sync::Arc;

use host::{Exporter, Happened, Published};
use krafka::Record;
use krafka::error::KrafkaError;
use krafka::producer::Producer;
use tokio::sync::Mutex;

use crate::document::document;
use crate::publisher::{Options, producing, size, verdict};
use crate::wave;

/// Bytes that are on their way at once.
const WAVE_BYTES_MAX: usize = 512 * 1024;

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
        let producer = wave::producer(producing(&self.options).await?, WAVE_BYTES_MAX);
        let producer = Arc::new(producer.build().await?);
        *made = Some(producer.clone());
        tracing::info!(brokers = self.options.brokers, topic = self.topic, "connected to the broker, to export what happens");
        Ok(producer)
    }

    /// How many the broker will never have.
    async fn wave(&self, producer: &Producer, wave: &[Record]) -> Result<u64, KrafkaError> {
        let mut refused = 0;
        for sent in wave::send(producer, wave).await {
            let Err(error) = sent else { continue };
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
        let record = |one: &Happened| Record::new(self.topic.clone(), document(one)).key(one.instance.key.to_string());
        let mut refused = 0;
        for wave in wave::split(happened.iter().map(record).collect(), WAVE_BYTES_MAX, size) {
            refused += self.finish(&producer, &wave).await?;
        }
        Ok(refused)
    }
}

impl Stream {
    async fn finish(&self, producer: &Producer, wave: &[Record]) -> Result<u64, Arc<str>> {
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
