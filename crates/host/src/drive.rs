//! The loops: own the partition while the lease lasts, tick when there is something to do, sleep otherwise.
//!
//! Modes of a server with the engine role: *waiting* for the lease; *owning*, where commands go straight to the tick; *away*, owning
//! but without a store, where callers are told to try again. One without it only follows.
//!
//! While a tick is in flight, that is, being committed, the next one is open and takes what comes; it is closed and sent when the one
//! before has landed.
//!
//! The order in which events that coincide are looked at is fixed here and everywhere in this crate (`biased`), and time is the runtime's:
//! so a run can be simulated and repeated.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use engine::PartitionId;
use store::{CommitError, Error, Millis, Ownership};
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;

use crate::announce::{self, Fill};
use crate::caught::caught;
use crate::caution::{Caution, Failure};
use crate::clock::{Clock, until};
use crate::export;
use crate::handle::{Host, Route, away};
use crate::lease::{Held, Lease};
use crate::partition::{Input, Needs, Partition, Parts, Ran, Source, Tick};
use crate::purge::Purger;

/// The one partition there is for now.
pub(crate) const PARTITION: PartitionId = PartitionId(1);

/// How long to let commands gather while a tick is in flight.
const GATHER: Duration = Duration::from_millis(1);

/// How long to wait before trying again what the store refused.
const RETRY_EVERY: Duration = Duration::from_millis(250);
/// So often the time before the next try is doubled, while nothing but what the server itself reads cannot be read.
const DOUBLED_MAX: u32 = 6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Owns partitions when it can get them.
    Engine,
    /// Appends and reads only.
    Follower,
}

/// The handle for edges and the loops behind it. Nothing happens until [`Driver::run`] is polled. `node` must be another for every start
/// of every server: it tells whether a lease is one's own.
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
        let (inbox, receiver) = mpsc::channel(self.parts.limits.inbox_max);
        tracing::info!(epoch = ownership.fence.epoch, position = ownership.position, "owning the partition");
        let fill = Arc::new(Fill::default());
        let mut owner = Owner {
            parts: &self.parts,
            host: &self.host,
            partition: Partition::open(self.parts.clone(), &ownership, fill.clone()),
            inputs: VecDeque::new(),
            open: None,
            flight: None,
            doubt: None,
            attempting: 0,
            unreadable: 0,
            refused: false,
            resting: None,
            inbox: inbox.clone(),
            receiver,
            clock: Clock::set(ownership.now),
            lease: Lease::hold(&self.parts, ownership.fence),
            purger: Purger::start(&self.host, ownership.fence),
            look_at_inbox: ownership.inbox_to < ownership.inbox_tail,
        };
        self.host.set_fence(Some(ownership.fence));
        self.host.set_route(Route::Own(inbox));
        self.parts.metrics.partitions_owned.set(1);
        // They end with this, however it ends.
        let mut beside = JoinSet::new();
        if self.warm_up {
            beside.spawn(warm_up(self.parts.clone()));
        }
        match &self.parts.announcing {
            Some(announcing) => beside.spawn(announce::relay(self.host.clone(), announcing.clone(), fill)),
            None => beside.spawn(announce::clear(self.host.clone())),
        };
        if let Some(following) = &self.host.inner().following {
            following.written(ownership.position, &self.parts.metrics.export);
            beside.spawn(export::follow_log(self.host.clone(), following.clone()));
        }
        if caught(owner.run(stop)).await.is_err() {
            // What it had in memory is gone with it; the tables are as they were, and the next owner starts from them.
            tracing::error!("the partition's loop hit a fault of its own and starts again; please report it");
            self.parts.metrics.quarantined.inc();
        }
        drop(beside);
        self.host.set_unwritten(None);
        self.host.set_route(Route::Follow);
        self.host.set_fence(None);
        self.parts.metrics.partitions_owned.set(0);
    }
}

/// Compiles what is running, the newest first, beside the work, so that the first commands find it ready.
async fn warm_up(parts: Parts) {
    let compiled = async {
        let keys = parts.store.running_definitions(PARTITION, parts.limits.definitions_max).await?;
        for key in &keys {
            match parts.definitions.get(*key).await {
                // One that no longer compiles stops its own instances, when they are asked for.
                Ok(_) | Err(Error::Corrupt { .. }) => tokio::task::yield_now().await,
                Err(error) => return Err(error),
            }
        }
        Ok(keys.len())
    };
    match compiled.await {
        Ok(count) => tracing::info!(count, "compiled the definitions that are running"),
        Err(error) => tracing::warn!(%error, "cannot compile the definitions that are running"),
    }
}

