//! A server that does not own the partition: it puts requests into the inbox, those of many callers at once, and reads in the store what
//! became of them.
//!
//! Wake-ups from the store only make it look sooner; it looks by itself as long as somebody waits.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use engine::PartitionId;
use store::log::{Answer, Caller, Command, NewRequest, Released, Request, RequestStatus};
use store::{Backlog, Store, format};
use tokio::sync::{Notify, OwnedSemaphorePermit, mpsc, oneshot};

use crate::caught::caught;
use crate::handle::Error;
use crate::metrics::Metrics;
use crate::partition::Parts;
use crate::under_way::UnderWay;

/// Requests put into the inbox together, by number and bytes.
const GROUP_MAX: usize = 256;
const GROUP_BYTES_MAX: usize = 4 * 1024 * 1024;

/// How long to wait after a fault of ours.
const RETRY_EVERY: Duration = Duration::from_millis(250);

/// A request on its way to the inbox.
struct Sent {
    request: NewRequest,
    /// Who hears of its position.
    reply: oneshot::Sender<Result<u64, Error>>,
    /// Its share of what may be under way, until it is in the store.
    permit: OwnedSemaphorePermit,
}

pub(crate) struct Follower {
    store: Arc<dyn Store>,
    partition: PartitionId,
    /// Who waits for which position.
    waiting: Mutex<BTreeMap<u64, oneshot::Sender<Answer>>>,
    somebody_waits: Notify,
    sender: mpsc::Sender<Sent>,
    /// Taken by whoever runs it.
    receiver: Mutex<Option<mpsc::Receiver<Sent>>>,
    under_way: UnderWay,
    poll_every: Duration,
    backlog: Backlog,
    metrics: Arc<Metrics>,
}

impl Follower {
    pub(crate) fn new(parts: &Parts, partition: PartitionId, under_way: UnderWay) -> Self {
        let limits = &parts.limits;
        let (sender, receiver) = mpsc::channel(limits.inbox_max);
        Self {
            store: parts.store.clone(),
            partition,
            waiting: Mutex::default(),
            somebody_waits: Notify::new(),
            sender,
            receiver: Mutex::new(Some(receiver)),
            under_way,
            poll_every: limits.poll_every,
            backlog: Backlog { requests_max: limits.backlog_max, bytes_max: limits.backlog_bytes_max },
            metrics: parts.metrics.clone(),
        }
    }

    /// Puts the request into the inbox; durable when this returns. It is not processed once it is older than `lives`.
    pub(crate) async fn append(&self, request: &Request, lives: Option<Duration>) -> Result<u64, Error> {
        let permit = self.under_way.take(request)?;
        let new = NewRequest { kind: request.command.kind(), request: format::encode_request(request), lives };
        let (reply, position) = oneshot::channel();
        let sent = Sent { request: new, reply, permit };
        self.sender.try_send(sent).map_err(|_| Error::Exhausted { what: "the inbox" })?;
        position.await.unwrap_or_else(|_| Err(given_up()))
    }

    /// Puts the request into the inbox and waits for its owner's answer.
    pub(crate) async fn submit(&self, request: &Request, timeout: Duration) -> Result<Answer, Error> {
        let position = self.append(request, Some(timeout)).await?;
        let (sender, receiver) = oneshot::channel();
        let _waiting = Waiting { follower: self, position };
        self.waiting().insert(position, sender);
        self.somebody_waits.notify_one();
        // One that was processed in its last moment is still heard of.
        match tokio::time::timeout(timeout + 2 * self.poll_every, receiver).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_)) => Err(given_up()),
            Err(_) => Err(Error::Timeout),
        }
    }

    /// Gives jobs back that were handed out through the inbox.
    pub(crate) async fn release(&self, jobs: Vec<Released>) {
        let request = Request { caller: Caller::engine(), command: Command::Release { jobs }, idempotency: None };
        if let Err(error) = self.append(&request, None).await {
            tracing::warn!(%error, "jobs a worker did not take stay leased until their time is out");
        }
    }

    /// Sends requests and passes answers back. Runs as long as the server does: after a fault of ours it starts again, since without it
    /// nobody could append, and nobody would hear an answer. What lies in the queue and who waits stay.
    pub(crate) async fn run(&self) {
        let receiver = self.receiver.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut receiver) = receiver else { return };
        while caught(async { _ = tokio::join!(self.send(&mut receiver), self.pass_back()) }).await.is_err() {
            tracing::error!(
                "putting requests into the inbox and reading their answers hit a fault and starts again; please report it"
            );
            self.metrics.quarantined.inc();
            tokio::time::sleep(RETRY_EVERY).await;
        }
    }

    /// While one group is being written, the next gathers.
    async fn send(&self, receiver: &mut mpsc::Receiver<Sent>) {
        while let Some(first) = receiver.recv().await {
            let mut bytes = first.request.request.len();
            let mut group = vec![first];
            while group.len() < GROUP_MAX
                && bytes < GROUP_BYTES_MAX
                && let Ok(sent) = receiver.try_recv()
            {
                bytes += sent.request.request.len();
                group.push(sent);
            }
            let (requests, replies): (Vec<_>, Vec<_>) =
                group.into_iter().map(|Sent { request, reply, permit }| (request, (reply, permit))).unzip();
            match self.store.append(self.partition, requests, self.backlog).await {
                Ok(positions) => replies.into_iter().zip(positions).for_each(|((reply, _), position)| {
                    let _gone_is_fine = reply.send(Ok(position));
                }),
                Err(error) => replies.into_iter().for_each(|(reply, _)| {
                    let _gone_is_fine = reply.send(Err(error.clone().into()));
                }),
            }
        }
    }

    async fn pass_back(&self) {
        let mut wakeups = self.store.wakeups();
        loop {
            let positions: Vec<u64> = self.waiting().keys().copied().collect();
            if positions.is_empty() {
                self.somebody_waits.notified().await;
                continue;
            }
            match self.store.statuses(self.partition, &positions).await {
                Ok(statuses) => self.answer(statuses),
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

    fn answer(&self, statuses: Vec<RequestStatus>) {
        let mut waiting = self.waiting();
        for RequestStatus { position, answer, .. } in statuses {
            let Some(answer) = answer else { continue };
            let Some(sender) = waiting.remove(&position) else { continue };
            match format::decode_answer(&answer) {
                Ok(answer) => {
                    let _gone_is_fine = sender.send(answer);
                }
                Err(error) => tracing::error!(position, %error, "an answer cannot be read"),
            }
        }
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeMap<u64, oneshot::Sender<Answer>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody who waits for an answer; nobody looks for it once they have gone.
struct Waiting<'a> {
    follower: &'a Follower,
    position: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.follower.waiting().remove(&self.position);
    }
}

fn given_up() -> Error {
    Error::Unavailable { reason: "the server is stopping or has hit a fault; the command may still be processed".to_owned() }
}
