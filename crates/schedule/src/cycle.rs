//! `R3/PT10S`, `R/2024-01-01T00:00:00Z/P1D` or a cron expression: what comes again.

use crate::error::{quoted, trimmed};
use crate::limits::{AT_MAX, AT_MIN, DAY};
use crate::{Cron, Date, Error, Millis, Span, zone};
use jiff::tz::TimeZone;
use std::fmt::{self, Display, Formatter};
use std::num::NonZeroU32;

/// Instants that come again and again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cycle {
    /// A start and a duration.
    Interval(Interval),
    /// What the calendar shows.
    Cron(Cron),
}

/// The same duration again and again, counted from a start: the given one, or when the timer was armed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interval {
    repetitions: Repetitions,
    start: Option<Date>,
    every: Span,
}

/// How often a cycle fires. There is no third case: a timer that fires once is no cycle without a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repetitions {
    /// So many times in all.
    Times(NonZeroU32),
    /// Until its timer is cancelled.
    Forever,
}

impl Cycle {
    /// Reads a cycle: an interval if it begins with `R`, else cron.
    pub fn parse(text: &str) -> Result<Cycle, Error> {
        let text = trimmed("cycle", text)?;
        if let Some(interval) = text.strip_prefix('R') {
            return parse_interval(interval).map(Cycle::Interval).map_err(|why| Error::not("cycle", text, why));
        }
        if Span::parse(text).is_ok() {
            return Err(Error::not("cycle", text, format_args!("write R/{text} for ever or R3/{text} for three times")));
        }
        Cron::parse(text).map(Cycle::Cron)
    }

    /// How often it fires.
    pub fn repetitions(&self) -> Repetitions {
        match self {
            Cycle::Interval(interval) => interval.repetitions,
            Cycle::Cron(_) => Repetitions::Forever,
        }
    }

    /// When a timer armed at an instant fires first.
    pub(crate) fn first(&self, armed: Millis) -> Option<Millis> {
        match self {
            Cycle::Interval(Interval { start: Some(start), .. }) => Some(start.at().max(armed)),
            Cycle::Interval(Interval { start: None, .. }) | Cycle::Cron(_) => self.after(armed, armed),
        }
    }

    /// The first planned instant after another, for a timer that was armed at an instant, however often it fires.
    pub fn after(&self, armed: Millis, at: Millis) -> Option<Millis> {
        match self {
            Cycle::Interval(interval) => interval.after(armed, at),
            Cycle::Cron(cron) => cron.after(at),
        }
    }
}

impl Interval {
    fn after(&self, armed: Millis, at: Millis) -> Option<Millis> {
        let (origin, zone, step_first) = match &self.start {
            Some(start) => (start.at(), start.zone(), 0),
            None => (armed.clamp(AT_MIN, AT_MAX), &TimeZone::UTC, 1),
        };
        let at = at.clamp(AT_MIN - 1, AT_MAX);
        if let Some(length) = self.every.exact(zone) {
            let steps = ((at - origin).div_euclid(length) + 1).max(step_first);
            return zone::bounded(origin + length * steps);
        }
        // Each step is a day at least, so that `end` steps lead out of the calendar; between them, more steps are never earlier.
        let step = |steps: i64| self.every.times_after(zone, origin, steps);
        let (mut steps, mut end) = (step_first, (AT_MAX - origin) / DAY + 3);
        while steps < end {
            let middle = steps + (end - steps) / 2;
            match step(middle) {
                Some(reached) if reached <= at => steps = middle + 1,
                Some(_) | None => end = middle,
            }
        }
        step(steps)
    }
}

/// What follows the `R`: `3/PT10S`, `/PT10S`, `3/2024-01-01T00:00:00Z/PT10S`.
fn parse_interval(text: &str) -> Result<Interval, String> {
    let (repetitions, rest) = text.split_once('/').ok_or("it has no interval; write R3/PT10S, or R/PT10S for ever")?;
    // A zone has slashes too: the duration is what follows the last one.
    let (start, every) = rest.rsplit_once('/').unwrap_or(("", rest));
    if Span::parse(start).is_ok() {
        return Err(String::from("it cannot be told its end; write R3/PT10S or R3/2024-01-01T00:00:00Z/PT10S, with a start"));
    }
    let start = Some(start).filter(|start| !start.is_empty()).map(Date::parse).transpose().map_err(|error| error.to_string())?;
    let every = Span::parse(every).map_err(|error| error.to_string())?;
    if !every.is_positive() {
        return Err(format!("its interval is {every}; it has to be longer than nothing"));
    }
    Ok(Interval { repetitions: parse_repetitions(repetitions)?, start, every })
}

fn parse_repetitions(text: &str) -> Result<Repetitions, String> {
    if text.is_empty() || text == "-1" {
        return Ok(Repetitions::Forever);
    }
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    let number: u32 = text.parse().ok().filter(|_| is_number).ok_or_else(|| {
        format!("after the R comes how often, a number up to {}, or nothing for ever; not {}", u32::MAX, quoted(text))
    })?;
    // R0 is "not again", which is once.
    Ok(Repetitions::Times(NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN)))
}

impl Display for Cycle {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Cycle::Interval(interval) => interval.fmt(out),
            Cycle::Cron(cron) => cron.fmt(out),
        }
    }
}

impl Display for Interval {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self.repetitions {
            Repetitions::Times(times) => write!(out, "R{times}/")?,
            Repetitions::Forever => out.write_str("R/")?,
        }
        if let Some(start) = &self.start {
            write!(out, "{start}/")?;
        }
        self.every.fmt(out)
    }
}
