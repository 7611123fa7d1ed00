//! One owner's partition: what it keeps in memory, and its tick.
//!
//! ```text
//! tick:  plan (what is needed) → load (I/O) → execute each command, dispatch jobs (no I/O) → commit (I/O) → effects
//! ```
//!
//! A commit that does not go through leaves memory in doubt: everything derived is dropped and read again, and the same inputs are
//! done once more. Callers hear nothing until then.

mod calls;
mod decide;
mod deploy;
mod execute;
mod hand_out;
mod jobs;
mod plan;
mod tick;

use std::sync::Arc;

use engine::{Document, InstanceKey, Keys};
use queue::Timeline;
use rustc_hash::FxHashMap;
use store::log::{ActivatedJob, Answer, Created, Released, Request};
use store::{Error, Fence, Millis, Ownership, Store};
use tokio::sync::oneshot;

use crate::caution::Caution;
use crate::definitions::Definitions;
use crate::dispatch::{Dispatch, Waiter};
use crate::hot::Hot;
use crate::limits::Limits;
use crate::metrics::Metrics;

pub(crate) use deploy::Catalogue;
pub(crate) use tick::Batch;

/// What reaches the owner of a partition from its own server.
#[derive(Debug)]
pub(crate) enum Input {
    Request {
        request: Request,
        reply: Reply,
    },
    Wait(Waiter),
    /// A stream has room again.
    Room {
        job_type: Arc<str>,
        tenants: Vec<Arc<str>>,
    },
    /// Jobs handed out that their worker never took.
    Release {
        jobs: Vec<Released>,
    },
    /// This server put something into the log.
    Appended,
}

/// The leases of these jobs, to be given back.
pub(crate) fn released(jobs: &[ActivatedJob]) -> Vec<Released> {
    jobs.iter().map(|job| Released { job: job.key, deadline: job.deadline }).collect()
}

/// Who hears of it, and when.
#[derive(Debug)]
pub(crate) enum Reply {
    /// When the command is committed.
    Answer(oneshot::Sender<Answer>),
    /// When the instance it created has ended.
    End { fetch: Vec<Arc<str>>, sender: oneshot::Sender<End> },
}

/// How a wait for an instance's end came out.
#[derive(Debug)]
pub(crate) enum End {
    Ended {
        created: Created,
        completed: bool,
        variables: Document,
    },
    /// It had ended before: what it left is in the store.
    Before {
        created: Created,
    },
    NotCreated(Answer),
}

#[derive(Debug)]
struct Awaiting {
    created: Created,
    fetch: Vec<Arc<str>>,
    sender: oneshot::Sender<End>,
}

pub(crate) struct Partition {
    store: Arc<dyn Store>,
    limits: Arc<Limits>,
    metrics: Arc<Metrics>,
    definitions: Arc<Definitions>,
    fence: Fence,
    tail: u64,
    processed_to: u64,
    keys: Keys,
    hot: Hot,
    catalogue: Catalogue,
    dispatch: Dispatch,
    timeline: Timeline,
    awaiting: FxHashMap<InstanceKey, Vec<Awaiting>>,
    /// Until then other servers are taken to be interested in every commit.
    followed_until: Millis,
    /// Until then this server's own commands go through the log.
    contended_until: Millis,
    /// When those who have gone are swept out next.
    sweep_at: Millis,
    in_doubt: Option<tick::InDoubt>,
    /// How the next tick is made; changed by whoever drives.
    pub(crate) caution: Caution,
}

/// What a partition is made with.
#[derive(Clone)]
pub struct Parts {
    pub store: Arc<dyn Store>,
    pub limits: Arc<Limits>,
    pub metrics: Arc<Metrics>,
    pub definitions: Arc<Definitions>,
}

impl Partition {
    /// A partition just acquired.
    pub(crate) async fn open(parts: Parts, ownership: &Ownership) -> Result<Self, Error> {
        let Parts { store, limits, metrics, definitions } = parts;
        let catalogue = Catalogue::load(&*store, ownership.fence.partition).await?;
        Ok(Self {
            hot: Hot::default(),
            catalogue,
            dispatch: Dispatch::new(limits.ready_window_max),
            timeline: Timeline::unknown(limits.timeline_max),
            awaiting: FxHashMap::default(),
            fence: ownership.fence,
            tail: ownership.tail,
            processed_to: ownership.processed_to,
            keys: Keys::starting_at(ownership.next_key),
            followed_until: 0,
            contended_until: 0,
            sweep_at: 0,
            in_doubt: None,
            caution: Caution::None,
            store,
            limits,
            metrics,
            definitions,
        })
    }

    /// After the store was away or somebody else was faster: start again from what it holds. Callers and workers stay.
    async fn reopen(&mut self, ownership: &Ownership) -> Result<(), Error> {
        self.fence = ownership.fence;
        self.reread_catalogue().await?;
        self.tail = ownership.tail;
        self.processed_to = ownership.processed_to;
        self.keys = Keys::starting_at(ownership.next_key);
        self.forget();
        Ok(())
    }

    pub(crate) fn fence(&self) -> Fence {
        self.fence
    }

    pub(crate) fn processed_to(&self) -> u64 {
        self.processed_to
    }

    /// When a tick is due without anybody asking.
    pub(crate) fn wake_at(&self) -> Option<Millis> {
        self.timeline.next()
    }

    /// Whether a tick would have something to do at once.
    pub(crate) fn has_work(&self) -> bool {
        self.dispatch.has_work()
    }

    /// Whether the log was appended to in the way of a tick lately.
    pub(crate) fn is_contended(&self, now: Millis) -> bool {
        now < self.contended_until
    }

    /// A tick was undone: what it deployed or deleted is not there, so definitions are read again.
    pub(crate) async fn reread_catalogue(&mut self) -> Result<(), Error> {
        self.catalogue = Catalogue::load(&*self.store, self.fence.partition).await?;
        Ok(())
    }

    /// Somebody appended in the way of a tick: this server's own commands go through the log too for a while.
    pub(crate) fn note_contention(&mut self, now: Millis) {
        self.contended_until = now + tick::CONTENDED_FOR;
    }

    /// Compiles what is running, the newest first, so that the first commands find it ready.
    pub(crate) async fn warm_up(&self) -> Result<usize, Error> {
        let keys = self.store.running_definitions(self.fence.partition, self.limits.definitions_max).await?;
        for key in &keys {
            self.definitions.get(*key).await?;
        }
        Ok(keys.len())
    }

    /// This server owns the partition no longer: whoever waits is told by the end of their channel.
    pub(crate) fn close(&mut self) {
        self.forget();
        self.dispatch.clear();
        self.awaiting.clear();
    }

    /// Drops everything that can be read again.
    fn forget(&mut self) {
        self.hot.clear();
        self.dispatch.forget_jobs();
        self.timeline = Timeline::unknown(self.limits.timeline_max);
    }
}
