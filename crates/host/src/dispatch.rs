//! Who gets which job: queues of ready jobs, workers that wait, in order on both sides.
//!
//! A queue is a job type of a tenant. Its window of ready jobs is a cache of the table; workers that wait are known only here and are
//! not part of any commit: a worker that goes away is noticed when something is sent to it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::{InstanceKey, JobKey};
use queue::Ready;
use rustc_hash::{FxHashMap, FxHashSet};
use store::log::ActivatedJob;
use tokio::sync::{mpsc, oneshot};

/// A job type of a tenant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct QueueId {
    pub(crate) tenant: Arc<str>,
    pub(crate) job_type: Arc<str>,
}

/// What a worker wants.
#[derive(Debug, Clone)]
pub(crate) struct Wish {
    pub(crate) job_type: Arc<str>,
    pub(crate) tenants: Vec<Arc<str>>,
    pub(crate) worker: Arc<str>,
    /// How long it may keep a job, in milliseconds.
    pub(crate) timeout: i64,
    pub(crate) fetch: Vec<Arc<str>>,
}

/// How jobs reach the worker.
#[derive(Debug)]
pub(crate) enum Sink {
    /// Answered once, with at least one job or, without patience, with none.
    Poll { max: usize, patient: bool, answer: oneshot::Sender<Vec<ActivatedJob>> },
    /// Answered as long as it takes. `starved` asks the other end to say when it has room again.
    Stream { jobs: mpsc::Sender<ActivatedJob>, starved: Arc<AtomicBool> },
    /// A command of the log: answered in the tick that takes it.
    Log { max: usize, slot: usize },
}

#[derive(Debug)]
pub(crate) struct Waiter {
    pub(crate) wish: Wish,
    pub(crate) sink: Sink,
}

impl Waiter {
    /// How many more jobs it takes now.
    pub(crate) fn appetite(&self) -> usize {
        match &self.sink {
            Sink::Poll { answer, .. } if answer.is_closed() => 0,
            Sink::Poll { max, .. } | Sink::Log { max, .. } => *max,
            Sink::Stream { jobs, .. } => jobs.capacity(),
        }
    }

    pub(crate) fn is_gone(&self) -> bool {
        match &self.sink {
            Sink::Poll { answer, .. } => answer.is_closed(),
            Sink::Stream { jobs, .. } => jobs.is_closed(),
            Sink::Log { .. } => false,
        }
    }

    fn is_patient(&self) -> bool {
        match &self.sink {
            Sink::Poll { patient, .. } => *patient,
            Sink::Stream { .. } => true,
            Sink::Log { .. } => false,
        }
    }
}

#[derive(Debug)]
struct Queue {
    ready: Ready<InstanceKey>,
    /// Waiters in the order in which they came; may name ones that have gone.
    waiters: VecDeque<u64>,
}

#[derive(Debug)]
pub(crate) struct Dispatch {
    queues: FxHashMap<QueueId, Queue>,
    waiters: FxHashMap<u64, Waiter>,
    waiter_next: u64,
    /// Those who wait for one tick only.
    impatient: Vec<u64>,
    /// Queues where something changed since they were last looked at.
    dirty: FxHashSet<QueueId>,
    ready_window_max: usize,
}

impl Dispatch {
    pub(crate) fn new(ready_window_max: usize) -> Self {
        Self {
            queues: FxHashMap::default(),
            waiters: FxHashMap::default(),
            waiter_next: 0,
            impatient: Vec::new(),
            dirty: FxHashSet::default(),
            ready_window_max,
        }
    }

    /// Forgets what is known of jobs; workers stay where they are.
    pub(crate) fn forget_jobs(&mut self) {
        for (id, queue) in &mut self.queues {
            queue.ready = Ready::unknown(self.ready_window_max);
            self.dirty.insert(id.clone());
        }
    }

    /// Forgets what is known of one queue's jobs.
    pub(crate) fn forget_queue(&mut self, id: &QueueId) {
        if let Some(queue) = self.queues.get_mut(id) {
            queue.ready = Ready::unknown(self.ready_window_max);
        }
    }

    /// A worker waits.
    pub(crate) fn wait(&mut self, waiter: Waiter) {
        let number = self.waiter_next;
        self.waiter_next += 1;
        for tenant in &waiter.wish.tenants {
            let id = QueueId { tenant: tenant.clone(), job_type: waiter.wish.job_type.clone() };
            self.queue_mut(&id).waiters.push_back(number);
            self.dirty.insert(id);
        }
        if !waiter.is_patient() {
            self.impatient.push(number);
        }
        self.waiters.insert(number, waiter);
    }

    /// Somebody will ask for jobs of this queue in this tick.
    pub(crate) fn expect(&mut self, id: QueueId) {
        self.queue_mut(&id);
        self.dirty.insert(id);
    }

    fn queue_mut(&mut self, id: &QueueId) -> &mut Queue {
        let window_max = self.ready_window_max;
        self.queues.entry(id.clone()).or_insert_with(|| Queue { ready: Ready::unknown(window_max), waiters: VecDeque::new() })
    }

