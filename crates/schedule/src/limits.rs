//! How far, how long, how much.

use crate::Millis;

/// Bytes of one expression; a cron list of every second of a minute has under two hundred.
pub const TEXT_BYTES_MAX: usize = 1_024;
/// The first instant a timer can name: 0001-01-01T00:00:00Z.
pub const AT_MIN: Millis = -62_135_596_800_000;
/// The last one: 9999-12-30T00:00:00Z, so that it has a date of four digits in every zone.
pub const AT_MAX: Millis = 253_402_128_000_000;
/// Years in a duration, however they are written.
pub const YEARS_MAX: i64 = 9_999;

pub(crate) const SECOND: Millis = 1_000;
pub(crate) const MINUTE: Millis = 60 * SECOND;
pub(crate) const HOUR: Millis = 60 * MINUTE;
pub(crate) const DAY: Millis = 24 * HOUR;
