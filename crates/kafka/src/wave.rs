//! Records that are on their way at once. All of a wave that goes to one partition of a topic is one batch there: it arrives whole or not at
//! all, so nothing overtakes what came before it and has to be sent again.

use std::time::Duration;

use krafka::Record;
use krafka::error::{ErrorCode, KrafkaError};
use krafka::producer::{Producer, ProducerBuilder};

use crate::publisher::is_away;

/// Far longer than it takes to gather a wave, which ends by being flushed.
const GATHERED_WITHIN: Duration = Duration::from_secs(10);
const ACKNOWLEDGED_WITHIN: Duration = Duration::from_secs(20);

/// A producer whose batches are waves of so many bytes.
pub(crate) fn producer(builder: ProducerBuilder, wave_bytes_max: usize) -> ProducerBuilder {
    builder.batch_size(2 * wave_bytes_max).linger(GATHERED_WITHIN).delivery_timeout(ACKNOWLEDGED_WITHIN)
}

/// In waves of so many bytes; what is larger is one of its own.
pub(crate) fn split<T>(all: Vec<T>, bytes_max: usize, size: impl Fn(&T) -> usize) -> Vec<Vec<T>> {
    let (mut waves, mut bytes) = (Vec::<Vec<T>>::new(), 0);
    for one in all {
        bytes += size(&one);
        match waves.last_mut() {
            Some(wave) if bytes <= bytes_max => wave.push(one),
            _ => {
                bytes = size(&one);
                waves.push(vec![one]);
            }
        }
    }
    waves
}

/// What the broker says of each. After the first for which it is away the others are not tried.
pub(crate) async fn send(producer: &Producer, wave: &[Record]) -> Vec<Result<(), KrafkaError>> {
    let mut sent = together(producer, wave).await;
    if wave.len() < 2 {
        return sent;
    }
    // A batch may be too large where none of its records is.
    let mut is_away_now = false;
    for (record, sent) in wave.iter().zip(&mut sent) {
        if !is_away_now && sent.as_ref().is_err_and(is_too_large) {
            *sent = together(producer, std::slice::from_ref(record)).await.pop().unwrap_or(Ok(()));
            is_away_now = sent.as_ref().is_err_and(is_away);
        }
    }
    sent
}

async fn together(producer: &Producer, wave: &[Record]) -> Vec<Result<(), KrafkaError>> {
    let (mut queued, mut away) = (Vec::with_capacity(wave.len()), None);
    for record in wave {
        queued.push(match &away {
            Some(error) => Err(KrafkaError::clone(error)),
            None => producer.enqueue(record.clone()).await,
        });
        if let Some(Err(error)) = queued.last()
            && is_away(error)
        {
            away = Some(error.clone());
        }
    }
    let _those_that_failed_say_so_themselves = producer.flush().await;
    let mut sent = Vec::with_capacity(queued.len());
    for queued in queued {
        sent.push(match queued {
            Ok(handle) => handle.await.map(drop),
            Err(error) => Err(error),
        });
    }
    sent
}

fn is_too_large(error: &KrafkaError) -> bool {
    matches!(error, KrafkaError::Broker { code: ErrorCode::MessageTooLarge | ErrorCode::RecordListTooLarge, .. })
}
