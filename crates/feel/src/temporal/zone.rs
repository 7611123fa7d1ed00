//! Where a time applies: nowhere in particular, at an offset from UTC, or in a named zone.

use jiff::Timestamp;
use jiff::civil;
use jiff::tz::{Offset, TimeZone};
use std::fmt::{self, Formatter};

/// Largest offset from UTC in seconds: 18 hours.
pub(crate) const OFFSET_SECONDS_MAX: i32 = 18 * 3_600;
/// Two instants half a year apart, 2025-01-01 and 2025-07-01: one of them is outside daylight saving everywhere.
const JANUARY: i64 = 1_735_689_600;
const JULY: i64 = 1_751_328_000;

/// The zone of a time or date-time.
#[derive(Clone, PartialEq, Eq)]
pub enum Zone {
    /// None given.
    Local,
    /// Seconds east of UTC.
    Offset(i32),
    /// A zone of the tz database, and the offset that applies.
    Named {
        /// The rules.
        zone: TimeZone,
        /// Seconds east of UTC.
        offset: i32,
    },
}

impl Zone {
    /// UTC.
    pub const UTC: Zone = Zone::Offset(0);

    /// An offset, if within 18 hours.
    pub fn offset(seconds: i32) -> Option<Zone> {
        (seconds.unsigned_abs() <= OFFSET_SECONDS_MAX.unsigned_abs()).then_some(Zone::Offset(seconds))
    }

    /// A zone by its name, with its standard offset; also `Z`, `+02:00` and `UTC+2` are understood.
    pub fn named(name: &str) -> Option<Zone> {
        if name == "Z" {
            return Some(Zone::UTC);
        }
        if name.starts_with(['+', '-']) {
            return super::parse::offset(name).and_then(Zone::offset);
        }
        // Abbreviations that stand for an offset only are not zones.
        if matches!(name, "EST" | "MST" | "HST") {
            return None;
        }
        let zone = TimeZone::get(name).ok()?;
        // The tz database is searched without regard to case; a zone is written one way only.
        if zone.iana_name() != Some(name) {
            return None;
        }
        let offset = standard_offset(&zone);
        Some(Zone::Named { zone, offset })
    }

    /// Seconds east of UTC, if known.
    pub fn offset_seconds(&self) -> Option<i32> {
        match self {
            Zone::Local => None,
            Zone::Offset(offset) | Zone::Named { offset, .. } => Some(*offset),
        }
    }

    /// Whether no zone is given.
    pub fn is_local(&self) -> bool {
        matches!(self, Zone::Local)
    }

    /// The name in the tz database, if it has one.
    pub fn name(&self) -> Option<&str> {
        match self {
            Zone::Named { zone, .. } => zone.iana_name(),
            Zone::Local | Zone::Offset(_) => None,
        }
    }

    /// The zone with the offset that applies when its clocks show so many seconds since 1970-01-01 00:00; in a gap
    /// the earlier rule counts, in an overlap the first of the two.
    pub(crate) fn at_local(&self, seconds: i64) -> Zone {
        let Zone::Named { zone, .. } = self else {
            return self.clone();
        };
        let offset = match local_date_time(seconds) {
            Some(local) => {
                let ambiguous = zone.to_ambiguous_timestamp(local).offset();
                match ambiguous {
                    jiff::tz::AmbiguousOffset::Unambiguous { offset } => offset.seconds(),
                    jiff::tz::AmbiguousOffset::Gap { before, .. } => before.seconds(),
                    jiff::tz::AmbiguousOffset::Fold { before, .. } => before.seconds(),
                }
            }
            None => standard_offset(zone),
        };
        Zone::Named { zone: zone.clone(), offset }
    }

    /// The zone with the offset that applies at an instant.
    pub(crate) fn at_instant(&self, seconds: i64) -> Zone {
        let Zone::Named { zone, .. } = self else {
            return self.clone();
        };
        let offset = match Timestamp::from_second(seconds) {
            Ok(instant) => zone.to_offset(instant).seconds(),
            Err(_) => standard_offset(zone),
        };
        Zone::Named { zone: zone.clone(), offset }
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Zone::Local => out.write_str("local"),
            Zone::Offset(seconds) => write!(out, "{seconds}s"),
            Zone::Named { offset, .. } => write!(out, "{} ({offset}s)", self.name().unwrap_or("?")),
        }
    }
}

/// Clocks go forward from standard time, never back, so the smaller offset of the year is the standard one.
fn standard_offset(zone: &TimeZone) -> i32 {
    [JANUARY, JULY]
        .into_iter()
        .filter_map(|second| Timestamp::from_second(second).ok())
        .map(|instant| zone.to_offset(instant).seconds())
        .min()
        .unwrap_or(0)
}

fn local_date_time(seconds: i64) -> Option<civil::DateTime> {
    let instant = Timestamp::from_second(seconds).ok()?;
    Some(Offset::UTC.to_datetime(instant))
}
