//! Dates, times, date-times and the two kinds of duration.
//!
//! Years reach from −999,999,999 to 999,999,999, wider than any time-zone rules; only zone offsets are looked up in
//! the compiled-in zone data, everything else is arithmetic on days and nanoseconds.

mod arithmetic;
mod date;
mod date_time;
mod duration;
mod parse;
mod print;
mod time;
mod zone;

pub use date::Date;
pub use date_time::DateTime;
pub use duration::{DaysTimeDuration, YearsMonthsDuration};
pub use time::Time;
pub use zone::Zone;

pub(crate) use parse::{Leniency, parse_any, parse_duration};

/// Nanoseconds in a second.
pub(crate) const NANOS_PER_SECOND: i128 = 1_000_000_000;
/// Nanoseconds in a day.
pub(crate) const NANOS_PER_DAY: i128 = 86_400 * NANOS_PER_SECOND;
/// Largest year, and with a minus the smallest.
pub const YEAR_MAX: i32 = 999_999_999;
