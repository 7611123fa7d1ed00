//! How fast a backup goes, and how far it has come. It knows no clock: who copies says what time it is, and sleeps.

use std::num::NonZeroU64;
use std::time::{Duration, Instant};

/// Bytes a second at most, while a store is copied and while the copy is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate(Option<NonZeroU64>);

impl Rate {
    pub const UNLIMITED: Self = Self(None);
    /// A tenth of what an ordinary SSD does: callers hardly notice.
    pub const DEFAULT: Self = Self(NonZeroU64::new(50_000_000));
    /// A copy that is slower keeps the write-ahead log from beginning anew for too long.
    pub const BYTES_MIN: u64 = 1_000_000;

    /// `None` for less than there may be.
    pub fn of(bytes_per_second: u64) -> Option<Self> {
        let enough = (Self::BYTES_MIN <= bytes_per_second).then_some(bytes_per_second);
        enough.and_then(NonZeroU64::new).map(|bytes| Self(Some(bytes)))
    }
}

/// Keeps to a rate.
#[derive(Debug)]
pub struct Brake {
    rate: Rate,
    /// When more may come.
    free: Instant,
}

impl Brake {
    pub fn new(rate: Rate, now: Instant) -> Self {
        Self { rate, free: now }
    }

    /// So many bytes have gone: how long to wait until more may. What was slow by itself is not made up for, or all of it would come at once.
    pub fn passed(&mut self, bytes: u64, now: Instant) -> Duration {
        let Some(rate) = self.rate.0 else { return Duration::ZERO };
        let takes = Duration::from_secs_f64(bytes as f64 / rate.get() as f64);
        self.free = self.free.max(now.checked_sub(takes).unwrap_or(now)) + takes;
        self.free.saturating_duration_since(now)
    }
}

/// How much of a store is copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copied {
    pub bytes: u64,
    pub total: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_pass_at_their_rate_and_nothing_is_made_up_for() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let mut brake = Brake::new(Rate::of(1_000_000).unwrap(), begin);
        assert_eq!(brake.passed(2_000_000, begin), Duration::from_secs(2));
        assert_eq!(brake.passed(1_000_000, at(2)), Duration::from_secs(1));
        assert_eq!(brake.passed(5_000_000, at(60)), Duration::ZERO, "it took long enough by itself");
        assert_eq!(brake.passed(5_000_000, at(61)), Duration::from_secs(4));
        assert_eq!(Brake::new(Rate::UNLIMITED, begin).passed(u64::MAX, begin), Duration::ZERO);
        assert_eq!(Rate::of(Rate::BYTES_MIN - 1), None);
    }
}
