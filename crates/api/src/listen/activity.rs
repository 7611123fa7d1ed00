//! What a connection is busy with: requests, from their heads to the ends of their answers.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::task::AbortHandle;
use tokio::time::Instant;

/// The requests of one connection: how many there were, how many are being answered, and since when none is.
#[derive(Clone)]
pub(super) struct Activity(Arc<Counts>);

struct Counts {
    opened: Instant,
    begun: AtomicUsize,
    active: AtomicUsize,
    /// Milliseconds from `opened` to the end of the last request.
    quiet_from: AtomicU64,
    /// Who serves the connection; absent for its first moment.
    task: OnceLock<AbortHandle>,
}

/// Counts as one request until it is dropped.
pub(super) struct Active(Activity);

impl Activity {
    pub(super) fn new() -> Self {
        let counts = Counts {
            opened: Instant::now(),
            begun: AtomicUsize::new(0),
            active: AtomicUsize::new(0),
            quiet_from: AtomicU64::new(0),
            task: OnceLock::new(),
        };
        Self(Arc::new(counts))
    }

    pub(super) fn served_by(&self, task: AbortHandle) {
        // Set once, by whoever accepted the connection.
        let _ = self.0.task.set(task);
    }

    /// Ends the connection, whatever it is doing.
    pub(super) fn close(&self) {
        if let Some(task) = self.0.task.get() {
            task.abort();
        }
    }

    pub(super) fn begun(&self) -> usize {
        self.0.begun.load(Ordering::Relaxed)
    }

    pub(super) fn is_quiet(&self) -> bool {
        self.0.active.load(Ordering::Relaxed) == 0
    }

    /// Since when nothing is asked; `None` while something is.
    pub(super) fn quiet_since(&self) -> Option<Instant> {
        let quiet_from = Duration::from_millis(self.0.quiet_from.load(Ordering::Relaxed));
        self.is_quiet().then(|| self.0.opened + quiet_from)
    }

    /// Whether it can be closed yet.
    pub(super) fn is_served(&self) -> bool {
        self.0.task.get().is_some()
    }

    /// Returns when nothing was asked for so long.
    pub(super) async fn quiet_for(&self, patience: Duration) {
        loop {
            let end = self.quiet_since().unwrap_or_else(Instant::now) + patience;
            if end <= Instant::now() {
                return;
            }
            tokio::time::sleep_until(end).await;
        }
    }

    /// Returns when nothing is being asked at the end of such a time.
    pub(super) async fn still_quiet_after(&self, patience: Duration) {
        loop {
            tokio::time::sleep(patience).await;
            if self.is_quiet() {
                return;
            }
        }
    }

    pub(super) fn begin(&self) -> Active {
        self.0.begun.fetch_add(1, Ordering::Relaxed);
        self.0.active.fetch_add(1, Ordering::Relaxed);
        Active(self.clone())
    }
}

impl Active {
    pub(super) fn activity(&self) -> &Activity {
        &self.0
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        let counts = &self.0.0;
        counts.quiet_from.store(counts.opened.elapsed().as_millis() as u64, Ordering::Relaxed);
        counts.active.fetch_sub(1, Ordering::Relaxed);
    }
}
