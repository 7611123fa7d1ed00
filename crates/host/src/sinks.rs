//! Workers that wait, and how jobs reach them. Who gets which job is decided by [`queue::Dispatch`]; here it is delivered.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use queue::{Line, Room, WaiterId};
use rustc_hash::FxHashMap;
use store::Millis;
use store::log::{ActivatedJob, Released};
use tokio::sync::{mpsc, oneshot};

use crate::announce::{Announcing, Fill};

/// A job type of a tenant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct QueueId {
    pub(crate) job_type: Arc<str>,
    pub(crate) tenant: Arc<str>,
}

/// An answer to a poll stops growing past this many bytes of variables, so that it fits into one message.
const ANSWER_BYTES_MAX: usize = 3 * 1024 * 1024;

/// Jobs a stream gets in a row before the next stream has its turn.
const STREAM_RUN: usize = 4;

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

impl Wish {
    pub(crate) fn queues(&self) -> Vec<QueueId> {
        let queue = |tenant: &Arc<str>| QueueId { job_type: self.job_type.clone(), tenant: tenant.clone() };
        self.tenants.iter().map(queue).collect()
    }
}

/// How jobs reach the worker.
#[derive(Debug)]
pub(crate) enum Sink {
    /// Answered once, with at least one job or, without patience, with none.
    Poll { max: usize, patient: bool, answer: oneshot::Sender<Vec<ActivatedJob>> },
    /// Answered as long as it takes.
    Stream(StreamSink),
    /// A request of the inbox: answered in the tick that takes it.
    Inbox { max: usize, position: u64, at: Millis },
    /// Announced by a row that is written in the tick that takes it, as long as there is room for it.
    Outbox { announcing: Arc<Announcing>, fill: Arc<Fill> },
}

#[derive(Debug)]
pub(crate) struct StreamSink {
    pub(crate) jobs: mpsc::Sender<ActivatedJob>,
    pub(crate) flow: Arc<StreamFlow>,
    /// How many it was ever given.
    given: u64,
}

/// What both ends of a stream know of it.
#[derive(Debug)]
pub(crate) struct StreamFlow {
    /// How many jobs were ever taken out.
    pub(crate) taken: AtomicU64,
    /// The other end is asked to say when it has room again.
    pub(crate) starved: AtomicBool,
    pub(crate) size: u64,
}

impl StreamSink {
    pub(crate) fn new(jobs: mpsc::Sender<ActivatedJob>, flow: Arc<StreamFlow>) -> Self {
        // One that was served before, by another owner's way, starts with what is still on its way.
        let given = flow.taken.load(Ordering::SeqCst) + (jobs.max_capacity() - jobs.capacity()) as u64;
        Self { jobs, flow, given }
    }

    fn room(&self) -> u64 {
        let taken = self.flow.taken.load(Ordering::SeqCst);
        self.flow.size.saturating_sub(self.given.saturating_sub(taken))
    }

