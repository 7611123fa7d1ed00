//! How fast jobs may start: each start takes a token, and the token is back when a window has passed. So in no span of a window's length
//! do more start than there are tokens, and none starts a moment later than that allows.
//!
//! What is kept is when jobs were started, which is true whatever the policy says next: another limit or window counts the same starts.

use std::collections::VecDeque;

use crate::Millis;

/// Moments kept of one bucket. Past it the two that are closest become one, at the later: tokens come back late then, by about one
/// 64th of a window, and never early.
const MOMENTS_MAX: usize = 64;

/// So many per window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    pub limit: u32,
    pub window: Millis,
}

/// When jobs were started, the first first, and how many at each moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Starts {
    moments: VecDeque<(Millis, u32)>,
}

impl Starts {
    pub fn of(moments: impl IntoIterator<Item = (Millis, u32)>) -> Self {
        Self { moments: moments.into_iter().collect() }
    }

    pub fn moments(&self) -> impl Iterator<Item = (Millis, u32)> {
        self.moments.iter().copied()
    }

    pub fn is_empty(&self) -> bool {
        self.moments.is_empty()
    }

    /// One was started. It counts as late as the last if the clock was set back.
    pub fn add(&mut self, now: Millis) {
        match self.moments.back_mut() {
            Some((last, count)) if now <= *last => *count = count.saturating_add(1),
            Some(_) | None => self.moments.push_back((now, 1)),
        }
        if MOMENTS_MAX < self.moments.len() {
            self.join_closest();
        }
    }

    fn join_closest(&mut self) {
        let gaps = self.moments.iter().zip(self.moments.iter().skip(1)).map(|((a, _), (b, _))| b - a);
        let Some((closest, _)) = gaps.enumerate().min_by_key(|(_, gap)| *gap) else { return };
        if let Some((_, count)) = self.moments.remove(closest) {
            let next = &mut self.moments[closest].1;
            *next = next.saturating_add(count);
        }
    }

    /// Forgets what is longer ago than a window.
    pub fn forget(&mut self, window: Millis, now: Millis) {
        while self.moments.front().is_some_and(|(at, _)| at.saturating_add(window) <= now) {
            self.moments.pop_front();
        }
    }

    /// When all of it may be forgotten.
    pub fn over(&self, window: Millis) -> Millis {
        self.moments.back().map_or(Millis::MIN, |(at, _)| at.saturating_add(window))
    }

    /// When another may start, if that is not now.
    pub fn opens(&self, pace: Pace, now: Millis) -> Option<Millis> {
        let is_out = |(at, _): &&(Millis, u32)| now < at.saturating_add(pace.window);
        let mut out: u64 = self.moments.iter().filter(is_out).map(|(_, count)| u64::from(*count)).sum();
        let mut opens = None;
        for (at, count) in self.moments.iter().filter(is_out) {
            if out < u64::from(pace.limit) {
                break;
            }
            out -= u64::from(*count);
            opens = Some(at.saturating_add(pace.window));
        }
        opens
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Starts whenever it may, at times of the caller's: when each was.
    fn started(pace: Pace, times: &[Millis]) -> Vec<Millis> {
        let (mut starts, mut seen) = (Starts::default(), Vec::new());
        for now in times {
            starts.forget(pace.window, *now);
            if starts.opens(pace, *now).is_none() {
                starts.add(*now);
                seen.push(*now);
            }
        }
        seen
    }

    proptest! {
        /// Whatever the times: in no span of a window more than the limit, and with few tokens never fewer than there could be.
        #[test]
        fn never_more_than_the_limit_in_any_window(
            steps in proptest::collection::vec(0..20i64, 0..400),
            limit in 1..100u32,
            window in 1..300i64,
        ) {
            let pace = Pace { limit, window };
            let times: Vec<Millis> = steps.iter().scan(0, |now, step| { *now += step; Some(*now) }).collect();
            let seen = started(pace, &times);
            for (place, first) in seen.iter().enumerate() {
                let within = seen[place..].iter().take_while(|at| **at < first + window).count();
                prop_assert!(within <= limit as usize);
            }
            if (limit as usize) < MOMENTS_MAX {
                let mut greedy: Vec<Millis> = Vec::new();
                for now in &times {
                    if greedy.iter().filter(|at| *now < **at + window).count() < limit as usize {
                        greedy.push(*now);
                    }
                }
                prop_assert_eq!(seen, greedy);
            }
        }

        /// The time it names is the first at which another may start.
        #[test]
        fn it_opens_exactly_then(steps in proptest::collection::vec(0..5i64, 1..100), limit in 1..20u32, window in 1..200i64) {
            let pace = Pace { limit, window };
            let mut starts = Starts::default();
            let mut now = 0;
            for step in steps {
                now += step;
                match starts.opens(pace, now) {
                    None => starts.add(now),
                    Some(at) => {
                        prop_assert!(now < at);
                        prop_assert!(starts.opens(pace, at - 1).is_some());
                        prop_assert_eq!(starts.opens(pace, at), None);
                    }
                }
            }
        }

        /// Memory is bounded, and what is forgotten made no difference.
        #[test]
        fn what_is_kept_is_bounded(steps in proptest::collection::vec(1..9i64, 0..300)) {
            let pace = Pace { limit: 1_000, window: 100 };
            let mut starts = Starts::default();
            let mut now = 0;
            for step in steps {
                now += step;
                starts.add(now);
                prop_assert!(starts.moments.len() <= MOMENTS_MAX);
                let before = starts.opens(pace, now);
                starts.forget(pace.window, now);
                prop_assert_eq!(starts.opens(pace, now), before);
                prop_assert!(now < starts.over(pace.window));
            }
        }
    }

    #[test]
    fn another_limit_counts_the_same_starts() {
        let starts = Starts::of([(0, 3), (10, 2)]);
        let opens = |limit, window, now| starts.opens(Pace { limit, window }, now);
        assert_eq!(opens(6, 100, 10), None);
        assert_eq!(opens(5, 100, 10), Some(100));
        assert_eq!(opens(2, 100, 10), Some(110), "all of the three have to be back, and one of the two");
        assert_eq!(opens(2, 5, 10), Some(15));
        assert_eq!(opens(2, 5, 15), None);
    }

    #[test]
    fn a_clock_that_was_set_back_lets_nobody_go_early() {
        let mut starts = Starts::default();
        starts.add(100);
        starts.add(50);
        assert_eq!(starts.moments().collect::<Vec<_>>(), [(100, 2)]);
    }
}