    /// A job may be handed out. A queue nobody ever asked for is not kept: its jobs are in the table.
    pub(crate) fn ready(&mut self, id: &QueueId, job: JobKey, instance: InstanceKey) {
        if let Some(queue) = self.queues.get_mut(id) {
            queue.ready.insert(job.0, instance);
            if !queue.waiters.is_empty() && !self.dirty.contains(id) {
                self.dirty.insert(id.clone());
            }
        }
    }

    /// A job may not be handed out any more.
    pub(crate) fn not_ready(&mut self, id: &QueueId, job: JobKey) {
        if let Some(queue) = self.queues.get_mut(id) {
            queue.ready.remove(job.0);
        }
    }

    /// A stream has room again.
    pub(crate) fn has_room(&mut self, job_type: &Arc<str>, tenants: &[Arc<str>]) {
        for tenant in tenants {
            self.dirty.insert(QueueId { tenant: tenant.clone(), job_type: job_type.clone() });
        }
    }

    /// Whether a tick would have something to hand out or to look for.
    pub(crate) fn has_work(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// Queues to look at now, in a fixed order.
    pub(crate) fn take_dirty(&mut self) -> Vec<QueueId> {
        let mut dirty: Vec<_> = std::mem::take(&mut self.dirty).into_iter().collect();
        dirty.sort_by(|a, b| (&a.job_type, &a.tenant).cmp(&(&b.job_type, &b.tenant)));
        dirty
    }

    pub(crate) fn mark(&mut self, id: QueueId) {
        self.dirty.insert(id);
    }

    /// What to ask the table for, if the window is empty and not complete.
    pub(crate) fn refill(&self, id: &QueueId) -> Option<queue::Refill> {
        self.queues.get(id)?.ready.refill()
    }

    /// Whether anybody waits at this queue.
    pub(crate) fn is_awaited(&self, id: &QueueId) -> bool {
        self.queues.get(id).is_some_and(|queue| !queue.waiters.is_empty())
    }

    pub(crate) fn refilled(&mut self, id: &QueueId, asked: queue::Refill, jobs: Vec<store::ReadyJob>) {
        if let Some(queue) = self.queues.get_mut(id) {
            queue.ready.refilled(asked, jobs.into_iter().map(|job| (job.key.0, job.instance)));
        }
    }

    /// The instances of the first jobs of a queue, as many as its waiters, and those expected, would take.
    pub(crate) fn candidates(&self, id: &QueueId, expected: usize, limit: usize) -> Vec<InstanceKey> {
        let Some(queue) = self.queues.get(id) else { return Vec::new() };
        let mut appetite = expected;
        for waiter in queue.waiters.iter().filter_map(|number| self.waiters.get(number)) {
            appetite = appetite.saturating_add(waiter.appetite());
            if limit <= appetite {
                break;
            }
        }
        queue.ready.iter().take(appetite.min(limit)).map(|(_, instance)| *instance).collect()
    }

    /// The job first in a queue.
    pub(crate) fn first(&self, id: &QueueId) -> Option<(JobKey, InstanceKey)> {
        let (key, instance) = self.queues.get(id)?.ready.iter().next()?;
        Some((JobKey(key), *instance))
    }

    /// Who is first in line at a queue; those who have gone leave it.
    pub(crate) fn front(&mut self, id: &QueueId) -> Option<u64> {
        let queue = self.queues.get_mut(id)?;
        while let Some(number) = queue.waiters.front().copied() {
            match self.waiters.get(&number) {
                Some(waiter) if !waiter.is_gone() => return Some(number),
                Some(_) => {
                    self.waiters.remove(&number);
                }
                None => {}
            }
            queue.waiters.pop_front();
        }
        None
    }

    /// How many stand in line at a queue.
    pub(crate) fn line(&self, id: &QueueId) -> usize {
        self.queues.get(id).map_or(0, |queue| queue.waiters.len())
    }

    pub(crate) fn waiter(&self, number: u64) -> Option<&Waiter> {
        self.waiters.get(&number)
    }

    /// A poll got its answer: it waits no longer.
    pub(crate) fn remove_waiter(&mut self, number: u64) -> Option<Waiter> {
        self.waiters.remove(&number)
    }

    /// Who is first in line goes to its end: streams take turns.
    pub(crate) fn rotate(&mut self, id: &QueueId) {
        if let Some(queue) = self.queues.get_mut(id)
            && let Some(number) = queue.waiters.pop_front()
        {
            queue.waiters.push_back(number);
        }
    }

    /// Those without patience, who got nothing in the tick that took them.
    pub(crate) fn impatient(&mut self) -> Vec<Waiter> {
        let numbers = std::mem::take(&mut self.impatient);
        numbers.into_iter().filter_map(|number| self.waiters.remove(&number)).collect()
    }

    /// Drops waiters that have gone and queues that nobody waits for and that hold nothing.
    pub(crate) fn sweep(&mut self) {
        self.waiters.retain(|_, waiter| !waiter.is_gone());
        let waiters = &self.waiters;
        for queue in self.queues.values_mut() {
            queue.waiters.retain(|number| waiters.contains_key(number));
        }
        self.queues.retain(|_, queue| !queue.waiters.is_empty() || !queue.ready.is_empty());
    }

    /// All who wait, to be told that this server no longer owns the partition.
    pub(crate) fn clear(&mut self) {
        self.queues.clear();
        self.waiters.clear();
        self.dirty.clear();
    }
}
