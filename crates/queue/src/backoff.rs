//! How long a failed job waits before it is tried again.

use crate::Millis;
use crate::retry::BACKOFF_MAX;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Backoff {
    /// After the first failure the first, after the second the second, and so on; the last again and again.
    Listed(Vec<Millis>),
    /// Twice as long each time, between half and all of it, never longer than `most`.
    Exponential { first: Millis, most: Millis },
}

impl Backoff {
    /// After so many failures, from 1. What spreads those that failed together comes from their keys, so that it is the same each time
    /// it is asked for.
    pub fn delay(&self, failures: u32, key: u64) -> Millis {
        match self {
            Self::Listed(delays) => {
                let place = (failures.max(1) as usize - 1).min(delays.len().saturating_sub(1));
                delays.get(place).copied().unwrap_or(0).clamp(0, BACKOFF_MAX)
            }
            Self::Exponential { first, most } => {
                let most = (*most).clamp(0, BACKOFF_MAX);
                let factor = 1_i64.checked_shl(failures.max(1) - 1).filter(|factor| 0 < *factor).unwrap_or(i64::MAX);
                let whole = (*first).clamp(0, most).saturating_mul(factor).min(most);
                whole - (whole / 2).saturating_mul(spread(key, failures)) / 1_024
            }
        }
    }
}

/// 0 to 1,023, much the same as chance.
fn spread(key: u64, failures: u32) -> Millis {
    let mixed = (key ^ u64::from(failures).rotate_left(32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed ^ (mixed >> 31)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 54) as Millis
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn listed_delays_end_with_the_last() {
        let listed = Backoff::Listed(vec![10, 50]);
        assert_eq!([0, 1, 2, 3, 99].map(|failures| listed.delay(failures, 7)), [10, 10, 50, 50, 50]);
        assert_eq!(Backoff::Listed(vec![]).delay(1, 7), 0);
    }

    proptest! {
        #[test]
        fn exponential_ones_double_within_bounds(first in 1..100_000i64, most in 1..10_000_000i64, failures in 1..80u32, key: u64) {
            let whole = first.min(most).saturating_mul(1_i64.checked_shl(failures - 1).filter(|f| 0 < *f).unwrap_or(i64::MAX)).min(most);
            let delay = Backoff::Exponential { first, most }.delay(failures, key);
            prop_assert!((whole - whole / 2..=whole).contains(&delay), "{delay} of {whole}");
        }
    }

    #[test]
    fn those_that_failed_together_do_not_come_back_together() {
        let backoff = Backoff::Exponential { first: 100_000, most: 100_000 };
        let delays: std::collections::BTreeSet<_> = (0..100).map(|key| backoff.delay(1, key)).collect();
        assert!(50 < delays.len(), "{delays:?}");
    }
}