/// A tick that is being committed.
struct Flight {
    tick: Tick,
    commit: JoinHandle<Result<Millis, CommitError>>,
    sent: Instant,
}

/// Why the loop ends or starts over.
enum Trouble {
    /// Somebody else owns the partition.
    Deposed,
    /// The store did not do what it was asked to.
    Store(Error),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

/// Before the next try at a store that cannot be read, for the so-manieth time: a damaged file does not mend itself, and what the log says of it
/// is not to be drowned by saying it again.
fn pause(unreadable: u32) -> Duration {
    RETRY_EVERY * 2_u32.pow(unreadable.saturating_sub(1).min(DOUBLED_MAX))
}

struct Owner<'a> {
    parts: &'a Parts,
    host: &'a Host,
    partition: Partition,
    inputs: VecDeque<Input>,
    open: Option<Tick>,
    flight: Option<Flight>,
    /// A tick of which it is not known whether it was committed.
    doubt: Option<Tick>,
    /// How many commands are being looked up and done, if the store fails now.
    attempting: usize,
    /// How often in a row the store was back and could still not be read, through no command's fault.
    unreadable: u32,
    /// Whether the store has not taken the last write.
    refused: bool,
    /// What the next command needs once everything is committed.
    resting: Option<Box<Needs>>,
    inbox: mpsc::Sender<Input>,
    receiver: mpsc::Receiver<Input>,
    clock: Clock,
    lease: Lease,
    /// Removes what is old while this is there.
    purger: Purger,
    look_at_inbox: bool,
}

