//! Operations over many that cannot go on: what they are about cannot be found, or what they would write is not taken.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use store::row::{Batch, BatchState};
use store::{DueKind, Error};

use super::super::LOOK_AGAIN_EVERY;
use super::super::tick::Tick;
use super::Partition;

/// An operation that could not go on this often has failed, even if the store says that it will pass.
const TRIES_MAX: u32 = 8;

/// By operation. It outlives the rows in memory, which go whenever the store was away, and is forgotten with this server: the next one
/// may have more luck.
#[derive(Debug, Default)]
pub(in super::super) struct Troubles(FxHashMap<u64, Trouble>);

#[derive(Debug, Clone)]
pub(in super::super) struct Trouble {
    tries: u32,
    reason: Arc<str>,
}

impl Troubles {
    /// One more time; an error that lasts is the last one.
    pub(super) fn add(&mut self, batch: u64, error: &Error) -> Trouble {
        let tries = self.0.get(&batch).map_or(0, |trouble| trouble.tries);
        let tries = if error.passes() { tries + 1 } else { TRIES_MAX };
        let trouble = Trouble { tries, reason: error.to_string().into() };
        self.0.insert(batch, trouble.clone());
        trouble
    }

    /// It is not to be tried again.
    pub(in super::super) fn give_up(&mut self, batch: u64, reason: &str) {
        self.0.insert(batch, Trouble { tries: TRIES_MAX, reason: reason.into() });
    }

    pub(in super::super) fn given_up(&self, batch: u64) -> Option<Trouble> {
        self.0.get(&batch).filter(|trouble| trouble.is_final()).cloned()
    }

    pub(super) fn is_over(&mut self, batch: u64) {
        self.0.remove(&batch);
    }
}

impl Trouble {
    fn is_final(&self) -> bool {
        TRIES_MAX <= self.tries
    }
}

impl Partition {
    /// It is tried again a little later, or has failed. What was found of one that has failed is marked like that of a cancelled one; if
    /// even that cannot be, it stays as it is.
    pub(super) fn batch_in_trouble(&mut self, tick: &mut Tick, row: &Batch, trouble: &Trouble) {
        let (key, now) = (row.key, tick.now);
        let again = now + LOOK_AGAIN_EVERY;
        if !trouble.is_final() {
            self.batches.change(&key, tick.number, |row| row.due = Some(again));
            tick.unit.woken.push((again, (key, DueKind::Batch)));
            return;
        }
        self.troubles.is_over(key);
        match row.state {
            BatchState::Created | BatchState::Active => {
                tracing::warn!(key, reason = &*trouble.reason, "a batch operation has failed");
                self.batches.change(&key, tick.number, |row| {
                    (row.state, row.ended, row.due, row.after) = (BatchState::Failed, Some(now), Some(now), None);
                    row.error = Some(trouble.reason.clone());
                });
                tick.unit.woken.push((now, (key, DueKind::Batch)));
            }
            BatchState::Canceled | BatchState::Failed | BatchState::Suspended | BatchState::Completed => {
                self.batches.change(&key, tick.number, |row| row.due = None);
            }
        }
    }
}
