//! `2024-05-06T07:08:09+02:00[Europe/Madrid]`: an instant, and the zone whose calendar counts from there.

use crate::error::trimmed;
use crate::scan::Scan;
use crate::{Error, Millis, zone};
use jiff::Timestamp;
use jiff::civil::{self, DateTime};
use jiff::tz::{Offset, TimeZone};
use std::fmt::{self, Display, Formatter};

/// A date with a time and a zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Date {
    at: Millis,
    zone: TimeZone,
}

/// Largest offset from UTC in seconds: 18 hours.
const OFFSET_SECONDS_MAX: i32 = 18 * 3_600;

impl Date {
    /// Reads a date. With an offset it is that instant; with a zone alone, what the zone's clocks show.
    pub fn parse(text: &str) -> Result<Date, Error> {
        let text = trimmed("date", text)?;
        parse(text).map_err(|why| Error::not("date", text, why))
    }

    /// A moment as a text that [`Date::parse`] reads again.
    pub fn text(at: Millis) -> String {
        Timestamp::from_millisecond(at).unwrap_or(Timestamp::MAX).to_string()
    }

    /// When it is.
    pub fn at(&self) -> Millis {
        self.at
    }

    /// Whose calendar counts.
    pub(crate) fn zone(&self) -> &TimeZone {
        &self.zone
    }
}

fn parse(text: &str) -> Result<Date, String> {
    let mut rest = Scan(text);
    let local = local(&mut rest)?;
    let offset = offset(&mut rest)?;
    let named = bracketed(rest)?.map(zone::named).transpose()?;
    let (at, zone) = match (offset, named) {
        (None, None) => return Err(String::from("it has no zone: add Z, an offset like +01:00, or a zone like [Europe/Madrid]")),
        (None, Some(zone)) => (zone::instant(&zone, local), zone),
        // The zone may disagree, as in 2022-01-01T10:00:00+02:00[Europe/Berlin]: the offset says when, the zone whose calendar.
        (Some(offset), named) => {
            let at = offset.to_timestamp(local).ok().and_then(|at| zone::bounded(at.as_millisecond()));
            (at, named.unwrap_or_else(|| fixed(offset)))
        }
    };
    let at = at.ok_or(OUTSIDE)?;
    Ok(Date { at, zone })
}

fn fixed(offset: Offset) -> TimeZone {
    if offset == Offset::UTC { TimeZone::UTC } else { TimeZone::fixed(offset) }
}

const FORM: &str = "a date is written like 2024-05-06T07:08:09Z";
const OUTSIDE: &str = "it is outside the years 1 to 9999";

/// `2024-05-06T07:08:09.123`; seconds may be missing.
fn local(rest: &mut Scan<'_>) -> Result<DateTime, String> {
    let (year, month, day) = day(rest).ok_or(FORM)?;
    if rest.is_empty() {
        return Err(format!("it has no time of day; {FORM}"));
    }
    let (hour, minute) = clock(rest).ok_or(FORM)?;
    let (second, millis) = if rest.take(':') {
        (rest.number(2).ok_or(FORM)?, rest.fraction().ok_or("a second has one to nine decimals")?)
    } else {
        (0, 0)
    };
    let small = |number: i32| i8::try_from(number).unwrap_or(i8::MAX);
    let date = civil::Date::new(i16::try_from(year).unwrap_or(i16::MAX), small(month), small(day));
    let date = date.map_err(|_| format!("there is no day {year:04}-{month:02}-{day:02}"))?;
    let time = civil::Time::new(small(hour), small(minute), small(second), 0);
    let time = time.map_err(|_| format!("there is no time {hour:02}:{minute:02}:{second:02}"))?;
    let moment = date.to_datetime(time).checked_add(jiff::Span::new().milliseconds(millis));
    moment.map_err(|_| OUTSIDE.to_owned())
}

fn day(rest: &mut Scan<'_>) -> Option<(i32, i32, i32)> {
    let year = rest.number(4)?;
    rest.skip('-')?;
    let month = rest.number(2)?;
    rest.skip('-')?;
    Some((year, month, rest.number(2)?))
}

fn clock(rest: &mut Scan<'_>) -> Option<(i32, i32)> {
    rest.skip('T')?;
    let hour = rest.number(2)?;
    rest.skip(':')?;
    Some((hour, rest.number(2)?))
}

/// `Z`, `+02`, `+0200`, `+02:00` or `+02:00:00`.
fn offset(rest: &mut Scan<'_>) -> Result<Option<Offset>, String> {
    if rest.take('Z') {
        return Ok(Some(Offset::UTC));
    }
    let sign = match (rest.take('+'), rest.take('-')) {
        (true, _) => 1,
        (false, true) => -1,
        (false, false) => return Ok(None),
    };
    let seconds = offset_seconds(rest).filter(|seconds| *seconds <= OFFSET_SECONDS_MAX);
    let offset = seconds.and_then(|seconds| Offset::from_seconds(sign * seconds).ok());
    offset.map(Some).ok_or_else(|| String::from("an offset is written like +01:00 and is 18 hours at most"))
}

fn offset_seconds(rest: &mut Scan<'_>) -> Option<i32> {
    let hours = rest.number(2)?;
    let colon = rest.take(':');
    let minutes = if colon { rest.number(2)? } else { rest.number(2).unwrap_or(0) };
    let seconds = if colon && rest.take(':') { rest.number(2)? } else { 0 };
    (minutes < 60 && seconds < 60).then_some(hours * 3_600 + minutes * 60 + seconds)
}

/// `[Europe/Madrid]`, or `@Europe/Madrid` as FEEL writes it.
fn bracketed(mut rest: Scan<'_>) -> Result<Option<&str>, String> {
    if rest.is_empty() {
        return Ok(None);
    }
    if rest.take('@') {
        return Ok(Some(rest.0));
    }
    let name = rest.0.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    name.map(Some).ok_or_else(|| format!("after the time comes Z, an offset or a zone in brackets, not '{}'", rest.0))
}

impl Display for Date {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let at = jiff::Timestamp::from_millisecond(self.at).expect("a date is within the years 1 to 9999");
        let offset = self.zone.to_offset(at);
        write!(out, "{}", offset.to_datetime(at))?;
        if self.zone == TimeZone::UTC {
            return out.write_str("Z");
        }
        let (sign, seconds) = if offset.is_negative() { ('-', -offset.seconds()) } else { ('+', offset.seconds()) };
        write!(out, "{sign}{:02}:{:02}", seconds / 3_600, seconds / 60 % 60)?;
        if seconds % 60 != 0 {
            write!(out, ":{:02}", seconds % 60)?;
        }
        match self.zone.iana_name() {
            Some(name) => write!(out, "[{name}]"),
            None => Ok(()),
        }
    }
}
