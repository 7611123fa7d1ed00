//! Between instants and what the clocks of a zone show.

use crate::Millis;
use crate::error::quoted;
use crate::limits::{AT_MAX, AT_MIN};
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
        AmbiguousOffset::Gap { after, .. } => {
            let before_gap = after.to_timestamp(local).ok()?;
            zone.following(before_gap).find(|change| change.offset() == after)?.timestamp()
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
            let put_back = zone.preceding(timestamp(at + 1)?).find(|change| change.offset() == offset)?;
            Some(before.to_datetime(put_back.timestamp()))
        }
        AmbiguousOffset::Fold { .. } | AmbiguousOffset::Gap { .. } | AmbiguousOffset::Unambiguous { .. } => {
            let second = shown.with().subsec_nanosecond(0).build().ok()?;
            second.checked_add(jiff::Span::new().seconds(1)).ok()
        }
    }
}

/// An instant if a timer can name it.
pub(crate) fn bounded(at: Millis) -> Option<Millis> {
    (AT_MIN..=AT_MAX).contains(&at).then_some(at)
}

fn timestamp(at: Millis) -> Option<Timestamp> {
    Timestamp::from_millisecond(at).ok()
}
