//! A date with a time of day.

use super::{Date, NANOS_PER_DAY, NANOS_PER_SECOND, Time, Zone};

/// A date and a time of day; with a zone it names an instant.
#[derive(Clone, Debug)]
pub struct DateTime {
    date: Date,
    time: Time,
}

impl DateTime {
    /// A date at a time. In a named zone the offset is looked up; a reading its clocks skip moves forward.
    pub fn new(date: Date, time: Time) -> DateTime {
        let Zone::Named { .. } = time.zone() else {
            return DateTime { date, time };
        };
        let naive = DateTime { date, time };
        let seconds = clamp(naive.local_nanos().div_euclid(NANOS_PER_SECOND));
        let zone = naive.time.zone().at_local(seconds);
        let offset = zone.offset_seconds().unwrap_or(0);
        let instant = naive.local_nanos() - i128::from(offset) * NANOS_PER_SECOND;
        DateTime::from_instant(instant, &zone).unwrap_or(naive)
    }

    /// The date and time the clocks of `zone` show so many nanoseconds after 1970-01-01 00:00 UTC.
    pub fn from_instant(nanos: i128, zone: &Zone) -> Option<DateTime> {
        let zone = zone.at_instant(clamp(nanos.div_euclid(NANOS_PER_SECOND)));
        let offset = i128::from(zone.offset_seconds().unwrap_or(0));
        DateTime::from_local(nanos + offset * NANOS_PER_SECOND, zone)
    }

    /// The date and time so many nanoseconds of the clock after 1970-01-01 00:00.
    pub(crate) fn from_local(nanos: i128, zone: Zone) -> Option<DateTime> {
        let days = i64::try_from(nanos.div_euclid(NANOS_PER_DAY)).ok()?;
        let date = Date::from_epoch_days(days)?;
        Some(DateTime { date, time: Time::from_nanos_of_day(nanos, zone) })
    }

    /// The date.
    pub fn date(&self) -> Date {
        self.date
    }

    /// The time of day.
    pub fn time(&self) -> &Time {
        &self.time
    }

    /// The zone.
    pub fn zone(&self) -> &Zone {
        self.time.zone()
    }

    /// Nanoseconds the clock has counted since 1970-01-01 00:00.
    pub(crate) fn local_nanos(&self) -> i128 {
        i128::from(self.date.epoch_days()) * NANOS_PER_DAY + self.time.nanos_of_day()
    }

    /// Nanoseconds since 1970-01-01 00:00 UTC; without a zone the clock is taken to show UTC.
    pub fn instant_nanos(&self) -> i128 {
        let offset = i128::from(self.zone().offset_seconds().unwrap_or(0));
        self.local_nanos() - offset * NANOS_PER_SECOND
    }

    /// Milliseconds since 1970-01-01 00:00 UTC, if a zone says which instant this is.
    pub fn epoch_millis(&self) -> Option<i64> {
        self.zone().offset_seconds()?;
        i64::try_from(self.instant_nanos().div_euclid(1_000_000)).ok()
    }
}

fn clamp(seconds: i128) -> i64 {
    i64::try_from(seconds).unwrap_or(if seconds < 0 { i64::MIN } else { i64::MAX })
}
