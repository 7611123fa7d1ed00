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

/// How long a job that failed waits for its next try, where its worker does not say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    pub delays: Delays,
    /// Up to so much longer, in percent, other for every job and try.
    pub jitter_percent: u32,
    /// Whether it keeps its slot meanwhile. Without, it gives that up and goes to the front of its own order.
    pub holds: bool,
}

impl Retry {
    /// Whether it makes no difference which try it was.
    pub fn is_always_the_same(&self) -> bool {
        match &self.delays {
            Delays::Listed(delays) => delays.len() < 2,
            Delays::Growing { factor, .. } => *factor < 2,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delays {
    /// One after the other; the last again and again. None at all: at once.
    Listed(Vec<Millis>),
    /// So many times longer with every try, up to a most.
    Growing { first: Millis, factor: u32, most: Millis },
}

/// How long to wait after a failed try, the first of which is number 1.
pub fn delay(retry: &Retry, attempt: u32, job: u64) -> Millis {
    let tries = attempt.max(1) - 1;
    let (delay, most) = match &retry.delays {
        Delays::Listed(delays) => (delays.get(tries as usize).or(delays.last()).copied().unwrap_or(0), BACKOFF_MAX),
        Delays::Growing { first, factor, most } => (grown(*first, *factor, tries, *most), *most),
    };
    let delay = delay.clamp(0, BACKOFF_MAX);
    let jitter =
        i128::from(delay) * i128::from(retry.jitter_percent) * i128::from(spread(job, attempt)) / 100 / i128::from(SPREAD);
    delay.saturating_add(Millis::try_from(jitter).unwrap_or(0)).min(most.min(BACKOFF_MAX))
}

fn grown(first: Millis, factor: u32, tries: u32, most: Millis) -> Millis {
    let times = i64::from(factor.max(1)).saturating_pow(tries);
    first.saturating_mul(times).min(most)
}

const SPREAD: u64 = 1 << 16;

/// A number below [`SPREAD`] that looks like chance and is always the same for a job and its try: there is no chance here.
fn spread(job: u64, attempt: u32) -> u64 {
    let mut mixed = job ^ (u64::from(attempt) << 48) ^ 0x9e37_79b9_7f4a_7c15;
    for _ in 0..2 {
        mixed = (mixed ^ (mixed >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    mixed >> 48
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

    proptest! {
        #[test]
        fn delays_grow_and_have_an_end(first in 1..100_000i64, factor in 1..10u32, most in 1..10_000_000i64, job in any::<u64>()) {
            let growing = |jitter_percent| Retry { delays: Delays::Growing { first, factor, most }, jitter_percent, holds: false };
            for attempt in 1..40 {
                let (plain, next) = (delay(&growing(0), attempt, job), delay(&growing(0), attempt + 1, job));
                prop_assert!(plain <= next && next <= most);
                let jittered = delay(&growing(50), attempt, job);
                prop_assert!(plain <= jittered && jittered <= most && jittered <= plain + plain / 2);
            }
        }
    }

    #[test]
    fn listed_delays_come_one_after_the_other() {
        let retry = |delays: &[Millis]| Retry { delays: Delays::Listed(delays.to_vec()), jitter_percent: 0, holds: false };
        let waits = |delays: &[Millis]| (1..=4).map(|attempt| delay(&retry(delays), attempt, 7)).collect::<Vec<_>>();
        assert_eq!(waits(&[1_000, 5_000]), [1_000, 5_000, 5_000, 5_000]);
        assert_eq!(waits(&[]), [0; 4]);
        assert_eq!(delay(&retry(&[3]), 0, 7), 3);
        assert_eq!(delay(&retry(&[Millis::MAX]), 1, 7), BACKOFF_MAX);
        let doubling = Retry { delays: Delays::Growing { first: 100, factor: 2, most: 500 }, jitter_percent: 0, holds: false };
        assert_eq!((1..=5).map(|attempt| delay(&doubling, attempt, 7)).collect::<Vec<_>>(), [100, 200, 400, 500, 500]);
        let spread: std::collections::BTreeSet<_> =
            (0..20).map(|job| delay(&Retry { jitter_percent: 50, ..retry(&[1_000]) }, 1, job)).collect();
        assert!(10 < spread.len(), "jobs that failed together do not come back together");
    }

    #[test]
    fn without_retries_a_job_is_stuck_whatever_the_backoff() {
        assert_eq!(after_failure(0, 1000, 5), Verdict::Stuck);
        assert_eq!(after_failure(-3, 0, 5), Verdict::Stuck);
        assert_eq!(after_failure(1, 0, 5), Verdict::Ready);
        assert_eq!(after_failure(1, 10, 5), Verdict::Later { at: 15 });
    }
}
