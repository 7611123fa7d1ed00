//! What was evaluated so far. Functions that FEEL calls write to it too, hence the lock.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Evaluated, REPORTED_MAX};

#[derive(Clone, Default)]
pub(super) struct Report(Arc<Mutex<Vec<Evaluated>>>);

impl Report {
    pub(super) fn add(&self, evaluated: Evaluated) {
        let mut all = self.all();
        if all.len() < REPORTED_MAX {
            all.push(evaluated);
        }
    }

    /// Reports once more what was evaluated before.
    pub(super) fn repeat(&self, range: Range<usize>) {
        let mut all = self.all();
        if all.len() + range.len() <= REPORTED_MAX && range.end <= all.len() {
            all.extend_from_within(range);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.all().len()
    }

    pub(super) fn take(&self) -> Vec<Evaluated> {
        std::mem::take(&mut self.all())
    }

    fn all(&self) -> MutexGuard<'_, Vec<Evaluated>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
