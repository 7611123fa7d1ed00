//! The time an evaluation takes place at, given by the caller.

use crate::temporal::{Date, DateTime, Zone};

/// What `now()` and `today()` read. The crate has no clock of its own.
#[derive(Clone, Debug)]
pub struct Now {
    epoch_millis: i64,
    zone: Zone,
    seed: u64,
}

impl Now {
    /// An instant in milliseconds since 1970-01-01 00:00 UTC, seen in UTC.
    pub fn utc(epoch_millis: i64) -> Now {
        Now { epoch_millis, zone: Zone::UTC, seed: 0 }
    }

    /// An instant seen in a zone: a name of the tz database, `Z`, or an offset such as `+02:00`. Nothing if there is
    /// no such zone.
    pub fn in_zone(epoch_millis: i64, zone: &str) -> Option<Now> {
        Some(Now { epoch_millis, zone: Zone::named(zone)?, seed: 0 })
    }

    /// The same instant with a seed for `random number()` and `uuid()`, which without one depend on the instant only.
    pub fn seeded(self, seed: u64) -> Now {
        Now { seed, ..self }
    }

    /// The instant in milliseconds since 1970-01-01 00:00 UTC.
    pub fn epoch_millis(&self) -> i64 {
        self.epoch_millis
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    pub(crate) fn date_time(&self) -> Option<DateTime> {
        DateTime::from_instant(i128::from(self.epoch_millis) * 1_000_000, &self.zone)
    }

    pub(crate) fn date(&self) -> Option<Date> {
        self.date_time().map(|date_time| date_time.date())
    }
}
