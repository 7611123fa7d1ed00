//! The write-ahead log is carried over into the database file, on the writer's thread, once those who waited are answered.
//!
//! It begins anew by itself with the first write that finds all of it carried over and nobody reading from it. Reads that overlap
//! each other keep it from that, so past a bound they are held back for a moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rusqlite::wal::CheckpointMode;
use rusqlite::{Connection, MAIN_DB};

use crate::failure::Failure;
use crate::gate::Gate;

/// How large the log gets, in pages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// Carried over whenever it has grown by so much.
    pub(crate) step: usize,
    /// From here on reads are held back for it to begin anew.
    pub(crate) max: usize,
}

impl Default for Sizes {
    /// 16 MB and 256 MB. A search may take ten seconds, in each of which a busy server writes some twenty megabytes: one that is not too
    /// slow is not made to begin again.
    fn default() -> Self {
        Self { step: 4_000, max: 64_000 }
    }
}

pub(crate) struct Log {
    sizes: Sizes,
    gate: Arc<Gate>,
    /// How long it was after the last commit.
    pages: Arc<AtomicUsize>,
    /// The length at which it is carried over next.
    due: usize,
    seen: usize,
}

impl Log {
    pub(crate) fn of(connection: &mut Connection, sizes: Sizes, gate: Arc<Gate>) -> Result<Self, Failure> {
        let pages = Arc::new(AtomicUsize::new(0));
        let told = pages.clone();
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        connection.wal_hook(Some(move |_: &mut _, pages| {
            told.store(usize::try_from(pages).unwrap_or_default(), Ordering::Relaxed);
            Ok(())
        }))?;
        Ok(Self { sizes, gate, pages, due: sizes.step, seen: 0 })
    }

    /// Asked after every commit.
    pub(crate) fn tend(&mut self, connection: &Connection) {
        let pages = self.pages.load(Ordering::Relaxed);
        if pages < self.seen {
            self.due = self.sizes.step;
        }
        self.seen = pages;
        if pages < self.due {
            return;
        }
        self.due = pages + self.sizes.step;
        // Whoever reads once all is carried over reads from the file, so that the next write may begin the log anew.
        let _nobody_reads = (self.sizes.max <= pages).then(|| self.gate.close());
        if let Err(error) = connection.wal_checkpoint_v2(Some(MAIN_DB), CheckpointMode::PASSIVE) {
            // Everything is in the log, so nothing is lost, and the next attempt begins where this one ended.
            tracing::warn!(%error, "SQLite's log cannot be carried over into the database file and keeps growing");
        }
    }
}
