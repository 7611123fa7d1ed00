//! Reading temporal text.

use super::{Date, DateTime, DaysTimeDuration, NANOS_PER_SECOND, Time, YearsMonthsDuration, Zone};
use crate::value::Value;

/// How far a text may stray from the standard's spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leniency {
    /// As the standard writes it: seconds are not optional, designators are upper-case.
    Standard,
    /// As Camunda also accepts it: no seconds, `24:00`, lower-case duration designators.
    Camunda,
}

/// What `@"…"` holds: whichever temporal value the text spells.
pub(crate) fn parse_any(text: &str, leniency: Leniency) -> Option<Value> {
    if let Some(date) = Date::parse(text) {
        return Some(Value::Date(date));
    }
    if text.starts_with('P') || text.starts_with("-P") {
        return parse_duration(text, Leniency::Standard);
    }
    if let Some(date_time) = DateTime::parse(text, leniency) {
        return Some(Value::DateTime(date_time));
    }
    Time::parse(text, leniency).map(Value::Time)
}

/// Either kind of duration.
pub(crate) fn parse_duration(text: &str, leniency: Leniency) -> Option<Value> {
    let upper;
    let text = match leniency {
        Leniency::Standard => text,
        Leniency::Camunda => {
            upper = text.to_ascii_uppercase();
            &upper
        }
    };
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let parts = Parts::read(rest.strip_prefix('P')?)?;
    let sign = if negative { -1 } else { 1 };
    match (parts.months, parts.nanos) {
        (Some(months), None) => YearsMonthsDuration::from_months(sign * months).map(Value::YearsMonthsDuration),
        (None, Some(nanos)) => DaysTimeDuration::from_nanos(i128::from(sign) * nanos).map(Value::DaysTimeDuration),
        _ => None,
    }
}

/// The parts of a duration, each kind added up.
#[derive(Default)]
struct Parts {
    months: Option<i64>,
    nanos: Option<i128>,
}

impl Parts {
    fn read(text: &str) -> Option<Parts> {
        let (date, time) = match text.split_once('T') {
            Some((date, time)) => (date, Some(time)),
            None => (text, None),
        };
        let mut parts = Parts::default();
        let rest = parts.months(date, 'Y', 12)?;
        let rest = parts.months(rest, 'M', 1)?;
        let rest = parts.seconds(rest, 'D', 86_400)?;
        if !rest.is_empty() {
            return None;
        }
        if let Some(time) = time {
            let rest = parts.seconds(time, 'H', 3_600)?;
            let rest = parts.seconds(rest, 'M', 60)?;
            let rest = parts.seconds(rest, 'S', 1)?;
            if time.is_empty() || !rest.is_empty() {
                return None;
            }
        }
        Some(parts)
    }

    fn months<'t>(&mut self, text: &'t str, unit: char, factor: i64) -> Option<&'t str> {
        let Some((amount, rest)) = text.split_once(unit) else {
            return Some(text);
        };
        let amount: i32 = whole(amount)?.try_into().ok()?;
        self.months = Some(self.months.unwrap_or(0) + i64::from(amount) * factor);
        Some(rest)
    }

    fn seconds<'t>(&mut self, text: &'t str, unit: char, factor: i128) -> Option<&'t str> {
        let Some((amount, rest)) = text.split_once(unit) else {
            return Some(text);
        };
        let nanos = match amount.split_once(['.', ',']) {
            Some((seconds, fraction)) if unit == 'S' => {
                let below = i128::from(fraction_nanos(fraction)?);
                let negative = seconds.starts_with('-');
                whole(seconds)? * NANOS_PER_SECOND + if negative { -below } else { below }
            }
            Some(_) => return None,
            None => whole(amount)?.checked_mul(factor)?.checked_mul(NANOS_PER_SECOND)?,
        };
        self.nanos = Some(self.nanos.unwrap_or(0).checked_add(nanos)?);
        Some(rest)
    }
}

fn whole(text: &str) -> Option<i128> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = !digits.is_empty() && digits.len() <= 19 && digits.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

/// Up to nine digits behind a decimal point; none are zero.
fn fraction_nanos(text: &str) -> Option<u32> {
    if 9 < text.len() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    format!("{text:0<9}").parse().ok()
}

