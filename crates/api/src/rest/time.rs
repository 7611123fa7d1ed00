//! Times on the wire: RFC 3339 in, RFC 3339 with milliseconds out.

use jiff::fmt::temporal::DateTimePrinter;
use jiff::{Span, SpanRelativeTo, Timestamp};
use store::Millis;

use crate::error::Failure;
use crate::workflow::DURATION_MAX;

const PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(3));

pub(super) fn written(millis: Millis) -> String {
    let timestamp = Timestamp::from_millisecond(millis).unwrap_or(Timestamp::MAX);
    PRINTER.timestamp_to_string(&timestamp)
}

pub(super) fn read(text: &str, name: &str) -> Result<Millis, Failure> {
    text.parse::<Timestamp>()
        .map(|timestamp| timestamp.as_millisecond())
        .map_err(|_| Failure::invalid(format!("The provided {name} '{text}' is not a date and time after RFC 3339, section 5.6")))
}

/// A duration after ISO 8601, such as `PT1H` or `P1D`, in milliseconds; a day has 24 hours.
pub(super) fn duration(text: &str, name: &str) -> Result<Millis, Failure> {
    let span = text.parse::<Span>().ok();
    let duration = span.and_then(|span| span.to_duration(SpanRelativeTo::days_are_24_hours()).ok());
    let millis = duration.and_then(|duration| Millis::try_from(duration.as_millis()).ok());
    millis.filter(|millis| (0..=DURATION_MAX).contains(millis)).ok_or_else(|| {
        Failure::invalid(format!(
            "The provided {name} '{text}' is not a duration after ISO 8601, such as PT1H30M, of at most a year"
        ))
    })
}

/// The same, written.
pub(super) fn span(millis: Millis) -> String {
    let (hours, minutes, left) = (millis / 3_600_000, millis / 60_000 % 60, millis % 60_000);
    let mut text = String::from("PT");
    for (count, unit) in [(hours, 'H'), (minutes, 'M')].into_iter().filter(|(count, _)| *count != 0) {
        text.push_str(&format!("{count}{unit}"));
    }
    match (left / 1_000, left % 1_000) {
        (0, 0) if text != "PT" => {}
        (seconds, 0) => text.push_str(&format!("{seconds}S")),
        (seconds, parts) => text.push_str(format!("{seconds}.{parts:03}").trim_end_matches('0')),
    }
    if left % 1_000 != 0 {
        text.push('S');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_back() {
        for (text, millis) in
            [("1970-01-01T00:00:00.000Z", 0), ("2026-11-15T12:30:00.250Z", 1_794_745_800_250), ("1969-12-31T23:59:59.999Z", -1)]
        {
            assert_eq!(written(millis), text);
            assert_eq!(read(text, "startDate").unwrap(), millis);
        }
        assert_eq!(read("2026-11-15T13:30:00.25+01:00", "startDate").unwrap(), 1_794_745_800_250);
    }

    #[test]
    fn durations_are_read() {
        for (text, millis) in [("PT0.1S", 100), ("PT1H30M", 5_400_000), ("P1DT1S", 86_401_000), ("P1W", 604_800_000)] {
            assert_eq!(duration(text, "delay").unwrap(), millis, "{text}");
        }
        for (text, millis) in
            [("PT0S", 0), ("PT0.1S", 100), ("PT1S", 1_000), ("PT1H30M", 5_400_000), ("PT24H1.001S", 86_401_001), ("PT1M", 60_000)]
        {
            assert_eq!(span(millis), text);
            assert_eq!(duration(text, "delay").unwrap(), millis);
        }
        for text in ["", "5", "PT", "-PT1S", "P1M", "P2Y", "PT99999999999H"] {
            assert!(duration(text, "delay").unwrap_err().detail.contains("delay"), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in ["yesterday", "2026-11-15", "12:00", ""] {
            assert!(read(text, "startDate").unwrap_err().detail.contains("startDate"), "{text}");
        }
        assert!(!written(i64::MAX).is_empty());
    }
}
