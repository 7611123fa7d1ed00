//! The loops: own the partition while the lease lasts, tick when there is something to do, sleep otherwise.
//!
//! Modes of a server with the engine role: *waiting* for the lease; *owning*, where commands go straight to the tick; *away*, owning
//! but without a store, where callers are told to try again. One without it only follows.
//!
//! The order in which events that coincide are looked at is fixed here and everywhere in this crate (`biased`), and time is the runtime's:
//! so a run can be simulated and repeated.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use engine::PartitionId;
use store::log::NewCommand;
use store::{CommitError, Error, Millis, Ownership, format};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use crate::caution::Caution;
use crate::handle::{Host, Route, away};
use crate::partition::{Batch, Input, Partition, Parts};

/// The one partition there is for now.
pub(crate) const PARTITION: PartitionId = PartitionId(1);

/// First answers to idempotency keys removed at once, and how often.
const PURGE_BATCH: usize = 1_000;
const PURGE_EVERY: Duration = Duration::from_secs(60);

/// How long to wait before trying again what the store refused.
const RETRY_EVERY: Duration = Duration::from_millis(250);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Owns partitions when it can get them.
    Engine,
    /// Appends and reads only.
    Follower,
}

/// The handle for edges and the loops behind it. Nothing happens until [`Driver::run`] is polled.
pub fn prepare(parts: Parts, node: Arc<str>, role: Role) -> (Host, Driver) {
    let host = Host::new(&parts, node, PARTITION);
    (host.clone(), Driver { parts, host, role, warm_up: false })
}

pub struct Driver {
    parts: Parts,
    host: Host,
    role: Role,
    pub warm_up: bool,
}

impl Driver {
    /// Runs until `stop` turns true; then works off what was accepted and gives the lease back.
    pub async fn run(self, mut stop: watch::Receiver<bool>) {
        let following = {
            let host = self.host.clone();
            tokio::spawn(async move { host.inner().follower.run().await })
        };
        match self.role {
            Role::Follower => stopped(&mut stop).await,
            Role::Engine => self.own_until(&mut stop).await,
        }
        following.abort();
    }