impl Date {
    /// Reads `2024-02-29`; years of more than four digits and negative ones as well.
    pub fn parse(text: &str) -> Option<Date> {
        let (sign, rest) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text),
        };
        let mut fields = rest.split('-');
        let (year, month, day) = (fields.next()?, fields.next()?, fields.next()?);
        let canonical = year.len() == 4 || (5..=9).contains(&year.len()) && !year.starts_with('0');
        if !canonical || fields.next().is_some() {
            return None;
        }
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(year) {
            return None;
        }
        Date::new(sign * year.parse::<i32>().ok()?, two_digits(month)?, two_digits(day)?)
    }
}

impl Time {
    pub(crate) fn parse(text: &str, leniency: Leniency) -> Option<Time> {
        let text = match leniency {
            Leniency::Camunda => text.strip_prefix('T').unwrap_or(text),
            Leniency::Standard => text,
        };
        let split = zone_start(text);
        let (clock, zone_text) = (&text[..split], &text[split..]);
        let zone = zone(zone_text, leniency)?;
        let seconds_given = 5 < clock.len();
        let zoned = zone != Zone::Local;
        if !seconds_given && (zoned || leniency == Leniency::Standard) {
            return None;
        }
        let hours_max = if zoned || leniency == Leniency::Standard { 23 } else { 24 };
        clock_reading(clock, hours_max, zone)
    }
}

impl DateTime {
    pub(crate) fn parse(text: &str, leniency: Leniency) -> Option<DateTime> {
        let (date, time) = text.split_once('T')?;
        let date = Date::parse(date)?;
        let split = zone_start(time);
        let (clock, zone_text) = (&time[..split], &time[split..]);
        if leniency == Leniency::Standard && clock.len() <= 5 {
            return None;
        }
        // An offset with a bracketed zone behind it names an instant of that zone.
        if let Some((offset_text, bracketed)) = zone_text.strip_suffix(']').and_then(|text| text.split_once('[')) {
            let seconds = if offset_text == "Z" { 0 } else { offset(offset_text)? };
            let named = Zone::named(bracketed)?;
            let time = clock_reading(clock, 23, Zone::offset(seconds)?)?;
            return DateTime::from_instant(DateTime::new(date, time).instant_nanos(), &named);
        }
        // The standard lets midnight at the end of a day be written as hour 24.
        if leniency == Leniency::Standard && clock == "24:00:00" {
            return Some(DateTime::new(date.add_days(1)?, Time::midnight(zone(zone_text, leniency)?)));
        }
        Some(DateTime::new(date, clock_reading(clock, 23, zone(zone_text, leniency)?)?))
    }
}

/// Where the clock's digits end.
fn zone_start(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_digit() && c != ':' && c != '.').unwrap_or(text.len())
}

fn zone(text: &str, leniency: Leniency) -> Option<Zone> {
    match text.as_bytes().first() {
        None => Some(Zone::Local),
        Some(b'Z') if text.len() == 1 => Some(Zone::UTC),
        Some(b'+' | b'-') => {
            let seconds_given = text.len() == 9;
            if seconds_given && leniency == Leniency::Camunda {
                return None;
            }
            offset(text).and_then(Zone::offset)
        }
        Some(b'@') => Zone::named(&text[1..]),
        Some(_) => None,
    }
}

/// Reads `+02:00`, and `+02:00:30`.
pub(super) fn offset(text: &str) -> Option<i32> {
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let mut fields = text[1..].split(':');
    let hours = i32::from(two_digits(fields.next()?)?);
    let minutes = i32::from(two_digits(fields.next()?)?);
    let seconds = match fields.next() {
        Some(field) => i32::from(two_digits(field)?),
        None => 0,
    };
    let in_range = minutes < 60 && seconds < 60 && fields.next().is_none();
    in_range.then_some(sign * (hours * 3_600 + minutes * 60 + seconds))
}

fn clock_reading(text: &str, hours_max: u8, zone: Zone) -> Option<Time> {
    let (whole, nano) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, fraction_nanos(fraction)?),
        None => (text, 0),
    };
    let mut fields = whole.split(':');
    let hour = two_digits(fields.next()?)?;
    let minute = two_digits(fields.next()?)?;
    let second = match fields.next() {
        Some(field) => two_digits(field)?,
        None => 0,
    };
    if fields.next().is_some() {
        return None;
    }
    if hour == 24 && hours_max == 24 && minute == 0 && second == 0 && nano == 0 {
        return Some(Time::midnight(zone));
    }
    Time::new(hour, minute, second, nano, zone)
}

fn two_digits(text: &str) -> Option<u8> {
    let exact = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    if exact { text.parse().ok() } else { None }
}
