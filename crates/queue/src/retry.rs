//! What a failure means for a job.

use crate::Millis;

/// A back-off longer than this is cut: a year is as good as never, and the sum must not overflow.
pub const BACKOFF_MAX: Millis = 365 * 24 * 60 * 60 * 1000;

/// A lease longer than this is cut.
pub const LEASE_MAX: Millis = 365 * 24 * 60 * 60 * 1000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Another worker may try at once.
    Ready,
    /// Another worker may try from then on.
    Later { at: Millis },
    /// No retries left: a person must look.
    Stuck,
}

/// A worker failed a job and says how many retries are left and how long to wait.
pub fn after_failure(retries_left: i32, backoff: Millis, now: Millis) -> Verdict {
    if retries_left <= 0 {
        return Verdict::Stuck;
    }
    if backoff <= 0 {
        return Verdict::Ready;
    }
    Verdict::Later { at: now.saturating_add(backoff.min(BACKOFF_MAX)) }
}

/// When a lease taken now ends.
pub fn lease_end(timeout: Millis, now: Millis) -> Millis {
    now.saturating_add(timeout.clamp(0, LEASE_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn never_before_now(retries in any::<i32>(), backoff in any::<i64>(), now in 0..i64::MAX / 2) {
            if let Verdict::Later { at } = after_failure(retries, backoff, now) {
                prop_assert!(now < at);
            }
            prop_assert!(now <= lease_end(backoff, now));
        }

        #[test]
        fn a_longer_backoff_is_never_sooner(a in 1..i64::MAX, b in 1..i64::MAX, now in 0..i64::MAX / 2) {
            let at = |backoff| match after_failure(1, backoff, now) {
                Verdict::Later { at } => at,
                Verdict::Ready | Verdict::Stuck => now,
            };
            prop_assert!(at(a.min(b)) <= at(a.max(b)));
        }
    }

    #[test]
    fn without_retries_a_job_is_stuck_whatever_the_backoff() {
        assert_eq!(after_failure(0, 1000, 5), Verdict::Stuck);
        assert_eq!(after_failure(-3, 0, 5), Verdict::Stuck);
        assert_eq!(after_failure(1, 0, 5), Verdict::Ready);
        assert_eq!(after_failure(1, 10, 5), Verdict::Later { at: 15 });
    }
}