    async fn own_until(&self, stop: &mut watch::Receiver<bool>) {
        let mut told = false;
        while !*stop.borrow() {
            let lease = self.parts.limits.lease;
            let pause = match self.parts.store.acquire(PARTITION, &self.host.inner().node, lease).await {
                Ok(Some(ownership)) => {
                    told = false;
                    self.own(ownership, stop).await;
                    RETRY_EVERY
                }
                Ok(None) => {
                    if !told {
                        tracing::info!("another server owns the partition; following it until its lease runs out");
                        told = true;
                    }
                    lease / 4
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot acquire the partition");
                    RETRY_EVERY
                }
            };
            tokio::select! {
                biased;
                () = stopped(stop) => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    async fn own(&self, ownership: Ownership, stop: &mut watch::Receiver<bool>) {
        let partition = match Partition::open(self.parts.clone(), &ownership).await {
            Ok(partition) => partition,
            Err(error) => return tracing::warn!(%error, "cannot open the partition"),
        };
        if self.warm_up {
            match partition.warm_up().await {
                Ok(count) => tracing::info!(count, "compiled the definitions that are running"),
                Err(error) => tracing::warn!(%error, "cannot compile the definitions that are running"),
            }
        }
        let (inbox, receiver) = mpsc::channel(self.parts.limits.inbox_max);
        tracing::info!(epoch = ownership.fence.epoch, tail = ownership.tail, "owning the partition");
        let mut owner = Owner {
            parts: &self.parts,
            host: &self.host,
            partition,
            batch: Batch::default(),
            inbox: inbox.clone(),
            receiver,
            clock: Clock::set(ownership.now),
            renew_at: Instant::now(),
            purge_at: Instant::now() + PURGE_EVERY,
            look_at_log: ownership.processed_to < ownership.tail,
            ticking: None,
        };
        self.host.set_route(Route::Own(inbox));
        self.parts.metrics.partitions_owned.set(1);
        owner.run(stop).await;
        self.host.set_route(Route::Follow);
        self.parts.metrics.partitions_owned.set(0);
        owner.partition.close();
    }
}

/// The database's clock between two times it was heard.
struct Clock {
    heard: Millis,
    at: Instant,
}

impl Clock {
    fn set(heard: Millis) -> Self {
        Self { heard, at: Instant::now() }
    }

    fn now(&self) -> Millis {
        self.heard + self.at.elapsed().as_millis() as Millis
    }

    fn until(&self, at: Millis) -> Duration {
        Duration::from_millis(u64::try_from(at.saturating_sub(self.now())).unwrap_or(0))
    }
}

struct Owner<'a> {
    parts: &'a Parts,
    host: &'a Host,
    partition: Partition,
    batch: Batch,
    inbox: mpsc::Sender<Input>,
    receiver: mpsc::Receiver<Input>,
    clock: Clock,
    renew_at: Instant,
    purge_at: Instant,
    look_at_log: bool,
    /// How many commands the tick under way has, while there is one.
    ticking: Option<usize>,
}

impl Owner<'_> {
    /// Until the server stops or somebody else owns the partition.
    async fn run(&mut self, stop: &mut watch::Receiver<bool>) {
        let mut wakeups = self.parts.store.wakeups();
        loop {
            let stopping = *stop.borrow();
            if stopping && self.receiver.is_empty() && self.batch.inputs.is_empty() {
                if let Err(error) = self.parts.store.release(self.partition.fence()).await {
                    tracing::warn!(%error, "the lease could not be given back");
                }
                return;
            }
            if !self.has_work() && !stopping {
                self.wait(&mut wakeups, stop).await;
            }
            while self.batch.inputs.len() < self.parts.limits.batch_max
                && let Ok(input) = self.receiver.try_recv()
            {
                self.take(input);
            }
            self.parts.metrics.inbox_depth.set(self.receiver.len() as i64);
            self.ticking = None;
            match self.turn().await {
                Ok(()) => {}
                Err(CommitError::Overtaken { .. }) => {
                    self.partition.note_contention(self.clock.now());
                    self.look_at_log = true;
                    self.batch.pending.clear();
                    if let Err(error) = self.partition.reread_catalogue().await
                        && !self.recover(error, stop).await
                    {
                        return;
                    }
                }
                Err(CommitError::Deposed { epoch }) => {
                    tracing::warn!(epoch, "another server owns the partition now; this one stops writing and follows");
                    return;
                }
                Err(CommitError::Store(error)) => {
                    if let Some(commands) = self.ticking.take().filter(|_| !error.passes()) {
                        tracing::error!(%error, commands, "the store refuses a tick; looking for the command at fault");
                        self.partition.caution = self.partition.caution.after_refusal(commands);
                    }
                    if !self.recover(error, stop).await {
                        return;
                    }
                }
            }
        }
    }

    fn has_work(&self) -> bool {
        let due = self.partition.wake_at().is_some_and(|at| at <= self.clock.now());
        !self.batch.inputs.is_empty() || self.look_at_log || self.partition.has_work() || due
    }

    async fn wait(&mut self, wakeups: &mut watch::Receiver<u64>, stop: &mut watch::Receiver<bool>) {
        let upkeep = self.renew_at.saturating_duration_since(Instant::now());
        let due = self.partition.wake_at().map_or(upkeep, |at| self.clock.until(at));
        let mut inputs = Vec::new();
        tokio::select! {
            biased;
            () = stopped(stop) => {}
            Ok(()) = wakeups.changed() => self.look_at_log = true,
            _ = self.receiver.recv_many(&mut inputs, self.parts.limits.batch_max) => {}
            () = tokio::time::sleep(due.min(upkeep)) => {}
        }
        for input in inputs {
            self.take(input);
        }
    }

    fn take(&mut self, input: Input) {
        match input {
            Input::Appended => self.look_at_log = true,
            input => self.batch.inputs.push_back(input),
        }
    }

    /// Upkeep, the log, then one tick.
    async fn turn(&mut self) -> Result<(), CommitError> {
        self.upkeep().await?;
        let now = self.clock.now();
        if self.partition.is_contended(now) {
            self.append_own().await?;
        }
        let careful = self.partition.caution != Caution::None;
        if self.look_at_log {
            let limit = if careful { 1 } else { self.parts.limits.batch_max };
            self.batch.pending = self.parts.store.pending(PARTITION, self.partition.processed_to(), limit).await?;
            self.look_at_log = self.batch.pending.len() == limit;
        }
        self.batch.is_partial = self.look_at_log;
        // If more lies in the log than one tick takes, what enters it now comes after that.
        let now_taken = match (self.batch.is_partial, careful) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => usize::MAX,
        };
        let later = self.batch.inputs.split_off(now_taken.min(self.batch.inputs.len()));
        self.ticking = Some(self.batch.commands());
        let ticked = self.partition.tick(&mut self.batch, now).await;
        self.batch.inputs.extend(later);
        let ticked = ticked?;
        let commands = self.ticking.take().unwrap_or(0);
        self.partition.caution = self.partition.caution.after_success(commands);
        self.heard(ticked);
        Ok(())
    }

