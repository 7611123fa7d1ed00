//! Schedules, and what has happened in queues.

use queue::stats::{Counts, Durations, Minute, Recent, Stats};

use super::bytes::{Reader, Stored, Writer, record};
use crate::Error;
use crate::log::PutSchedule;
use crate::row::{LastOccurrence, Schedule};

record!(Schedule {
    key,
    tenant,
    reference,
    action,
    cron,
    time_zone,
    execution,
    paused,
    armed,
    number,
    due,
    created,
    changed,
    changed_by,
    last
});
record!(LastOccurrence { at, execution, refused });
record!(PutSchedule { tenant, reference, action, cron, time_zone, execution, paused });
record!(Stats { totals, minutes, waits, runs, progressed, stuck_since });
record!(Counts { enqueued, started, completed, failed, timed_out, cancelled });
record!(Minute { minute, counts });
record!(Recent { since, now, before });

impl Stored for Durations {
    fn put(&self, to: &mut Writer) {
        self.0.put(to);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        Ok(Self(Stored::take(from)?))
    }
}
