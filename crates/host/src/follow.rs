//! A server that does not own the partition: it puts commands into the log and reads in the store what became of them.
//!
//! Wake-ups from the store only make it look sooner; it looks by itself as long as somebody waits.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use engine::PartitionId;
use store::log::{Answer, Command, NewCommand, Released, Request};
use store::{Store, format};
use tokio::sync::{Notify, oneshot};

use crate::handle::Error;

pub(crate) struct Follower {
    store: Arc<dyn Store>,
    partition: PartitionId,
    /// Who waits for which position.
    waiting: Mutex<BTreeMap<u64, oneshot::Sender<Answer>>>,
    somebody_waits: Notify,
    poll_every: Duration,
}

impl Follower {
    pub(crate) fn new(store: Arc<dyn Store>, partition: PartitionId, poll_every: Duration) -> Self {
        Self { store, partition, waiting: Mutex::default(), somebody_waits: Notify::new(), poll_every }
    }

    /// Puts the command into the log; durable when this returns.
    pub(crate) async fn append(&self, request: &Request) -> Result<u64, Error> {
        let command = NewCommand { kind: request.command.kind(), request: format::encode_request(request) };
        let positions = self.store.append(self.partition, vec![command]).await.map_err(Error::from)?;
        positions.first().copied().ok_or_else(|| Error::Internal { reason: "the store gave no position".to_owned() })
    }

    /// Puts the command into the log and waits for its owner's answer.
    pub(crate) async fn submit(&self, request: &Request, timeout: Duration) -> Result<Answer, Error> {
        let position = self.append(request).await?;
        let (sender, receiver) = oneshot::channel();
        self.waiting().insert(position, sender);
        self.somebody_waits.notify_one();
        let answer = tokio::time::timeout(timeout, receiver).await;
        self.waiting().remove(&position);
        match answer {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_)) => Err(Error::Unavailable { reason: "the server is stopping".to_owned() }),
            Err(_) => Err(Error::Timeout),
        }
    }

    /// Gives jobs back that were handed out through the log.
    pub(crate) async fn release(&self, jobs: Vec<Released>) {
        let request = Request { command: Command::Release { jobs }, idempotency: None };
        if let Err(error) = self.append(&request).await {
            tracing::warn!(%error, "jobs a worker did not take stay leased until their time is out");
        }
    }

    /// Passes answers back. Runs as long as the server does.
    pub(crate) async fn run(&self) {
        let mut wakeups = self.store.wakeups();
        loop {
            let positions: Vec<u64> = self.waiting().keys().copied().collect();
            if positions.is_empty() {
                self.somebody_waits.notified().await;
                continue;
            }
            match self.store.statuses(self.partition, &positions).await {
                Ok(statuses) => self.pass_back(statuses),
                Err(error) => tracing::warn!(%error, "cannot read answers"),
            }
            tokio::select! {
                biased;
                _ = wakeups.changed() => {}
                () = self.somebody_waits.notified() => {}
                () = tokio::time::sleep(self.poll_every) => {}
            }
        }
    }

    fn pass_back(&self, statuses: Vec<store::log::CommandStatus>) {
        let mut waiting = self.waiting();
        for status in statuses.into_iter().filter(|status| status.processed) {
            let Some(sender) = waiting.remove(&status.position) else { continue };
            let answer = status.answer.as_deref().map_or(Ok(Answer::Done), format::decode_answer);
            if let Ok(answer) = answer {
                let _gone_is_fine = sender.send(answer);
            }
        }
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, oneshot::Sender<Answer>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
