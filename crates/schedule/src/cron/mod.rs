//! Cron: the seconds at which the clocks and the calendar of a zone show what six fields ask for.
//!
//! `fields` reads seconds to months, `days` the two fields that say which days of a month.

mod days;
mod fields;

use crate::error::trimmed;
use crate::limits::{AT_MAX, AT_MIN};
use crate::{Error, Millis, zone};
use days::Days;
use fields::{HOUR, MINUTE, MONTH, SECOND, Set};
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use std::fmt::{self, Display, Formatter};

/// A cron expression, and the zone whose clocks it means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cron {
    /// As it was written, in capitals and with single blanks.
    text: Box<str>,
    zone: TimeZone,
    seconds: Set,
    minutes: Set,
    hours: Set,
    months: Set,
    days: Days,
}

/// The shorthands and what they stand for.
const MACROS: [(&str, &str); 7] = [
    ("@yearly", "0 0 0 1 1 *"),
    ("@annually", "0 0 0 1 1 *"),
    ("@monthly", "0 0 0 1 * *"),
    ("@weekly", "0 0 0 * * 0"),
    ("@daily", "0 0 0 * * *"),
    ("@midnight", "0 0 0 * * *"),
    ("@hourly", "0 0 * * * *"),
];

/// Months after which the calendar repeats itself, weekdays and leap years and all.
const MONTHS_OF_CALENDAR: u32 = 400 * 12;

impl Cron {
    /// Reads a cron expression.
    pub fn parse(text: &str) -> Result<Cron, Error> {
        let text = trimmed("cron expression", text)?;
        parse(text).map_err(|why| Error::not("cron expression", text, why))
    }

    /// The first instant it asks for after another.
    pub fn after(&self, at: Millis) -> Option<Millis> {
        let local = self.shown_from(zone::unseen(&self.zone, at.clamp(AT_MIN, AT_MAX))?)?;
        zone::instant(&self.zone, local)
    }

    /// The first local time from one on that has all that is asked for.
    fn shown_from(&self, from: DateTime) -> Option<DateTime> {
        let (date, time) = (from.date(), from.time());
        if self.days_of(date.year(), date.month()).has(to_u32(date.day()))
            && let Some(time) = self.time_from(time)
        {
            return Some(date.to_datetime(time));
        }
        Some(self.day_after(date)?.to_datetime(self.time_from(Time::midnight())?))
    }

    /// The first time of a day from one on.
    fn time_from(&self, from: Time) -> Option<Time> {
        let (hour, minute, second) = (to_u32(from.hour()), to_u32(from.minute()), to_u32(from.second()));
        let (minute_first, second_first) = (self.minutes.from(0)?, self.seconds.from(0)?);
        let same_minute = self.seconds.from(second).filter(|_| self.minutes.has(minute)).map(|second| (hour, minute, second));
        let same_hour = same_minute.or_else(|| Some((hour, self.minutes.from(minute + 1)?, second_first)));
        let found = same_hour.filter(|_| self.hours.has(hour));
        let found = found.or_else(|| Some((self.hours.from(hour + 1)?, minute_first, second_first)));
        let (hour, minute, second) = found?;
        Time::new(to_i8(hour), to_i8(minute), to_i8(second), 0).ok()
    }

    fn day_after(&self, date: Date) -> Option<Date> {
        let (mut year, mut month, mut from) = (date.year(), date.month(), to_u32(date.day()) + 1);
        for _ in 0..=MONTHS_OF_CALENDAR {
            if let Some(day) = self.days_of(year, month).from(from) {
                return Date::new(year, month, to_i8(day)).ok();
            }
            (year, month, from) = if month == 12 { (year + 1, 1, 1) } else { (year, month + 1, 1) };
        }
        None
    }

    fn days_of(&self, year: i16, month: i8) -> Set {
        match Date::new(year, month, 1) {
            Ok(first) if self.months.has(to_u32(month)) => self.days.of(first),
            Ok(_) | Err(_) => Set::EMPTY,
        }
    }
}

fn parse(text: &str) -> Result<Cron, String> {
    let mut words: Vec<&str> = text.split_ascii_whitespace().collect();
    let zone_name = words.first().and_then(|word| word.strip_prefix("TZ=").or_else(|| word.strip_prefix("CRON_TZ=")));
    let zone = zone_name.map(zone::named).transpose()?;
    if zone.is_some() {
        words.remove(0);
    }
    let name = zone.as_ref().and_then(TimeZone::iana_name);
    let mut written = name.map(|name| format!("TZ={name} ")).unwrap_or_default();
    let fields = match words.as_slice() {
        [name] if name.starts_with('@') => {
            let known = MACROS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
            let (name, fields) = known.ok_or("the shorthands are @yearly, @monthly, @weekly, @daily and @hourly")?;
            written.push_str(name);
            fields.split(' ').map(str::to_owned).collect::<Vec<_>>()
        }
        fields => {
            let fields: Vec<String> = fields.iter().map(|field| field.to_ascii_uppercase()).collect();
            written.push_str(&fields.join(" "));
            fields
        }
    };
    let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
    let (second, [minute, hour, day, month, weekday]) = match *fields.as_slice() {
        [second, minute, hour, day, month, weekday] => (second, [minute, hour, day, month, weekday]),
        [minute, hour, day, month, weekday] => ("0", [minute, hour, day, month, weekday]),
        _ => return Err(format!("it has {}; it needs [second] minute hour day month weekday", count(fields.len()))),
    };
    let cron = Cron {
        text: written.into(),
        zone: zone.unwrap_or(TimeZone::UTC),
        seconds: SECOND.parse(second)?,
        minutes: MINUTE.parse(minute)?,
        hours: HOUR.parse(hour)?,
        months: MONTH.parse(month)?,
        days: Days::parse(day, weekday)?,
    };
    // Any year will do: the calendar of four centuries is looked through.
    if cron.day_after(Date::constant(2000, 1, 1)).is_none() {
        return Err(String::from("no day of any year is all it asks for, so it would never fire"));
    }
    Ok(cron)
}

fn count(fields: usize) -> String {
    if fields == 1 { String::from("one field") } else { format!("{fields} fields") }
}

fn to_u32(number: i8) -> u32 {
    u32::try_from(number).expect("parts of dates and times are positive")
}

fn to_i8(number: u32) -> i8 {
    i8::try_from(number).expect("parts of dates and times are below 60")
}

impl Display for Cron {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}
