//! What happens in queues, counted in memory and written down every few seconds: one row for each queue where something happened, never
//! one for each job. A new owner goes on from the rows; what happened in the seconds before a crash is missing from the totals.

use queue::stats::{Happened, Stats};
use rustc_hash::FxHashMap;
use store::row::{Availability, Job, JobState, QueueStats};
use store::{Error, Millis};

use super::Partition;
use super::tick::Tick;
use super::unit::queue_of;
use crate::sinks::QueueId;

/// How often rows are written, and how often it is looked at what does not move.
const WRITE_EVERY: Millis = 5_000;
/// Rows written at once; the others follow.
const ROWS_MAX: usize = 256;
/// Queues that are kept. Jobs of others are not counted.
const QUEUES_MAX: usize = 10_000;
/// How long to wait before trying again to read what is there.
const READ_AGAIN_AFTER: Millis = 60_000;
/// A queue with jobs that workers ask for is stuck when nothing has moved for so long.
const STUCK_AFTER: Millis = 60_000;
/// Workers count as asking for so long after they did.
const ASKED_FOR: Millis = 3 * WRITE_EVERY;

/// One queue.
#[derive(Debug, Default)]
struct Book {
    stats: Stats,
    /// How many there are; until that is read, only what the open tick adds, which the tables do not have yet.
    size: Size,
    is_changed: bool,
    /// When a worker last asked for jobs, if some were ready then.
    asked: Option<Millis>,
    /// Since when it has been seen that workers ask and jobs are ready.
    blocked: Option<Millis>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Size {
    ready: i64,
    scheduled: i64,
    running: i64,
}

#[derive(Debug, Default)]
pub(super) struct Books {
    queues: FxHashMap<QueueId, Book>,
    /// Whether they go on from what is stored.
    is_read: bool,
    /// Whether something is to be written or looked at.
    is_open: bool,
    /// When rows are written next.
    write_at: Millis,
}

impl Books {
    pub(super) fn open(now: Millis) -> Self {
        Self { write_at: now + WRITE_EVERY, ..Self::default() }
    }

    /// When to look at them without anybody asking.
    pub(super) fn wake_at(&self) -> Option<Millis> {
        (!self.is_read || self.is_open).then_some(self.write_at)
    }

    pub(super) fn set_back(&mut self, by: Millis) {
        self.write_at = self.write_at.saturating_sub(by);
    }

    fn book(&mut self, queue: QueueId) -> Option<&mut Book> {
        let has_room = self.queues.len() < QUEUES_MAX;
        match self.queues.entry(queue) {
            std::collections::hash_map::Entry::Occupied(entry) => Some(entry.into_mut()),
            std::collections::hash_map::Entry::Vacant(entry) => has_room.then(|| entry.insert(Book::default())),
        }
    }

    /// A job has come, or changed.
    pub(super) fn note(&mut self, before: Option<&Job>, after: &Job, now: Millis) {
        let Some(book) = self.book(queue_of(after)) else { return };
        if before.is_none() {
            book.stats.tell(Happened::Enqueued, now);
        }
        if let Some(what) = happened(before, after, now) {
            book.stats.tell(what, now);
        }
        if let Some(before) = before {
            book.size.add(before.availability, -1);
        }
        book.size.add(after.availability, 1);
        book.is_changed = true;
        self.look_later(now);
    }

    /// Not at once: what comes alone is not to be kept waiting by it.
    fn look_later(&mut self, now: Millis) {
        if !self.is_open {
            (self.is_open, self.write_at) = (true, self.write_at.max(now + WRITE_EVERY));
        }
    }

    /// Workers ask for jobs of these. Where none are ready there is nothing to look at later.
    pub(super) fn asked(&mut self, queues: &[QueueId], now: Millis) {
        for queue in queues {
            if let Some(book) = self.queues.get_mut(queue).filter(|book| 0 < book.size.ready) {
                book.asked = Some(now);
                self.look_later(now);
            }
        }
    }
}

impl Size {
    fn add(&mut self, availability: Availability, by: i64) {
        match availability {
            Availability::Ready => self.ready += by,
            Availability::BackingOff { .. } => self.scheduled += by,
            Availability::Leased => self.running += by,
            Availability::Held | Availability::Stuck | Availability::Done => {}
        }
    }

