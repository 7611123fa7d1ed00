//! What the timer expressions of BPMN mean: dates, durations and cycles, cron among them. Text in, instants out; no clock, no I/O.
//!
//! ```
//! use schedule::{Kind, Missed, Timer};
//!
//! let timer = Timer::parse(Kind::Cycle, "R2/PT10S").unwrap();
//! let first = timer.first(1_000).unwrap();
//! assert_eq!((first.number, first.at), (1, 11_000));
//! // Woken half a second late: it fires, and the next one is still due ten seconds after the first.
//! let due = timer.due(first, 11_500, Missed::FireOnce);
//! assert_eq!(due.fire, Some(first));
//! let second = due.next.unwrap();
//! assert_eq!((second.number, second.at), (2, 21_000));
//! assert_eq!(timer.due(second, 21_000, Missed::FireOnce).next, None);
//! ```
//!
//! Reading order: [`Timer`] (the three kinds, when they fire), then [`Date`], [`Span`], [`Cycle`] with [`Interval`] and [`Cron`].
//!
//! What holds everywhere:
//! - Time is a value: milliseconds since 1970 in UTC. The tz database is the one compiled in.
//! - A timer never fires early: what is finer than a millisecond is rounded up.
//! - A local time that daylight saving skips stands for the first instant after the gap; one that comes twice, for the first of the two.
//! - Each type prints a text that parses to the same value again.
//! - Any text gets a value or an [`Error`], quickly: see [`limits`].

mod cron;
mod cycle;
mod date;
mod error;
pub mod limits;
mod scan;
mod span;
mod timer;
mod zone;

pub use cron::Cron;
pub use cycle::{Cycle, Interval, Repetitions};
pub use date::Date;
pub use error::Error;
pub use span::Span;
pub use timer::{Due, Kind, Missed, Occurrence, Timer};

/// Milliseconds since 1970, UTC.
pub type Millis = i64;
