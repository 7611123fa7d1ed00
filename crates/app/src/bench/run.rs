//! What starters and workers share: how much may be under way, what happened, how long it took.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

use tokio::sync::Semaphore;

use super::histogram::Histogram;
use super::subject::Subject;

#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Instances that may be running: workers fall behind this far before starters wait for them.
    pub(super) running: usize,
    /// Without any, an instance is done with once it is created.
    pub(super) workers: u32,
    /// Instances per second; as many as go if none.
    pub(super) rate: Option<u32>,
}

/// An instance under way.
#[derive(Debug)]
struct Progress {
    /// When it was begun, in microseconds of the run.
    begun: u64,
    /// Jobs completed and messages published.
    steps: u32,
    /// Whether a worker has had a job of it.
    activated: bool,
}

#[derive(Debug)]
pub(super) struct Run {
    pub(super) subject: Subject,
    pub(super) limits: Limits,
    epoch: Instant,
    /// Room for instances that run.
    room: Semaphore,
    /// How many instances the starters have taken on.
    taken: AtomicU64,
    /// By their numbers.
    underway: Mutex<HashMap<u64, Progress>>,
    created: AtomicU64,
    completed: AtomicU64,
    stopping: AtomicBool,
    /// Instances begun from here on count, in microseconds of the run.
    counted_from: AtomicU64,
    times: Mutex<Times>,
    failures: Mutex<Option<(u64, String)>>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Times {
    pub(super) create: Histogram,
    pub(super) activation: Histogram,
    pub(super) instance: Histogram,
}

impl Run {
    pub(super) fn new(subject: Subject, limits: Limits) -> Self {
        Self {
            subject,
            limits,
            epoch: Instant::now(),
            room: Semaphore::new(limits.running),
            taken: AtomicU64::new(0),
            underway: Mutex::default(),
            created: AtomicU64::new(0),
            completed: AtomicU64::new(0),
            stopping: AtomicBool::new(false),
            counted_from: AtomicU64::new(u64::MAX),
            times: Mutex::default(),
            failures: Mutex::default(),
        }
    }

    /// Waits until another instance may be begun and gives its number. `None` once the run ends.
    ///
    /// At a chosen rate an instance that has to wait for a free starter or for room was due before: its lateness counts.
    pub(super) async fn next(&self) -> Option<u64> {
        let number = self.taken.fetch_add(1, Relaxed);
        let due = self.limits.rate.map(|rate| number * 1_000_000 / u64::from(rate));
        let on_time = due.is_some_and(|due| self.now() <= due);
        if let Some(due) = due {
            tokio::time::sleep_until((self.epoch + std::time::Duration::from_micros(due)).into()).await;
        }
        let woken = self.now();
        self.room.acquire().await.ok()?.forget();
        if self.is_stopping() {
            return None;
        }
        let begun = match due {
            // The timer is coarse; that is not the server's fault.
            Some(_) if on_time => woken,
            Some(due) => due,
            None => self.now(),
        };
        lock(&self.underway).insert(number, Progress { begun, steps: 0, activated: false });
        Some(number)
    }

    /// Says that the server has answered. A quick worker may have ended the instance before that.
    pub(super) fn created(&self, number: u64, begun: u64) {
        self.created.fetch_add(1, Relaxed);
        self.record(begun, |times| &mut times.create);
        if self.limits.workers == 0 {
            lock(&self.underway).remove(&number);
            self.completed_one(begun);
        }
    }

    /// When the instance was begun, if it is under way.
    pub(super) fn begun(&self, number: u64) -> Option<u64> {
        lock(&self.underway).get(&number).map(|progress| progress.begun)
    }

    /// A worker has a job of the instance.
    pub(super) fn activated(&self, number: u64) {
        let first = match lock(&self.underway).get_mut(&number) {
            Some(progress) if !progress.activated => {
                progress.activated = true;
                Some(progress.begun)
            }
            _ => None,
        };
        if let Some(begun) = first {
            self.record(begun, |times| &mut times.activation);
        }
    }

    /// A job of the instance is completed, or a message published for it.
    pub(super) fn stepped(&self, number: u64) {
        let mut underway = lock(&self.underway);
        let Some(progress) = underway.get_mut(&number) else { return };
        progress.steps += 1;
        if progress.steps == self.subject.steps {
            let begun = progress.begun;
            underway.remove(&number);
            self.completed_one(begun);
        }
    }

    /// How many steps the instance has taken so far.
    pub(super) fn steps(&self, number: u64) -> u32 {
        lock(&self.underway).get(&number).map_or(0, |progress| progress.steps)
    }

    fn completed_one(&self, begun: u64) {
        self.completed.fetch_add(1, Relaxed);
        self.room.add_permits(1);
        self.record(begun, |times| &mut times.instance);
    }

    /// An instance that was not created leaves its room to another.
    pub(super) fn not_created(&self, number: u64, reason: String) {
        lock(&self.underway).remove(&number);
        self.room.add_permits(1);
        self.failed(reason);
    }

    pub(super) fn failed(&self, reason: String) {
        let mut failures = lock(&self.failures);
        failures.get_or_insert((0, reason)).0 += 1;
    }

    /// From now on times count.
    pub(super) fn count(&self) {
        self.counted_from.store(self.now(), Relaxed);
    }

    /// Nothing more is begun, and times count no longer.
    pub(super) fn stop(&self) {
        self.counted_from.store(u64::MAX, Relaxed);
        self.stopping.store(true, Relaxed);
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Relaxed)
    }

    pub(super) fn completed(&self) -> u64 {
        self.completed.load(Relaxed)
    }

    /// Created and not completed.
    pub(super) fn running(&self) -> u64 {
        self.created.load(Relaxed).saturating_sub(self.completed())
    }

    /// How many requests failed, and why the first did.
    pub(super) fn failures(&self) -> Option<(u64, String)> {
        lock(&self.failures).clone()
    }

    pub(super) fn times(&self) -> Times {
        lock(&self.times).clone()
    }

    fn now(&self) -> u64 {
        self.epoch.elapsed().as_micros() as u64
    }

    fn record(&self, begun: u64, which: impl FnOnce(&mut Times) -> &mut Histogram) {
        if self.counted_from.load(Relaxed) <= begun {
            which(&mut lock(&self.times)).record(self.now().saturating_sub(begun));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("nothing panics while holding it")
}
