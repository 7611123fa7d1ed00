//! Adding durations to points in time, and the lengths between them.

use super::{Date, DateTime, DaysTimeDuration, NANOS_PER_DAY, NANOS_PER_SECOND, Time, YearsMonthsDuration};

impl Date {
    /// The day reached after a duration that begins at the start of this one.
    pub fn after(self, duration: DaysTimeDuration) -> Option<Date> {
        let days = duration.nanos().div_euclid(NANOS_PER_DAY);
        self.add_days(i64::try_from(days).ok()?)
    }

    /// From the start of `other` to the start of `self`.
    pub fn since(self, other: Date) -> Option<DaysTimeDuration> {
        DaysTimeDuration::from_nanos(i128::from(self.epoch_days() - other.epoch_days()) * NANOS_PER_DAY)
    }
}

impl Time {
    /// The reading of the clock after a duration, around the clock.
    pub fn after(&self, duration: DaysTimeDuration) -> Time {
        let nanos = self.nanos_of_day() + duration.nanos() % NANOS_PER_DAY;
        Time::from_nanos_of_day(nanos, self.zone().clone())
    }
}

impl DateTime {
    /// So much later. In a named zone this counts elapsed time, not readings of the clock.
    pub fn after(&self, duration: DaysTimeDuration) -> Option<DateTime> {
        match self.zone().name() {
            Some(_) => DateTime::from_instant(self.instant_nanos() + duration.nanos(), self.zone()),
            None => DateTime::from_local(self.local_nanos() + duration.nanos(), self.zone().clone()),
        }
    }

    /// The same reading of the clock so many months later.
    pub fn add_months(&self, duration: YearsMonthsDuration) -> Option<DateTime> {
        let date = self.date().add_months(duration.total_months())?;
        Some(DateTime::new(date, self.time().clone()))
    }

    /// From `other` to `self`.
    pub fn since(&self, other: &DateTime) -> Option<DaysTimeDuration> {
        DaysTimeDuration::from_nanos(self.instant_nanos() - other.instant_nanos())
    }

    /// The same instant in another zone.
    pub fn in_zone(&self, zone: &super::Zone) -> Option<DateTime> {
        DateTime::from_instant(self.instant_nanos(), zone)
    }

    /// Seconds since 1970-01-01 00:00 UTC.
    pub fn epoch_seconds(&self) -> i128 {
        self.instant_nanos().div_euclid(NANOS_PER_SECOND)
    }
}