    /// Asks to be told if there is none. It may have been made just now, unheard: so it looks again.
    fn room_or_starved(&self) -> u64 {
        match self.room() {
            0 => {
                self.flow.starved.store(true, Ordering::SeqCst);
                self.room()
            }
            room => room,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Waiter {
    pub(crate) id: WaiterId,
    pub(crate) wish: Wish,
    pub(crate) sink: Sink,
}

impl Waiter {
    pub(crate) fn is_gone(&self) -> bool {
        match &self.sink {
            Sink::Poll { answer, .. } => answer.is_closed(),
            Sink::Stream(stream) => stream.jobs.is_closed(),
            Sink::Inbox { .. } | Sink::Outbox { .. } => false,
        }
    }

    fn is_patient(&self) -> bool {
        match &self.sink {
            Sink::Poll { patient, .. } => *patient,
            Sink::Stream(_) | Sink::Outbox { .. } => true,
            Sink::Inbox { .. } => false,
        }
    }
}

/// A waiter with what it gets in this tick.
#[derive(Debug)]
struct Seat {
    waiter: Waiter,
    jobs: Vec<ActivatedJob>,
    bytes: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Sinks {
    seats: FxHashMap<WaiterId, Seat>,
    /// Those who got something in this tick, in that order.
    served: Vec<WaiterId>,
    /// Those who wait for one tick only.
    impatient: Vec<WaiterId>,
}

/// Jobs on their way to a worker.
#[derive(Debug)]
pub(crate) enum Handed {
    /// It is answered and waits no longer.
    Waiter(Waiter, Vec<ActivatedJob>),
    Stream(mpsc::Sender<ActivatedJob>, WaiterId, Vec<ActivatedJob>),
    /// They are announced.
    Outbox(Vec<ActivatedJob>),
}

impl Sinks {
    pub(crate) fn wait(&mut self, waiter: Waiter) {
        if !waiter.is_patient() {
            self.impatient.push(waiter.id);
        }
        self.seats.insert(waiter.id, Seat { waiter, jobs: Vec::new(), bytes: 0 });
    }

    pub(crate) fn room(&self, id: WaiterId) -> Room {
        let Some(seat) = self.seats.get(&id) else { return Room::Gone };
        if seat.waiter.is_gone() {
            return Room::Gone;
        }
        Room::Jobs(match &seat.waiter.sink {
            Sink::Poll { .. } | Sink::Inbox { .. } if ANSWER_BYTES_MAX <= seat.bytes => 0,
            Sink::Poll { max, .. } | Sink::Inbox { max, .. } => max - seat.jobs.len().min(*max),
            Sink::Stream(stream) => stream.room_or_starved() as usize,
            Sink::Outbox { announcing, fill } => fill.room(announcing),
        })
    }

    pub(crate) fn wish(&self, id: WaiterId) -> Option<&Wish> {
        self.seats.get(&id).map(|seat| &seat.waiter.wish)
    }

    /// The worker gets a job once the tick is committed; where it stands in line then.
    pub(crate) fn give(&mut self, id: WaiterId, job: ActivatedJob) -> Line {
        let Some(seat) = self.seats.get_mut(&id) else { return Line::Stay };
        if seat.jobs.is_empty() {
            self.served.push(id);
        }
        let bytes = job.variables.len();
        seat.bytes += bytes;
        seat.jobs.push(job);
        match &mut seat.waiter.sink {
            Sink::Outbox { fill, .. } => {
                fill.add(1, bytes as u64);
                Line::Stay
            }
            Sink::Stream(stream) => {
                stream.given += 1;
                // A few at a time: each handing over costs its worker a wake-up, and the others must not go without.
                if seat.jobs.len() % STREAM_RUN == 0 { Line::Rotate } else { Line::Stay }
            }
            Sink::Poll { .. } | Sink::Inbox { .. } => Line::Stay,
        }
    }

    /// Everybody who is answered by this tick; polls wait no longer. While there may be jobs that are not at hand, those without patience
    /// wait one more tick.
    pub(crate) fn handed(&mut self, is_dry: bool) -> Vec<Handed> {
        let mut handed = Vec::new();
        let served = std::mem::take(&mut self.served);
        let seats = &self.seats;
        let waits = |id: &WaiterId| matches!(seats.get(id).map(|seat| &seat.waiter.sink), Some(Sink::Poll { .. })) && is_dry;
        let (waiting, impatient): (Vec<_>, Vec<_>) = std::mem::take(&mut self.impatient).into_iter().partition(waits);
        self.impatient = waiting;
        for id in served.into_iter().chain(impatient) {
            let Some(seat) = self.seats.get_mut(&id) else { continue };
            let jobs = std::mem::take(&mut seat.jobs);
            seat.bytes = 0;
            match &seat.waiter.sink {
                Sink::Stream(stream) => handed.push(Handed::Stream(stream.jobs.clone(), id, jobs)),
                Sink::Outbox { .. } => handed.push(Handed::Outbox(jobs)),
                Sink::Poll { .. } | Sink::Inbox { .. } => {
                    handed.extend(self.seats.remove(&id).map(|seat| Handed::Waiter(seat.waiter, jobs)));
                }
            }
        }
        handed
    }

    /// A tick was undone: a stream never got these.
    pub(crate) fn take_back(&mut self, id: WaiterId, count: usize) {
        if let Some(Seat { waiter: Waiter { sink: Sink::Stream(stream), .. }, .. }) = self.seats.get_mut(&id) {
            stream.given -= count as u64;
        }
    }

    /// What an open tick gave before it was undone. Requests of the inbox are read again and wait no longer.
    pub(crate) fn undo(&mut self) {
        for id in std::mem::take(&mut self.served) {
            let Some(seat) = self.seats.get_mut(&id) else { continue };
            let count = std::mem::take(&mut seat.jobs).len();
            seat.bytes = 0;
            self.take_back(id, count);
        }
        self.forget_inbox();
    }

    /// Requests of the inbox wait no longer: they will be read again.
    fn forget_inbox(&mut self) {
        let seats = &mut self.seats;
        self.impatient.retain(|id| match seats.get(id).map(|seat| &seat.waiter.sink) {
            Some(Sink::Inbox { .. }) => seats.remove(id).is_none(),
            Some(Sink::Poll { .. } | Sink::Stream(_) | Sink::Outbox { .. }) => true,
            None => false,
        });
    }

    pub(crate) fn is_gone(&self, id: WaiterId) -> bool {
        self.seats.get(&id).is_none_or(|seat| seat.waiter.is_gone())
    }

    pub(crate) fn sweep(&mut self) {
        self.seats.retain(|_, seat| !seat.waiter.is_gone());
    }
}

/// Gives jobs to their worker; those it can no longer take come back.
pub(crate) fn deliver(handed: Handed) -> Vec<Released> {
    match handed {
        Handed::Waiter(Waiter { sink: Sink::Poll { answer, .. }, .. }, jobs) => match answer.send(jobs) {
            Ok(()) => Vec::new(),
            Err(jobs) => released(&jobs),
        },
        Handed::Waiter(..) | Handed::Outbox(_) => Vec::new(),
        Handed::Stream(sender, _, jobs) => {
            let lost: Vec<_> = jobs.into_iter().filter_map(|job| sender.try_send(job).err().map(|e| e.into_inner())).collect();
            released(&lost)
        }
    }
}

/// The leases of these jobs, to be given back.
pub(crate) fn released(jobs: &[ActivatedJob]) -> Vec<Released> {
    jobs.iter().map(|job| Released { job: job.key, deadline: job.deadline, lease: job.lease }).collect()
}
