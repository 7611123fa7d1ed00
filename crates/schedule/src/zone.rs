//! Between instants and what the clocks of a zone show.
//!
//! All of it follows from the offsets that apply at instants. jiff also tells the instants of a local time and lists the changes of a zone, but
//! both go wrong where the last change on record and the lasting rule of a zone disagree (America/Nuuk in October 2023,
//! America/Ciudad_Juarez in November 2022).

use crate::Millis;
use crate::error::quoted;
use crate::limits::{AT_MAX, AT_MIN, DAY, HOUR, SECOND};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};

/// No zone was ever further from UTC. Within twice this, no zone has changed its clocks more than once since 1970.
const OFFSET_MAX: Millis = 16 * HOUR;

/// A zone of the tz database by its name, in any case.
pub(crate) fn named(name: &str) -> Result<TimeZone, String> {
    let known = TimeZone::get(name).ok().filter(|zone| zone.iana_name().is_some() && !zone.is_unknown());
    known.ok_or_else(|| format!("there is no time zone {}; zones are written like Europe/Madrid", quoted(name)))
}

/// What the clocks show at an instant.
pub(crate) fn local(zone: &TimeZone, at: Millis) -> Option<DateTime> {
    Some(zone.to_datetime(Timestamp::from_millisecond(at).ok()?))
}

/// When the clocks show a time first, or if they skip it, the first instant after the gap.
pub(crate) fn instant(zone: &TimeZone, local: DateTime) -> Option<Millis> {
    let local = Offset::UTC.to_timestamp(local).ok()?.as_millisecond();
    let (from, to) = (local - OFFSET_MAX, local + OFFSET_MAX);
    let at = match change(zone, from, to) {
        None => local - offset(zone, from),
        Some(change) if local - change.before < change.at => local - change.before,
        Some(change) => change.at.max(local - change.after),
    };
    bounded(at)
}

/// The first second that the clocks have not shown yet at an instant. When they were put back, that is the one they were put back at.
pub(crate) fn unseen(zone: &TimeZone, at: Millis) -> Option<DateTime> {
    let shown = at + offset(zone, at);
    let next = shown - shown.rem_euclid(SECOND) + SECOND;
    // Clocks are put back by less than a day.
    let unseen = change(zone, at - DAY, at).map_or(next, |change| next.max(change.at + change.before));
    Some(Offset::UTC.to_datetime(Timestamp::from_millisecond(unseen).ok()?))
}

/// An instant if a timer can name it.
pub(crate) fn bounded(at: Millis) -> Option<Millis> {
    (AT_MIN..=AT_MAX).contains(&at).then_some(at)
}

/// When the clocks are changed, and how far they are ahead of UTC before and after.
struct Change {
    at: Millis,
    before: Millis,
    after: Millis,
}

/// The change after an instant and not after another.
fn change(zone: &TimeZone, from: Millis, to: Millis) -> Option<Change> {
    let (before, after) = (offset(zone, from), offset(zone, to));
    if before == after {
        return None;
    }
    // Seconds before the change and not before it.
    let (mut early, mut late) = (from.div_euclid(SECOND), to.div_euclid(SECOND));
    while 1 < late - early {
        let middle = early + (late - early) / 2;
        if offset(zone, middle * SECOND) == before { early = middle } else { late = middle }
    }
    Some(Change { at: late * SECOND, before, after })
}

fn offset(zone: &TimeZone, at: Millis) -> Millis {
    let at = Timestamp::from_millisecond(at).unwrap_or(if at < 0 { Timestamp::MIN } else { Timestamp::MAX });
    Millis::from(zone.to_offset(at).seconds()) * SECOND
}
