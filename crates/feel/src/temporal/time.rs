//! A time of day, with or without a zone.

use super::{NANOS_PER_DAY, NANOS_PER_SECOND, Zone};

/// A time of day to the nanosecond.
#[derive(Clone, Debug)]
pub struct Time {
    nanos: u64,
    zone: Zone,
}

impl Time {
    /// A time of day, if it exists.
    pub fn new(hour: u8, minute: u8, second: u8, nano: u32, zone: Zone) -> Option<Time> {
        if 23 < hour || 59 < minute || 59 < second || 999_999_999 < nano {
            return None;
        }
        let seconds = u64::from(hour) * 3_600 + u64::from(minute) * 60 + u64::from(second);
        Some(Time { nanos: seconds * 1_000_000_000 + u64::from(nano), zone })
    }

    /// The start of the day.
    pub fn midnight(zone: Zone) -> Time {
        Time { nanos: 0, zone }
    }

    /// The time of day so many nanoseconds after midnight, counted around the clock.
    pub fn from_nanos_of_day(nanos: i128, zone: Zone) -> Time {
        let nanos = u64::try_from(nanos.rem_euclid(NANOS_PER_DAY)).expect("a remainder of a day");
        Time { nanos, zone }
    }

    /// Nanoseconds since midnight.
    pub fn nanos_of_day(&self) -> i128 {
        i128::from(self.nanos)
    }

    /// Nanoseconds since midnight in UTC; before or beyond the day where the offset says so.
    pub(crate) fn nanos_in_utc(&self) -> i128 {
        self.nanos_of_day() - i128::from(self.zone.offset_seconds().unwrap_or(0)) * NANOS_PER_SECOND
    }

    /// 0 to 23.
    pub fn hour(&self) -> u8 {
        u8::try_from(self.nanos / 3_600_000_000_000).expect("hours of a day")
    }

    /// 0 to 59.
    pub fn minute(&self) -> u8 {
        u8::try_from(self.nanos / 60_000_000_000 % 60).expect("minutes of an hour")
    }

    /// 0 to 59.
    pub fn second(&self) -> u8 {
        u8::try_from(self.nanos / 1_000_000_000 % 60).expect("seconds of a minute")
    }

    /// The part below a second.
    pub fn nano(&self) -> u32 {
        u32::try_from(self.nanos % 1_000_000_000).expect("nanoseconds of a second")
    }

    /// The zone.
    pub fn zone(&self) -> &Zone {
        &self.zone
    }

    /// The same reading of the clock in another zone.
    pub fn with_zone(&self, zone: Zone) -> Time {
        Time { nanos: self.nanos, zone }
    }
}
