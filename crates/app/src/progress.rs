//! Now and then a line about what takes long, to standard error: what is asked for goes to standard output.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

/// Who looks at a terminal waits; a log only has to show that something goes on.
const WATCHED: Duration = Duration::from_secs(2);
const UNWATCHED: Duration = Duration::from_secs(15);

pub(crate) struct Progress {
    every: Duration,
    next: Instant,
}

impl Progress {
    /// The first word is said at once.
    pub(crate) fn begin() -> Self {
        let every = if std::io::stderr().is_terminal() { WATCHED } else { UNWATCHED };
        Self { every, next: Instant::now() }
    }

    /// Says it if it is time again.
    pub(crate) fn tell(&mut self, word: impl FnOnce() -> String) {
        if self.is_time(Instant::now()) {
            eprintln!("{}", word());
        }
    }

    fn is_time(&mut self, now: Instant) -> bool {
        let is_time = self.next <= now;
        if is_time {
            self.next = now + self.every;
        }
        is_time
    }
}

/// As people read sizes.
pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_said_at_once_and_then_now_and_then() {
        let begin = Instant::now();
        let mut progress = Progress { every: Duration::from_secs(15), next: begin };
        let said = [0, 1, 14, 15, 16, 29, 40, 54, 55].map(|second| progress.is_time(begin + Duration::from_secs(second)));
        assert_eq!(said, [true, false, false, true, false, false, true, false, true]);
    }
}