    fn and(self, more: Self) -> Self {
        let Self { ready, scheduled, running } = more;
        Self { ready: self.ready + ready, scheduled: self.scheduled + scheduled, running: self.running + running }
    }
}

/// What a change of a job means for its queue.
fn happened(before: Option<&Job>, after: &Job, now: Millis) -> Option<Happened> {
    let was_leased = before.is_some_and(|before| before.availability == Availability::Leased);
    match after.availability {
        Availability::Leased if was_leased => Some(Happened::Progressed),
        Availability::Leased => {
            let since = before.map_or(after.created, |before| before.updated);
            Some(Happened::Started { waited: (after.leases == 1).then_some(now - since) })
        }
        Availability::Done if after.state == JobState::Completed => {
            let before = before.filter(|_| was_leased);
            let started = before.and_then(|before| match &before.execution {
                Some(execution) => execution.started,
                None => Some(before.updated),
            });
            Some(Happened::Completed { ran: started.map(|started| now - started) })
        }
        Availability::Done if after.state == JobState::Cancelled => Some(Happened::Cancelled),
        Availability::Done => Some(Happened::Failed),
        Availability::Stuck => Some(Happened::Failed),
        Availability::Held => None,
        Availability::Ready | Availability::BackingOff { .. } if !was_leased => None,
        // Given back, which has no worker.
        Availability::Ready | Availability::BackingOff { .. } if after.worker.is_empty() => Some(Happened::Progressed),
        Availability::Ready if after.state == JobState::TimedOut => Some(Happened::TimedOut),
        Availability::Ready | Availability::BackingOff { .. } => Some(Happened::Failed),
    }
}

impl Partition {
    /// At the end of a tick, when all before it are committed: what is to be written of what has happened.
    pub(super) async fn write_books(&mut self, tick: &mut Tick) {
        if self.books.write_at <= tick.now && !self.books.is_read {
            match self.read_books().await {
                Ok(()) => self.books.is_read = true,
                Err(error) => {
                    tracing::warn!(%error, "what has happened in queues cannot be read; it is written down later");
                    self.books.write_at = tick.now + READ_AGAIN_AFTER;
                }
            }
        }
        if !self.books.is_read {
            self.books.queues.values_mut().for_each(|book| book.size = Size::default());
            return;
        }
        if tick.now < self.books.write_at {
            return;
        }
        self.books.write_at = tick.now + WRITE_EVERY;
        self.look_for_stuck(tick.now);
        for (queue, book) in self.books.queues.iter_mut().filter(|(_, book)| book.is_changed).take(ROWS_MAX) {
            book.is_changed = false;
            let count = |count: i64| u64::try_from(count).unwrap_or(0);
            self.metrics.queues.export(&queue.job_type, (book.size.ready + book.size.scheduled, book.size.running), &book.stats);
            tick.recorder.changes.queue_stats_put.push(QueueStats {
                job_type: queue.job_type.clone(),
                tenant: queue.tenant.clone(),
                waiting: count(book.size.ready + book.size.scheduled),
                running: count(book.size.running),
                stats: book.stats.clone(),
                updated: tick.now,
            });
        }
        let is_open = |book: &Book| book.is_changed || book.blocked.is_some();
        self.books.is_open = self.books.queues.values().any(is_open);
    }

    async fn read_books(&mut self) -> Result<(), Error> {
        let partition = self.fence.partition;
        let sizes = self.store.queue_sizes(partition).await?;
        let rows = self.store.queue_stats(partition, None).await?;
        for size in sizes {
            let queue = QueueId { job_type: size.job_type, tenant: size.tenant };
            if let Some(book) = self.books.book(queue) {
                let count = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
                let there = Size { ready: count(size.ready), scheduled: count(size.scheduled), running: count(size.running) };
                book.size = book.size.and(there);
            }
        }
        for row in rows {
            let queue = QueueId { job_type: row.job_type, tenant: row.tenant };
            if let Some(book) = self.books.book(queue) {
                let is_behind =
                    (row.waiting as i64, row.running as i64) != (book.size.ready + book.size.scheduled, book.size.running);
                book.is_changed |= is_behind;
                book.stats.follow(row.stats);
            }
        }
        Ok(())
    }

    /// A queue whose jobs workers ask for and which nobody keeps from being handed out, where nothing moves.
    fn look_for_stuck(&mut self, now: Millis) {
        for (queue, book) in &mut self.books.queues {
            let is_asked = book.asked.is_some_and(|asked| now < asked + ASKED_FOR) || self.dispatch.is_awaited(queue);
            if !is_asked || book.size.ready <= 0 || self.policies.is_paused(queue) {
                (book.asked, book.blocked) = (None, None);
                continue;
            }
            let blocked = *book.blocked.get_or_insert(now);
            let since = blocked.max(book.stats.progressed);
            if STUCK_AFTER <= now - since && book.stats.stuck_since.is_none() {
                (book.stats.stuck_since, book.is_changed) = (Some(since), true);
                let (action, ready, running) = (&queue.job_type, book.size.ready, book.size.running);
                tracing::warn!(%action, ready, running, "a queue is stuck: workers ask for its jobs, but none has moved for a minute");
            }
        }
    }
}
