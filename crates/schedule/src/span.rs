//! `P1Y2M10DT2H30M`: how long, in months, days and milliseconds, since neither a month nor a day has a fixed length.

use crate::error::trimmed;
use crate::limits::{DAY, HOUR, MINUTE, SECOND, YEARS_MAX};
use crate::scan::Scan;
use crate::{Error, Millis, zone};
use jiff::tz::TimeZone;
use std::fmt::{self, Display, Formatter};

/// A duration. Its parts have the same sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    months: i64,
    days: i64,
    millis: Millis,
}

const MONTHS_MAX: i64 = YEARS_MAX * 12;
const DAYS_MAX: i64 = YEARS_MAX * 366;
const MILLIS_MAX: Millis = DAYS_MAX * DAY;

impl Span {
    /// Reads a duration.
    pub fn parse(text: &str) -> Result<Span, Error> {
        let text = trimmed("duration", text)?;
        parse(text).map_err(|why| Error::not("duration", text, why))
    }

    /// The instant so much later: months and days by the calendar of UTC, then hours and less.
    pub fn after(&self, start: Millis) -> Result<Millis, Error> {
        let end = zone::bounded(start).and_then(|start| self.times_after(&TimeZone::UTC, start, 1));
        end.ok_or_else(|| Error::new(format!("{self} from now is outside the years 1 to 9999")))
    }

    /// Whether it goes forward.
    pub fn is_positive(&self) -> bool {
        self.months > 0 || self.days > 0 || self.millis > 0
    }

    /// The instant `times` as much after another: in one step, so that the 31st of January and two months is the 31st of March.
    pub(crate) fn times_after(&self, zone: &TimeZone, start: Millis, times: i64) -> Option<Millis> {
        let by_clock = self.millis.checked_mul(times)?;
        let calendar = jiff::Span::new().try_months(self.months.checked_mul(times)?).ok()?;
        let calendar = calendar.try_days(self.days.checked_mul(times)?).ok()?;
        if calendar.is_zero() {
            return zone::bounded(start.checked_add(by_clock)?);
        }
        let local = zone::local(zone, start)?.checked_add(calendar).ok()?;
        zone::bounded(zone::instant(zone, local)?.checked_add(by_clock)?)
    }

    /// Its length, if it has the same everywhere in a zone.
    pub(crate) fn exact(&self, zone: &TimeZone) -> Option<Millis> {
        let is_exact = self.months == 0 && (self.days == 0 || zone.to_fixed_offset().is_ok());
        is_exact.then_some(self.days * DAY + self.millis)
    }
}

fn parse(text: &str) -> Result<Span, String> {
    let mut rest = Scan(text);
    let sign = if rest.take('-') { -1 } else { 1 };
    if sign == 1 {
        rest.take('+');
    }
    if !rest.take('P') {
        return Err(String::from("it has to begin with P, as in PT15M (minutes), P1D or P1Y6M (months)"));
    }
    let (date, time) = match rest.0.find(['T', 't']) {
        Some(at) => (&rest.0[..at], Some(&rest.0[at + 1..])),
        None => (rest.0, None),
    };
    if date.is_empty() && time.is_none() || time.is_some_and(str::is_empty) {
        return Err(String::from("it says no amount, as PT15M or P1D do"));
    }
    let mut span = Span { months: 0, days: 0, millis: 0 };
    amounts(date, &DATE, &mut span)?;
    amounts(time.unwrap_or_default(), &TIME, &mut span)?;
    if MONTHS_MAX < span.months || DAYS_MAX < span.days || MILLIS_MAX < span.millis {
        return Err(format!("it is longer than {YEARS_MAX} years"));
    }
    Ok(Span { months: sign * span.months, days: sign * span.days, millis: sign * span.millis })
}

/// A unit: its letter, and what one of it adds.
type Unit = (char, Span);

const DATE: [Unit; 4] = [('Y', months(12)), ('M', months(1)), ('W', days(7)), ('D', days(1))];
const TIME: [Unit; 3] = [('H', millis(HOUR)), ('M', millis(MINUTE)), ('S', millis(SECOND))];

const fn months(months: i64) -> Span {
    Span { months, days: 0, millis: 0 }
}

const fn days(days: i64) -> Span {
    Span { months: 0, days, millis: 0 }
}

const fn millis(millis: Millis) -> Span {
    Span { months: 0, days: 0, millis }
}

/// Adds up `2H30M`: amounts with their letters, each letter once and in order.
fn amounts(text: &str, units: &[Unit], span: &mut Span) -> Result<(), String> {
    let mut rest = Scan(text);
    let mut units = units.iter();
    while !rest.is_empty() {
        let digits = rest.digits();
        let has_fraction = rest.0.starts_with(['.', ',']);
        let fraction = rest.fraction().ok_or("a second has one to nine decimals")?;
        let unit = units.find(|(letter, _)| rest.take(*letter));
        let Some((letter, unit)) = unit.filter(|_| !digits.is_empty()) else {
            return Err(format!("'{text}' is not numbers with letters in the order {FORM}"));
        };
        if has_fraction && *letter != 'S' {
            return Err(String::from("only seconds can have decimals"));
        }
        let count: i64 = digits.parse().unwrap_or(i64::MAX);
        let add = |sum: i64, one: i64| sum.saturating_add(one.saturating_mul(count));
        *span = Span {
            months: add(span.months, unit.months),
            days: add(span.days, unit.days),
            millis: add(span.millis, unit.millis).saturating_add(fraction),
        };
    }
    Ok(())
}

const FORM: &str = "P…Y…M…W…DT…H…M…S";

impl Display for Span {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if self.months < 0 || self.days < 0 || self.millis < 0 {
            out.write_str("-")?;
        }
        let (months, days, millis) = (self.months.abs(), self.days.abs(), self.millis.abs());
        out.write_str("P")?;
        amount(out, months / 12, 'Y')?;
        amount(out, months % 12, 'M')?;
        amount(out, days, 'D')?;
        if millis != 0 || months == 0 && days == 0 {
            out.write_str("T")?;
        }
        amount(out, millis / HOUR, 'H')?;
        amount(out, millis % HOUR / MINUTE, 'M')?;
        let (seconds, fraction) = (millis % MINUTE / SECOND, millis % SECOND);
        if fraction != 0 {
            let fraction = format!("{fraction:03}");
            return write!(out, "{seconds}.{}S", fraction.trim_end_matches('0'));
        }
        if months == 0 && days == 0 && millis == 0 {
            return out.write_str("0S");
        }
        amount(out, seconds, 'S')
    }
}

fn amount(out: &mut Formatter<'_>, amount: i64, letter: char) -> fmt::Result {
    if amount == 0 { Ok(()) } else { write!(out, "{amount}{letter}") }
}
