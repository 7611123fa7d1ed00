//! Reads pass here. It is closed for the moments in which the write-ahead log is begun anew, since that needs a time at which nobody
//! reads, and reads that overlap each other never leave one by themselves.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

#[derive(Default)]
pub(crate) struct Gate {
    passing: Mutex<Passing>,
    changed: Condvar,
    /// Apart from the lock, because reads under way ask often.
    closed: AtomicBool,
}

#[derive(Default)]
struct Passing {
    reading: usize,
    closed: bool,
}

impl Gate {
    /// Waits until it is open. Whoever passed reads until this is dropped.
    pub(crate) fn pass(&self) -> Pass<'_> {
        let mut passing = self.lock();
        while passing.closed {
            passing = self.changed.wait(passing).unwrap_or_else(PoisonError::into_inner);
        }
        passing.reading += 1;
        Pass(self)
    }

    /// Lets nobody through and waits until all who read have ended, until this is dropped.
    pub(crate) fn close(&self) -> Closed<'_> {
        let mut passing = self.lock();
        passing.closed = true;
        self.closed.store(true, Ordering::Relaxed);
        while 0 < passing.reading {
            passing = self.changed.wait(passing).unwrap_or_else(PoisonError::into_inner);
        }
        Closed(self)
    }

    /// Whether somebody waits for those who read: one that takes long is to begin again later.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, Passing> {
        self.passing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) struct Pass<'a>(&'a Gate);

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        self.0.lock().reading -= 1;
        self.0.changed.notify_all();
    }
}

pub(crate) struct Closed<'a>(&'a Gate);

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        self.0.lock().closed = false;
        self.0.closed.store(false, Ordering::Relaxed);
        self.0.changed.notify_all();
    }
}
