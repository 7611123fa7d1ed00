//! Between instants and what the clocks of a zone show.

use crate::Millis;
use crate::error::quoted;
use crate::limits::{AT_MAX, AT_MIN, SECOND};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};

/// A zone of the tz database by its name, in any case.
pub(crate) fn named(name: &str) -> Result<TimeZone, String> {
    let known = TimeZone::get(name).ok().filter(|zone| zone.iana_name().is_some() && !zone.is_unknown());
    known.ok_or_else(|| format!("there is no time zone {}; zones are written like Europe/Madrid", quoted(name)))
}

/// What the clocks show at an instant.
pub(crate) fn local(zone: &TimeZone, at: Millis) -> Option<DateTime> {
    Some(zone.to_datetime(timestamp(at)?))
}

/// When the clocks show a time: the first instant after the gap if they skip it, the first of two if they show it twice.
pub(crate) fn instant(zone: &TimeZone, local: DateTime) -> Option<Millis> {
    let at = match zone.to_ambiguous_timestamp(local).offset() {
        AmbiguousOffset::Unambiguous { offset } => offset.to_timestamp(local).ok()?,
        AmbiguousOffset::Fold { before, .. } => before.to_timestamp(local).ok()?,
        AmbiguousOffset::Gap { before, after } => {
            let (from, to) = (after.to_timestamp(local).ok()?, before.to_timestamp(local).ok()?);
            change(zone, second(from), second(to))?
        }
    };
    bounded(at.as_millisecond())
}

/// The first second that the clocks have not shown yet at an instant. When they are put back, that is the one they were put back at.
pub(crate) fn unseen(zone: &TimeZone, at: Millis) -> Option<DateTime> {
    let now = timestamp(at)?;
    let offset = zone.to_offset(now);
    let shown = offset.to_datetime(now);
    match zone.to_ambiguous_timestamp(shown).offset() {
        AmbiguousOffset::Fold { before, .. } if before != offset => {
            let put_back = change(zone, second(now) - i64::from(before.seconds() - offset.seconds()), second(now))?;
            Some(before.to_datetime(put_back))
        }
        AmbiguousOffset::Fold { .. } | AmbiguousOffset::Gap { .. } | AmbiguousOffset::Unambiguous { .. } => {
            let second = shown.with().subsec_nanosecond(0).build().ok()?;
            second.checked_add(jiff::Span::new().seconds(1)).ok()
        }
    }
}

/// When the clocks were changed, given a second before and one after it. jiff can list the changes of a zone, but of those before an
/// instant it leaves out the last one on record where the zone's rule for all times has one too (America/Ciudad_Juarez, November 2022).
fn change(zone: &TimeZone, mut before: i64, mut after: i64) -> Option<Timestamp> {
    let offset = zone.to_offset(Timestamp::from_second(before).ok()?);
    while 1 < after - before {
        let middle = before + (after - before) / 2;
        if zone.to_offset(Timestamp::from_second(middle).ok()?) == offset {
            before = middle;
        } else {
            after = middle;
        }
    }
    Timestamp::from_second(after).ok()
}

fn second(at: Timestamp) -> i64 {
    at.as_millisecond().div_euclid(SECOND)
}

/// An instant if a timer can name it.
pub(crate) fn bounded(at: Millis) -> Option<Millis> {
    (AT_MIN..=AT_MAX).contains(&at).then_some(at)
}

fn timestamp(at: Millis) -> Option<Timestamp> {
    Timestamp::from_millisecond(at).ok()
}
