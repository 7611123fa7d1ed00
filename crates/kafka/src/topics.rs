//! Which topics there are, as far as it is known: one that is looked for, or is not there, keeps nothing else back.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use krafka::error::{ErrorCode, KrafkaError};
use krafka::producer::Producer;
use tokio::time::Instant;

/// One that is there is found within this time; after it, others go on.
const FOUND_WITHIN: Duration = Duration::from_millis(50);

/// How long one that is not there is not looked for again.
const ABSENT_FOR: Duration = Duration::from_secs(5);

#[derive(Debug, Clone)]
pub(crate) enum Topic {
    Sought,
    Known,
    Absent { error: KrafkaError, until: Instant },
}

#[derive(Debug, Default)]
pub(crate) struct Topics(Mutex<HashMap<String, Topic>>);

impl Topics {
    /// Looks for those that are not known, and waits a little for them. The search goes on afterwards.
    pub(crate) async fn look_for(self: &Arc<Self>, producer: &Arc<Producer>, topics: impl Iterator<Item = &String>) {
        let mut searches = Vec::new();
        for topic in topics {
            if self.begin(topic) {
                searches.push(tokio::spawn(self.clone().look(producer.clone(), topic.clone())));
            }
        }
        let found = async {
            for search in searches {
                let _it_says_by_itself = search.await;
            }
        };
        let _it_goes_on = tokio::time::timeout(FOUND_WITHIN, found).await;
    }

    pub(crate) fn state(&self, topic: &str) -> Option<Topic> {
        self.lock().get(topic).cloned()
    }

    /// Something could not be sent there: maybe it is gone. It is looked for again, unless that is known already.
    pub(crate) fn failed(&self, topic: &str, error: &KrafkaError) {
        match is_absent(error) {
            true => self.put(topic, Err(error.clone())),
            false => drop(self.lock().remove(topic)),
        }
    }

    /// Whether it is to be looked for.
    fn begin(&self, topic: &str) -> bool {
        let mut topics = self.lock();
        let is_wanted = match topics.get(topic) {
            None => true,
            Some(Topic::Absent { until, .. }) => *until <= Instant::now(),
            Some(Topic::Sought | Topic::Known) => false,
        };
        if is_wanted {
            topics.insert(topic.to_owned(), Topic::Sought);
        }
        is_wanted
    }

    async fn look(self: Arc<Self>, producer: Arc<Producer>, topic: String) {
        let found = producer.partitions_for(&topic).await;
        self.put(&topic, found.map(drop));
    }

    /// Where it cannot be known, whoever asks next looks again; the error is then that of sending.
    fn put(&self, topic: &str, found: Result<(), KrafkaError>) {
        let mut topics = self.lock();
        match found {
            Ok(()) => drop(topics.insert(topic.to_owned(), Topic::Known)),
            Err(error) if is_absent(&error) => {
                topics.insert(topic.to_owned(), Topic::Absent { error, until: Instant::now() + ABSENT_FOR });
            }
            Err(_) => drop(topics.insert(topic.to_owned(), Topic::Known)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Topic>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether it says that the topic is not there, for us.
fn is_absent(error: &KrafkaError) -> bool {
    let KrafkaError::Broker { code, .. } = error else { return false };
    matches!(code, ErrorCode::UnknownTopicOrPartition | ErrorCode::TopicAuthorizationFailed | ErrorCode::InvalidTopic)
}
