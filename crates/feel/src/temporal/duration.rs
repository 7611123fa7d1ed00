//! The two kinds of duration: counted in nanoseconds, and counted in months.

use super::NANOS_PER_SECOND;

/// A length of time in days, hours, minutes and seconds.
#[derive(Clone, Copy)]
#[repr(Rust, packed(8))]
pub struct DaysTimeDuration {
    nanos: i128,
}

/// A length of time in years and months.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct YearsMonthsDuration {
    months: i64,
}

impl DaysTimeDuration {
    /// A duration of so many nanoseconds.
    pub fn from_nanos(nanos: i128) -> Option<DaysTimeDuration> {
        let max = i128::from(i64::MAX) * NANOS_PER_SECOND;
        (-max..=max).contains(&nanos).then_some(DaysTimeDuration { nanos })
    }

    /// A duration of so many seconds.
    pub fn from_seconds(seconds: i64) -> DaysTimeDuration {
        DaysTimeDuration { nanos: i128::from(seconds) * NANOS_PER_SECOND }
    }

    /// The whole length.
    pub fn nanos(self) -> i128 {
        self.nanos
    }

    /// The whole length in milliseconds, towards zero.
    pub fn millis(self) -> i128 {
        self.nanos() / 1_000_000
    }

    /// Seconds, towards minus infinity as the clock counts them.
    fn whole_seconds(self) -> i128 {
        self.nanos().div_euclid(NANOS_PER_SECOND)
    }

    /// Whole days; negative for negative durations, as all parts are.
    pub fn days(self) -> i64 {
        part(self.whole_seconds() / 86_400)
    }

    /// Hours beyond the days.
    pub fn hours(self) -> i64 {
        part(self.whole_seconds() / 3_600 % 24)
    }

    /// Minutes beyond the hours.
    pub fn minutes(self) -> i64 {
        part(self.whole_seconds() / 60 % 60)
    }

    /// Seconds beyond the minutes.
    pub fn seconds(self) -> i64 {
        part(self.whole_seconds() % 60)
    }
}

fn part(value: i128) -> i64 {
    i64::try_from(value).expect("seconds of a duration fit 64 bits")
}

impl PartialEq for DaysTimeDuration {
    fn eq(&self, other: &DaysTimeDuration) -> bool {
        self.nanos() == other.nanos()
    }
}

impl Eq for DaysTimeDuration {}

impl PartialOrd for DaysTimeDuration {
    fn partial_cmp(&self, other: &DaysTimeDuration) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for DaysTimeDuration {
    fn cmp(&self, other: &DaysTimeDuration) -> std::cmp::Ordering {
        self.nanos().cmp(&other.nanos())
    }
}

impl std::hash::Hash for DaysTimeDuration {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.nanos().hash(state);
    }
}

impl std::fmt::Debug for DaysTimeDuration {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, out)
    }
}

impl YearsMonthsDuration {
    /// Largest length in months, as many as there are in all the years a date may have.
    pub const MONTHS_MAX: i64 = 12 * (i32::MAX as i64);

    /// A duration of so many months.
    pub fn from_months(months: i64) -> Option<YearsMonthsDuration> {
        (-Self::MONTHS_MAX..=Self::MONTHS_MAX).contains(&months).then_some(YearsMonthsDuration { months })
    }

    /// The whole length in months.
    pub fn total_months(self) -> i64 {
        self.months
    }

    /// Whole years, towards zero.
    pub fn years(self) -> i64 {
        self.months / 12
    }

    /// Months beyond the years, with the sign of the whole.
    pub fn months(self) -> i64 {
        self.months % 12
    }
}
