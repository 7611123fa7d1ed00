//! How long to wait before asking again a server that is not there.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(5);

pub(crate) struct Backoff {
    next: Duration,
    longest: Duration,
}

impl Backoff {
    pub(crate) fn new() -> Self {
        Self::up_to(LONGEST)
    }

    pub(crate) fn up_to(longest: Duration) -> Self {
        Self { next: FIRST.min(longest), longest }
    }

    /// The next pause, each twice as long as the one before.
    pub(crate) fn pause(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(self.longest);
        pause
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn pauses_grow_up_to_a_limit() {
        let mut backoff = super::Backoff::new();
        let pauses: Vec<u128> = (0..8).map(|_| backoff.pause().as_millis()).collect();
        assert_eq!(pauses, [100, 200, 400, 800, 1600, 3200, 5000, 5000]);
    }
}
