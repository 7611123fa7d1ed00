//! A log line for every incident that was raised, up to so many a second: a process that fails for all its instances must not fill the
//! disk with saying so.

use store::{Millis, row};

/// Lines in one second.
const LINES_MAX: usize = 10;

/// Characters of an incident's message in the log.
const MESSAGE_CHARS_MAX: usize = 300;

/// What a tick raised: as much as may be logged, and how many there were.
#[derive(Default)]
pub(super) struct Raised {
    first: Vec<row::Incident>,
    count: usize,
}

impl Raised {
    pub(super) fn of(incidents: &[row::Incident]) -> Self {
        let first = incidents.iter().filter(|incident| incident.resolved.is_none()).take(LINES_MAX).cloned().collect();
        Self { first, count: incidents.len() }
    }
}

/// How many lines were written in the second that began then, and how many incidents got none.
#[derive(Default)]
pub(super) struct Lines {
    since: Millis,
    written: usize,
    left_out: usize,
}

impl Lines {
    pub(super) fn log(&mut self, raised: &Raised, now: Millis) {
        if raised.count == 0 {
            return;
        }
        let allowed = self.allow(raised.count, now);
        for incident in raised.first.iter().take(allowed.lines) {
            let message: String = incident.message.chars().take(MESSAGE_CHARS_MAX).collect();
            tracing::warn!(
                incident = incident.key.0,
                instance = incident.instance.0,
                element = incident.element_instance.0,
                definition = incident.definition.0,
                job = incident.job.map(|job| job.0),
                kind = store::words::incident_kind_word(incident.kind),
                message,
                "an incident was raised"
            );
        }
        if 0 < allowed.left_out_before {
            tracing::warn!(count = allowed.left_out_before, "more incidents were raised, without a line each");
        }
    }

    fn allow(&mut self, count: usize, now: Millis) -> Allowed {
        let mut left_out_before = 0;
        if !(self.since..self.since + 1000).contains(&now) {
            left_out_before = self.left_out;
            *self = Self { since: now, ..Self::default() };
        }
        let lines = count.min(LINES_MAX - self.written);
        self.written += lines;
        self.left_out += count - lines;
        Allowed { lines, left_out_before }
    }
}

#[derive(Debug, PartialEq)]
struct Allowed {
    lines: usize,
    /// In a second that is over.
    left_out_before: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_lines_a_second_and_the_rest_is_counted() {
        let mut lines = Lines::default();
        let mut allow = |count, now| {
            let Allowed { lines, left_out_before } = lines.allow(count, now);
            (lines, left_out_before)
        };
        assert_eq!(allow(4, 5_000), (4, 0));
        assert_eq!(allow(500, 5_100), (6, 0));
        assert_eq!(allow(2, 5_999), (0, 0));
        assert_eq!(allow(3, 6_000), (3, 496));
        assert_eq!(allow(1, 9_000), (1, 0));
        assert_eq!(allow(1, 1_000), (1, 0), "the clock was set back");
    }
}
