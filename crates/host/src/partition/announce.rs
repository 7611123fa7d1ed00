//! Jobs that are announced through a broker: leased as soon as they are ready, with a row in the outbox that says so.

use std::sync::Arc;

use queue::WaiterId;
use rustc_hash::FxHashMap;
use store::log::{ActivatedJob, Announced, Answer, Caller, FailJob, Unannounced};
use store::row::{Announcement, AnnouncementKey, Availability, Job};
use store::{Error, Millis};

use super::Partition;
use super::needs::Needs;
use super::tick::Tick;
use super::unit::{Stop, queue_of};
use crate::announce::{ANNOUNCED, Announcing, Fill};
use crate::sinks::{QueueId, Sink, Waiter, Wish};

/// How long a job waits that the broker would not have just now.
const AGAIN_AFTER: Millis = 10_000;

/// Those who wait for jobs to announce them have numbers nobody else gets.
const FIRST_WAITER: u64 = 1 << 62;

pub(super) struct Outbox {
    announcing: Arc<Announcing>,
    fill: Arc<Fill>,
    waiters: FxHashMap<QueueId, WaiterId>,
    /// Whether it is known what was there before.
    is_known: bool,
}

impl Outbox {
    pub(super) fn new(announcing: Arc<Announcing>, fill: Arc<Fill>) -> Self {
        Self { announcing, fill, waiters: FxHashMap::default(), is_known: false }
    }

    /// Whether jobs of this queue are announced and nobody waits for them yet.
    fn wants(&self, queue: &QueueId) -> bool {
        !self.waiters.contains_key(queue) && self.announcing.covers(&queue.job_type)
    }

    fn lease(&self) -> Millis {
        Millis::try_from(self.announcing.lease.as_millis()).unwrap_or(Millis::MAX)
    }
}

impl Partition {
    pub(super) fn wants_outbox(&self) -> bool {
        self.outbox.as_ref().is_some_and(|outbox| !outbox.is_known)
    }

    pub(super) fn forget_outbox(&mut self) {
        if let Some(outbox) = &mut self.outbox {
            outbox.is_known = false;
        }
    }

    /// What waits to be announced, and of which queues jobs wait.
    pub(super) async fn load_outbox(&mut self) -> Result<(), Error> {
        let partition = self.fence.partition;
        let size = self.store.outbox_size(partition).await?;
        let first = self.store.outbox(partition, AnnouncementKey(0), 1, 1).await?;
        let queues = self.store.queue_sizes(partition).await?;
        let Some(outbox) = &mut self.outbox else { return Ok(()) };
        outbox.fill.set(size.rows, size.bytes);
        outbox.fill.begins(first.first());
        outbox.is_known = true;
        outbox.fill.news.notify_one();
        self.metrics.outbox_is(size.rows, size.bytes);
        for queue in queues {
            self.announce_queue(&QueueId { job_type: queue.job_type, tenant: queue.tenant });
        }
        Ok(())
    }

    /// A job that is ready is announced by the tick that made it so. A queue that nobody waits in had none before: those that had
    /// one were waited in since they were loaded, so the table need not be asked.
    pub(super) fn announce_ready(&mut self, job: &Job) {
        let Some(outbox) = self.outbox.as_ref().filter(|outbox| outbox.is_known) else { return };
        let queue = queue_of(job);
        if outbox.wants(&queue) {
            self.dispatch.begin(&queue);
            self.announce_queue(&queue);
        }
    }

    fn announce_queue(&mut self, queue: &QueueId) {
        let Some(outbox) = self.outbox.as_mut().filter(|outbox| outbox.wants(queue)) else { return };
        let id = WaiterId(FIRST_WAITER + outbox.waiters.len() as u64);
        outbox.waiters.insert(queue.clone(), id);
        let wish = Wish {
            job_type: queue.job_type.clone(),
            tenants: vec![queue.tenant.clone()],
            worker: ANNOUNCED.into(),
            timeout: outbox.lease(),
            fetch: Vec::new(),
        };
        let sink = Sink::Outbox { announcing: outbox.announcing.clone(), fill: outbox.fill.clone() };
        self.wait(Waiter { id, wish, sink });
    }

