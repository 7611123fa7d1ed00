//! What cron and cycles mean, said slowly: a clock on a wall that somebody watches, and a calendar that is leafed through.

pub(crate) mod cron;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use schedule::Millis;

pub(crate) const MINUTE: Millis = 60_000;
pub(crate) const HOUR: Millis = 60 * MINUTE;
pub(crate) const DAY: Millis = 24 * HOUR;

/// Twenty years: 2008 to 2027.
pub(crate) const YEARS: std::ops::Range<Millis> = 1_199_145_600_000..1_830_297_600_000;

pub(crate) fn shown(zone: &TimeZone, at: Millis) -> DateTime {
    zone.to_datetime(Timestamp::from_millisecond(at).unwrap())
}

/// All zones of the tz database.
pub(crate) fn zones() -> Vec<TimeZone> {
    let names = jiff::tz::db().available();
    names
        .filter_map(|name| TimeZone::get(name.as_str()).ok())
        .filter(|zone| zone.iana_name().is_some() && !zone.is_unknown())
        .collect()
}

/// When the clocks of a zone were changed in those years.
pub(crate) fn changes(zone: &TimeZone) -> Vec<Millis> {
    all_changes(zone, YEARS)
}

pub(crate) fn all_changes(zone: &TimeZone, years: std::ops::Range<Millis>) -> Vec<Millis> {
    let all = zone.following(Timestamp::from_millisecond(years.start).unwrap()).map(|change| change.timestamp().as_millisecond());
    all.take_while(|at| *at < years.end).collect()
}

/// Watches the wall clock of a zone tick by tick. It fires whenever the clock shows or jumps over something that is asked for and
/// that it has not shown before.
pub(crate) fn watched(
    zone: &TimeZone,
    span: std::ops::Range<Millis>,
    tick: Millis,
    asked: impl Fn(DateTime) -> bool,
) -> Vec<Millis> {
    let mut at = span.start;
    // What it has shown already: clocks are put back by less than five hours, and at the end of a minute.
    let ends = (0..=5 * 60).map(|minutes| at - at.rem_euclid(MINUTE) - minutes * MINUTE - tick);
    let mut newest = ends.chain([at]).map(|at| shown(zone, at)).max().unwrap();
    let mut fired = Vec::new();
    while at < span.end {
        at += tick;
        let now = shown(zone, at);
        let mut fires = false;
        while newest < now {
            newest = newest.checked_add(jiff::Span::new().milliseconds(tick)).unwrap();
            fires |= asked(newest);
        }
        if fires {
            fired.push(at);
        }
    }
    fired
}

/// The first minute at which the clock of a zone shows a time or a later one.
pub(crate) fn first_shown(zone: &TimeZone, local: DateTime) -> Millis {
    let utc = shown(&TimeZone::UTC, 0).duration_until(local).as_millis();
    let mut at = Millis::try_from(utc).unwrap() - 27 * HOUR;
    while shown(zone, at) < local {
        at += MINUTE;
    }
    at
}

/// Months and days later by the calendar: the day of the month is kept where the month has it.
pub(crate) fn leafed(from: DateTime, months: i64, days: i64) -> DateTime {
    let month = i64::from(from.year()) * 12 + i64::from(from.month()) - 1 + months;
    let (year, month) = (i16::try_from(month / 12).unwrap(), i8::try_from(month % 12 + 1).unwrap());
    let day = (1..=from.day()).rev().find_map(|day| Date::new(year, month, day).ok()).unwrap();
    let mut date = day;
    for _ in 0..days {
        date = date.tomorrow().unwrap();
    }
    date.to_datetime(from.time())
}
