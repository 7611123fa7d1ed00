//! How many connections there may be, and which one makes room for the next.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::activity::Activity;

/// The places of one edge. Cheap to clone.
#[derive(Clone)]
pub(super) struct Places(Arc<Inner>);

struct Inner {
    free: Arc<Semaphore>,
    max: u32,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    next: u64,
    connections: HashMap<u64, Activity>,
}

/// A place that is taken until this is dropped.
pub(super) struct Place {
    seat: u64,
    places: Places,
    _permit: OwnedSemaphorePermit,
}

impl Places {
    pub(super) fn new(max: usize) -> Self {
        let max = u32::try_from(max.min(Semaphore::MAX_PERMITS)).unwrap_or(u32::MAX);
        Self(Arc::new(Inner { free: Arc::new(Semaphore::new(max as usize)), max, open: Mutex::default() }))
    }

    /// A place for a new connection: a free one, or that of the connection that has been silent longest. `None` while all are busy.
    pub(super) async fn take(&self, activity: &Activity) -> Option<Place> {
        let permit = match self.0.free.clone().try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) if self.close_quietest() => self.0.free.clone().acquire_owned().await.ok()?,
            Err(_) => return None,
        };
        let mut open = self.open();
        open.next += 1;
        let seat = open.next;
        open.connections.insert(seat, activity.clone());
        drop(open);
        Some(Place { seat, places: self.clone(), _permit: permit })
    }

    /// Returns when no connection is open.
    pub(super) async fn all_free(&self) {
        // An error would mean that the semaphore was closed, which nobody does.
        let _all = self.0.free.acquire_many(self.0.max).await;
    }

    /// Those that never asked anything go first: an honest client asks soon after it connects.
    fn close_quietest(&self) -> bool {
        let mut open = self.open();
        let closable = open.connections.iter().filter(|(_, activity)| activity.is_served());
        let quiet = closable.filter_map(|(seat, activity)| Some(((0 < activity.begun(), activity.quiet_since()?), *seat)));
        let Some(activity) = quiet.min().and_then(|(_, seat)| open.connections.remove(&seat)) else { return false };
        activity.close();
        true
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.open().connections.remove(&self.seat);
    }
}