impl Owner<'_> {
    /// Until the server stops or somebody else owns the partition.
    async fn run(&mut self, stop: &mut watch::Receiver<bool>) {
        let mut wakeups = self.parts.store.wakeups();
        loop {
            let stopping = *stop.borrow();
            if stopping && self.is_done() {
                if let Err(error) = self.parts.store.release(self.partition.fence()).await {
                    tracing::warn!(%error, "the lease could not be given back");
                }
                return;
            }
            match self.turn(&mut wakeups, stop).await {
                Ok(()) => {}
                Err(Trouble::Deposed) => {
                    tracing::warn!("another server owns the partition now; this one stops writing and follows");
                    return;
                }
                Err(Trouble::Store(error)) => {
                    if !self.recover(error, stop).await {
                        return;
                    }
                }
            }
        }
    }

    fn is_done(&self) -> bool {
        self.receiver.is_empty() && self.inputs.is_empty() && self.open.is_none() && self.flight.is_none()
    }

    /// One turn of the loop: take what is there, do it, see what has landed, send what is ready.
    async fn turn(&mut self, wakeups: &mut watch::Receiver<u64>, stop: &mut watch::Receiver<bool>) -> Result<(), Trouble> {
        if self.flight.is_none() && self.open.is_none() && !self.has_work() && !*stop.borrow() {
            self.wait(wakeups, stop).await;
        }
        self.upkeep()?;
        let is_closed = self.fill().await?;
        if let Some(flight) = self.flight.take() {
            self.watch(flight, is_closed, wakeups, stop).await?;
            if self.flight.is_some() {
                return Ok(());
            }
            // What came while it landed goes with the next one.
            self.fill().await?;
        }
        self.send().await
    }

    /// The engine's time.
    fn now(&self) -> Millis {
        self.host.inner().moving.time(self.clock.now())
    }

    fn has_work(&self) -> bool {
        let now = self.now();
        let due = self.partition.wake_at().is_some_and(|at| at <= now);
        !self.inputs.is_empty() || self.look_at_inbox || self.partition.has_work() || self.partition.wants_refill(now) || due
    }

    async fn wait(&mut self, wakeups: &mut watch::Receiver<u64>, stop: &mut watch::Receiver<bool>) {
        let due = self.partition.wake_at().map(|at| until(self.now(), at));
        let mut inputs = Vec::new();
        tokio::select! {
            biased;
            () = stopped(stop) => {}
            Ok(()) = wakeups.changed() => self.look_at_inbox = true,
            Ok(()) = self.lease.held.changed() => self.hear_of_lease(),
            _ = self.receiver.recv_many(&mut inputs, self.parts.limits.batch_max) => {}
            () = sleep(due) => {}
        }
        inputs.into_iter().for_each(|input| self.take(input));
    }

    fn take(&mut self, input: Input) {
        match input {
            Input::Look => self.look_at_inbox = true,
            input => self.inputs.push_back(input),
        }
    }

    /// Does what is there in the open tick. True if that one takes no more.
    async fn fill(&mut self) -> Result<bool, Trouble> {
        while self.inputs.len() < self.parts.limits.batch_max
            && let Ok(input) = self.receiver.try_recv()
        {
            self.take(input);
        }
        self.parts.metrics.inbox_depth.set(self.receiver.len() as i64);
        self.partition.see(self.now());
        let due_by = self.confirm_due().await?;
        let now = self.now();
        if self.flight.is_some() && self.partition.caution != Caution::None {
            // One at a time, so that it is known which one fails.
            return Ok(true);
        }
        if self.resting.is_some() || self.partition.wants_refill(now) {
            if self.flight.is_some() || self.open.is_some() {
                // The tables are behind until everything is committed.
                return Ok(true);
            }
            if let Some(needs) = self.resting.take() {
                // If it fails for good, it is the first command's fault, which asked for it.
                self.attempting = 1;
                self.partition.load_at_rest(&needs).await?;
                self.attempting = 0;
            }
            self.partition.refill(now).await?;
        }
        self.look_at_inbox().await?;
        self.forget_blame(now);
        let due = self.partition.wake_at().is_some_and(|at| at <= due_by);
        if self.inputs.is_empty() && !due && !(self.partition.has_work() && self.flight.is_none()) {
            return Ok(false);
        }
        let tick = self.open.get_or_insert_with(|| self.partition.open_tick(now));
        let waiting = self.inputs.iter().filter(|input| input.is_command()).count();
        self.attempting = waiting.min(self.partition.caution.commands_max());
        let ran = self.partition.run(tick, &mut self.inputs, now, due_by).await?;
        self.attempting = 0;
        Ok(match ran {
            Ran::All => false,
            Ran::Full => true,
            Ran::Rest(needs) => {
                self.resting = Some(needs);
                true
            }
        })
    }

    /// What this server takes to be due is so only if the database's clock says so. Gives the time up to which things are.
    async fn confirm_due(&mut self) -> Result<Millis, Trouble> {
        let now = self.now();
        let Some(at) = self.partition.wake_at().filter(|at| *at <= now) else { return Ok(Millis::MIN) };
        let confirmed = self.host.inner().moving.time(self.clock.confirmed());
        if at <= confirmed {
            // What was due by the time the database told is so still: it is not asked again for each batch of them.
            return Ok(confirmed.min(now));
        }
        let asked = Instant::now();
        let heard = self.parts.store.now().await?;
        self.clock.confirm(heard, asked);
        Ok(self.host.inner().moving.time(heard))
    }

    /// The command that was to be refused may be gone with its caller: then nobody is.
    fn forget_blame(&mut self, now: Millis) {
        let is_there = match self.partition.blamed {
            None => return,
            Some(Source::Due) => self.partition.wake_at().is_some_and(|at| at <= now),
            Some(source) => self.inputs.iter().any(|input| input.source() == Some(source)),
        };
        if !is_there {
            self.partition.blamed = None;
            self.partition.caution = Caution::None;
        }
    }

    /// Reads what lies in the inbox behind what was taken, if that leaves room.
    async fn look_at_inbox(&mut self) -> Result<(), Trouble> {
        let limit = self.parts.limits.batch_max;
        let blamed = self.partition.blamed;
        if !self.look_at_inbox || self.inputs.iter().any(Input::is_received) || blamed.is_some_and(|of| of != Source::Inbox) {
            return Ok(());
        }
        let after = self.partition.inbox_to();
        let received = self.parts.store.inbox(PARTITION, after, limit, self.parts.limits.tick_bytes_max).await?;
        // There may be more behind it until there is none.
        self.look_at_inbox = !received.is_empty();
        // The database says when they came and how long they live.
        let moved = self.now().saturating_sub(self.clock.now());
        let received = received.into_iter().map(|mut received| {
            received.at = received.at.saturating_add(moved);
            received.expires = received.expires.map(|expires| expires.saturating_add(moved));
            Input::Received(Box::new(received.into()))
        });
        match blamed {
            // The one that is to blame comes first.
            Some(_) => received.rev().for_each(|received| self.inputs.push_front(received)),
            None => self.inputs.extend(received),
        }
        Ok(())
    }

    /// While a tick is in flight: until it has landed, or there is something for the open one.
    async fn watch(
        &mut self,
        mut flight: Flight,
        is_closed: bool,
        wakeups: &mut watch::Receiver<u64>,
        stop: &mut watch::Receiver<bool>,
    ) -> Result<(), Trouble> {
        // What is due already was not taken, to leave room for callers: it is looked at again with the next tick.
        let now = self.now();
        let due = self.partition.wake_at().filter(|at| now < *at).map(|at| until(now, at));
        let takes = !is_closed && self.inputs.is_empty();
        let mut inputs = Vec::new();
        let landed = tokio::select! {
            biased;
            landed = &mut flight.commit => Some(landed),
            Ok(()) = wakeups.changed(), if takes => {
                self.look_at_inbox = true;
                None
            }
            _ = self.receiver.recv_many(&mut inputs, self.parts.limits.batch_max), if takes && !*stop.borrow() => None,
            () = sleep(due), if takes => None,
        };
        let landed = match landed {
            // Others will come: being woken for each of them costs more than it gains, since nobody can be answered before it has landed.
            None if !inputs.is_empty() => tokio::select! {
                biased;
                landed = &mut flight.commit => Some(landed),
                () = tokio::time::sleep(GATHER) => None,
            },
            landed => landed,
        };
        inputs.into_iter().for_each(|input| self.take(input));
        let Some(landed) = landed else {
            self.flight = Some(flight);
            return Ok(());
        };
        let landed = landed.unwrap_or_else(|_| Err(Error::unavailable("the commit was given up").into()));
        self.land(flight, landed)
    }

    fn land(&mut self, flight: Flight, landed: Result<Millis, CommitError>) -> Result<(), Trouble> {
        let Flight { tick, sent, .. } = flight;
        let commands = tick.commands();
        match landed {
            Ok(now) => {
                self.parts.metrics.commit_seconds.observe(sent.elapsed().as_secs_f64());
                self.host.inner().purging.worked();
                self.wrote();
                if let Some(following) = &self.host.inner().following {
                    following.written(self.partition.position(), &self.parts.metrics.export);
                }
                self.clock.hear(now, sent);
                self.partition.caution = self.partition.caution.after_success(commands);
                self.partition.blamed = None;
                tick.trace(sent.elapsed());
                let released = self.partition.effects(tick);
                self.inputs.extend(released);
                Ok(())
            }
            Err(error) => {
                self.parts.metrics.commit_failures.inc();
                self.attempting = commands;
                self.doubt = Some(tick);
                Err(match error {
                    CommitError::Deposed { .. } => Trouble::Deposed,
                    CommitError::OutOfOrder { .. } => Trouble::Store(Error::unavailable(error)),
                    CommitError::Store(error) => Trouble::Store(error),
                })
            }
        }
    }

    /// Closes the open tick and sends it to the store.
    async fn send(&mut self) -> Result<(), Trouble> {
        if self.open.is_none() {
            return Ok(());
        }
        let tick = self.open.as_mut().expect("it was just seen");
        let commit = self.partition.close(tick).await?;
        let tick = self.open.take().expect("it was just seen");
        let Some(commit) = commit else {
            let released = self.partition.effects(tick);
            self.inputs.extend(released);
            return Ok(());
        };
        let store = self.parts.store.clone();
        let commit = tokio::spawn(async move { store.commit(commit).await });
        self.flight = Some(Flight { tick, commit, sent: Instant::now() });
        Ok(())
    }

    /// The store takes writes, be it only the lease: nobody may come who has more to write while it is said to take none.
    fn wrote(&mut self) {
        if std::mem::take(&mut self.refused) {
            self.host.set_unwritten(None);
        }
    }

    fn hear_of_lease(&mut self) {
        let held = *self.lease.held.borrow();
        if let Held::Renewed { renewed, asked } = held {
            self.clock.hear(renewed.now, asked);
            self.wrote();
            // A wake-up may have been lost.
            self.look_at_inbox |= self.partition.inbox_to() < renewed.inbox_tail;
            let (used, max) = self.parts.store.pool();
            self.parts.metrics.pool_used.set(used as i64);
            self.parts.metrics.pool_max.set(max as i64);
        }
    }

    fn upkeep(&mut self) -> Result<(), Trouble> {
        if self.lease.held.has_changed().unwrap_or(false) {
            self.lease.held.mark_unchanged();
            self.hear_of_lease();
        }
        if *self.lease.held.borrow() == Held::Lost {
            return Err(Trouble::Deposed);
        }
        Ok(())
    }

    /// The store is away, or did not take a tick: callers are told so until it is back, then what was in doubt is settled. False if
    /// somebody else owns the partition by then, or the server stops.
    async fn recover(&mut self, error: Error, stop: &mut watch::Receiver<bool>) -> bool {
        let failed = std::mem::take(&mut self.attempting);
        let failure = if error.passes() { Failure::Passes } else { Failure::Lasts };
        let has_no_room = matches!(error, Error::Full { .. } | Error::ReadOnly { .. });
        tracing::warn!(%error, commands = failed, "the store is away or does not take a tick");
        if !has_no_room {
            self.partition.caution = self.partition.caution.after_failure(failed, failure);
        }
        let first = self.doubt.as_ref().and_then(Tick::source).or_else(|| self.inputs.front().and_then(Input::source));
        self.partition.blamed = first.filter(|_| self.partition.caution.refuses());
        let told = away(&error);
        self.refused = true;
        self.host.set_unwritten(Some(told.clone()));
        self.host.set_route(Route::Away(told.clone()));
        if let Some(open) = self.open.take() {
            self.partition.undo(open, &mut self.inputs);
        }
        if let Some(flight) = self.flight.take() {
            flight.commit.abort();
            self.doubt = Some(flight.tick);
        } else if has_no_room && let Some(refused) = self.doubt.take() {
            // The store has said no: nothing was written, and whoever asked need not wait for somebody to make room.
            self.partition.refuse(refused, &told);
        }
        self.resting = None;
        self.inputs.retain(|input| input.is_kept());
        self.unreadable = if failed == 0 && failure == Failure::Lasts { self.unreadable + 1 } else { 0 };
        let mut pause = pause(self.unreadable);
        loop {
            tokio::select! {
                biased;
                () = stopped(stop) => return false,
                () = tokio::time::sleep(std::mem::replace(&mut pause, RETRY_EVERY)) => {}
            }
            let node = &self.host.inner().node;
            match self.parts.store.acquire(PARTITION, node, self.parts.limits.lease).await {
                Ok(Some(ownership)) => {
                    self.settle(&ownership);
                    return true;
                }
                Ok(None) => {
                    tracing::warn!("another server owns the partition now");
                    return false;
                }
                Err(error) => {
                    tracing::debug!(%error, "the store is still away");
                    self.host.set_route(Route::Away(away(&error)));
                }
            }
        }
    }

    /// The store is back: a commit whose answer was lost either went through, then its callers are answered now, or it did not, then its
    /// inputs are done again. If somebody else may have written since, nobody knows, and callers hear that.
    fn settle(&mut self, ownership: &Ownership) {
        tracing::info!(epoch = ownership.fence.epoch, "the store is back");
        if let Some(tick) = self.doubt.take() {
            match self.partition.was_committed(&tick, ownership) {
                Some(true) => {
                    let released = self.partition.effects(tick);
                    self.inputs.extend(released);
                }
                Some(false) => self.partition.undo(tick, &mut self.inputs),
                None => self.partition.abandon(tick, &mut self.inputs),
            }
        }
        self.partition.reopen(ownership);
        self.clock = Clock::set(ownership.now);
        self.lease = Lease::hold(self.parts, ownership.fence);
        self.purger = Purger::start(self.host, ownership.fence);
        self.look_at_inbox = true;
        if let Some(following) = &self.host.inner().following {
            following.written(ownership.position, &self.parts.metrics.export);
        }
        self.host.set_fence(Some(ownership.fence));
        self.host.set_route(Route::Own(self.inbox.clone()));
    }
}

async fn sleep(time: Option<Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}

async fn stopped(stop: &mut watch::Receiver<bool>) {
    // An error means the sender is gone, which is as good as being told to stop.
    let _ = stop.wait_for(|stop| *stop).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_cannot_be_read_is_tried_less_and_less() {
        assert_eq!([0, 1, 2, 3].map(pause), [1, 1, 2, 4].map(|times| RETRY_EVERY * times));
        assert_eq!(pause(100), Duration::from_secs(16));
    }
}