    /// Jobs that were leased to be announced.
    pub(super) fn write_outbox(&mut self, tick: &mut Tick, jobs: &[ActivatedJob]) {
        for job in jobs {
            tick.recorder.changes.announcements_new.push(Announcement {
                key: AnnouncementKey(self.keys.take()),
                job: job.key,
                instance: job.instance,
                element_instance: job.element_instance,
                job_type: job.job_type.clone(),
                tenant: job.tenant.clone(),
                retries: job.retries,
                created: tick.now,
                payload: job.variables.as_str().into(),
                lease: job.lease,
                element_id: job.element_id.clone(),
                progress: job.progress.clone(),
                trace: job.trace.clone(),
            });
        }
    }

    /// What was written is there to be told now.
    pub(super) fn tell_of_outbox(&self) {
        let Some(outbox) = &self.outbox else { return };
        let (rows, bytes) = outbox.fill.sizes();
        self.metrics.outbox_is(rows, bytes);
        outbox.fill.news.notify_one();
    }

    /// For how much longer a job is leased that nobody can have heard of yet: the lease is for those who hear.
    pub(super) fn unheard(&self, job: &Job) -> Option<Millis> {
        let outbox = self.outbox.as_ref().filter(|_| *job.worker == *ANNOUNCED)?;
        let is_waiting = job.dispatched.is_some_and(|at| outbox.fill.may_have(at));
        is_waiting.then(|| outbox.lease())
    }

    pub(super) fn announced(&mut self, tick: &mut Tick, announced: &Announced) -> Result<Answer, Stop> {
        let unknown = announced.refused.iter().map(|refused| refused.job).filter(|job| !self.jobs.knows(job));
        let unknown: Vec<_> = unknown.filter(|job| !tick.known.unusable.contains_key(&job.0)).collect();
        if !unknown.is_empty() {
            return Err(Needs::jobs(unknown).into());
        }
        for refused in &announced.refused {
            self.not_announced(tick, refused)?;
        }
        let gone = announced.told.iter().copied().chain(announced.refused.iter().map(|refused| refused.announcement));
        let gone: Vec<_> = gone.collect();
        self.outbox_shrinks(gone.len() as u64, announced.bytes);
        tick.unit.changes.announcements_gone.extend(gone);
        Ok(Answer::Done)
    }

    /// It is tried again in a while; where that is of no use somebody has to look at it.
    fn not_announced(&mut self, tick: &mut Tick, refused: &Unannounced) -> Result<(), Stop> {
        let Some(job) = self.jobs.get(&refused.job) else { return Ok(()) };
        if job.availability != Availability::Leased || *job.worker != *ANNOUNCED {
            return Ok(());
        }
        let message: Arc<str> = format!("it could not be announced: {}", refused.reason).into();
        if refused.for_good {
            let fail = FailJob { job: refused.job, retries: 0, message, backoff: 0, variables: Vec::new() };
            return self.fail_job(tick, &Caller::engine(), &fail).map(drop);
        }
        let until = tick.now + AGAIN_AFTER;
        self.change_job(tick, refused.job, |job| {
            job.availability = Availability::BackingOff { until };
            job.worker = "".into();
            job.deadline = None;
            job.error_message = message;
        });
        Ok(())
    }

    /// There is room again, also for those who had none.
    fn outbox_shrinks(&mut self, rows: u64, bytes: u64) {
        let Some(outbox) = &self.outbox else { return };
        outbox.fill.remove(rows, bytes);
        let (rows, bytes) = outbox.fill.sizes();
        self.metrics.outbox_is(rows, bytes);
        let waiters: Vec<_> = outbox.waiters.values().copied().collect();
        waiters.into_iter().for_each(|waiter| self.dispatch.has_room(waiter));
    }
}
