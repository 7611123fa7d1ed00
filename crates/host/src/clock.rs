//! The engine's time: the database's, unless a test has moved it.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use store::Millis;
use tokio::time::Instant;

/// How the engine's time is moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockMove {
    /// It stands still at this time.
    Pin(Millis),
    /// It goes on, or stands, so much later.
    Advance(Millis),
    /// It is the database's again.
    Reset,
}

#[derive(Debug, Clone, Copy, Default)]
enum Moved {
    #[default]
    No,
    By(Millis),
    Pinned(Millis),
}

/// The last day of the year 9999: a clock is moved no further, so that every time after it can still be counted.
const END_OF_TIME: Millis = 253_402_214_400_000;

/// Where the engine's time stands to the database's. Only in this server's memory: it is for tests, which have one.
#[derive(Debug, Default)]
pub(crate) struct Moving(Mutex<Moved>);

impl Moving {
    pub(crate) fn apply(&self, to: ClockMove) {
        let mut moved = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *moved = match (to, *moved) {
            (ClockMove::Pin(at), _) => Moved::Pinned(at),
            (ClockMove::Reset, _) => Moved::No,
            (ClockMove::Advance(by), Moved::No) => Moved::By(by),
            (ClockMove::Advance(by), Moved::By(before)) => Moved::By(before.saturating_add(by)),
            (ClockMove::Advance(by), Moved::Pinned(at)) => Moved::Pinned(at.saturating_add(by)),
        };
    }

    /// What the engine's time is when the database's is this.
    pub(crate) fn time(&self, database: Millis) -> Millis {
        match *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Moved::No => database,
            Moved::By(by) => database.saturating_add(by).min(END_OF_TIME),
            Moved::Pinned(at) => at.min(END_OF_TIME),
        }
    }
}

/// The database's clock between two times it was heard.
pub(crate) struct Clock {
    heard: Millis,
    at: Instant,
    /// What it showed when it was last asked what is due; before any time if that was long ago or it was set back since.
    confirmed: Millis,
}

impl Clock {
    pub(crate) fn set(heard: Millis) -> Self {
        Self { heard, at: Instant::now(), confirmed: Millis::MIN }
    }

    /// An answer to what was asked then: it is at least that late. What was heard before still holds, unless the clock was set back since.
    pub(crate) fn hear(&mut self, heard: Millis, asked: Instant) {
        let (now, under_way) = (self.now(), asked.elapsed().as_millis() as Millis);
        let was_set_back = heard + under_way < now;
        *self = match was_set_back {
            true => Self::set(heard),
            false => Self { confirmed: self.confirmed, ..Self::set(heard.max(now)) },
        };
    }

    /// It was asked what is due.
    pub(crate) fn confirm(&mut self, heard: Millis, asked: Instant) {
        // Not set to it: by now it is later than that.
        self.hear(heard, asked);
        self.confirmed = heard;
    }

    pub(crate) fn confirmed(&self) -> Millis {
        self.confirmed
    }

    pub(crate) fn now(&self) -> Millis {
        self.heard + self.at.elapsed().as_millis() as Millis
    }
}

pub(crate) fn until(now: Millis, at: Millis) -> Duration {
    Duration::from_millis(u64::try_from(at.saturating_sub(now)).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Else a timer that is armed after that would fire by the server's own clock alone.
    #[test]
    fn what_was_confirmed_no_longer_holds_when_the_clock_is_set_back() {
        let mut clock = Clock::set(1_000_000);
        clock.confirm(1_000_000, Instant::now());
        clock.hear(2_000_000, Instant::now());
        assert_eq!(clock.confirmed(), 1_000_000);
        clock.hear(500_000, Instant::now());
        assert_eq!(clock.confirmed(), Millis::MIN);
    }

    #[test]
    fn time_is_moved_pinned_and_put_back() {
        let moving = Moving::default();
        assert_eq!(moving.time(1_000), 1_000);
        moving.apply(ClockMove::Advance(500));
        moving.apply(ClockMove::Advance(7));
        assert_eq!(moving.time(1_000), 1_507);
        moving.apply(ClockMove::Pin(90));
        assert_eq!((moving.time(1_000), moving.time(2_000)), (90, 90));
        moving.apply(ClockMove::Advance(10));
        assert_eq!(moving.time(1_000), 100);
        moving.apply(ClockMove::Reset);
        assert_eq!(moving.time(1_000), 1_000);
        moving.apply(ClockMove::Pin(Millis::MAX));
        assert_eq!(moving.time(1_000), END_OF_TIME);
    }
}