    fn heard(&mut self, now: Option<Millis>) {
        if let Some(now) = now {
            self.clock = Clock::set(now);
        }
    }

    /// While others append, this server's own commands go through the log too: an order that is taken cannot be overtaken.
    async fn append_own(&mut self) -> Result<(), CommitError> {
        let mut rest = VecDeque::new();
        let (mut commands, mut replies) = (Vec::new(), Vec::new());
        for input in self.batch.inputs.drain(..) {
            match input {
                Input::Request { request, reply } => {
                    commands.push(NewCommand { kind: request.command.kind(), request: format::encode_request(&request) });
                    replies.push(reply);
                }
                other => rest.push_back(other),
            }
        }
        self.batch.inputs = rest;
        if commands.is_empty() {
            return Ok(());
        }
        let positions = self.parts.store.append(PARTITION, commands).await?;
        self.batch.callers.extend(positions.into_iter().zip(replies));
        self.look_at_log = true;
        Ok(())
    }

    async fn upkeep(&mut self) -> Result<(), CommitError> {
        if self.renew_at <= Instant::now() {
            let fence = self.partition.fence();
            let lease = self.parts.limits.lease;
            let Some(renewed) = self.parts.store.renew(fence, lease).await? else {
                return Err(CommitError::Deposed { epoch: fence.epoch + 1 });
            };
            self.clock = Clock::set(renewed.now);
            // A wake-up may have been lost.
            self.look_at_log |= self.partition.processed_to() < renewed.tail;
            self.renew_at = Instant::now() + lease / 3;
            let (used, max) = self.parts.store.pool();
            self.parts.metrics.pool_used.set(used as i64);
            self.parts.metrics.pool_max.set(max as i64);
        }
        // Only in passing: a server with nothing to do lets the store rest.
        if self.purge_at <= Instant::now() && !self.batch.inputs.is_empty() {
            let purged = self.parts.store.purge_idempotent(PARTITION, self.clock.now(), PURGE_BATCH).await?;
            let more = purged == PURGE_BATCH;
            self.purge_at = Instant::now() + if more { RETRY_EVERY } else { PURGE_EVERY };
        }
        Ok(())
    }

    /// The store is away: callers are told so until it is back, then what was in doubt is settled. False if somebody else owns
    /// the partition by then, or the server stops.
    async fn recover(&mut self, error: Error, stop: &mut watch::Receiver<bool>) -> bool {
        tracing::warn!(%error, "the store is away");
        self.host.set_route(Route::Away(away(error)));
        loop {
            tokio::select! {
                biased;
                () = stopped(stop) => return false,
                () = tokio::time::sleep(RETRY_EVERY) => {}
            }
            let node = &self.host.inner().node;
            match self.parts.store.acquire(PARTITION, node, self.parts.limits.lease).await {
                Ok(Some(ownership)) => match self.partition.settle(&mut self.batch, &ownership).await {
                    Ok(()) => {
                        tracing::info!(epoch = ownership.fence.epoch, "the store is back");
                        self.clock = Clock::set(ownership.now);
                        self.look_at_log = true;
                        self.host.set_route(Route::Own(self.inbox.clone()));
                        return true;
                    }
                    Err(error) => tracing::warn!(%error, "the store is away again"),
                },
                Ok(None) => {
                    tracing::warn!("another server owns the partition now");
                    return false;
                }
                Err(error) => {
                    tracing::debug!(%error, "the store is still away");
                    self.host.set_route(Route::Away(away(error)));
                }
            }
        }
    }
}

async fn stopped(stop: &mut watch::Receiver<bool>) {
    // An error means the sender is gone, which is as good as being told to stop.
    let _ = stop.wait_for(|stop| *stop).await;
}
