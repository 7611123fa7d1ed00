//! The window of one queue: jobs that wait for a worker, the higher priority first, then strictly by key.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::Millis;

/// What a job's place in its queue is told from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seat {
    pub priority: i32,
    pub created: Millis,
    pub key: u64,
}

impl Seat {
    pub fn place(self) -> Place {
        Place::new(self.priority, self.key)
    }
}

/// A job's place in its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    rank: Reverse<i64>,
    key: u64,
}

impl Place {
    /// Before every job.
    pub const START: Self = Self::ranked(i64::MAX, 0);

    pub const fn new(priority: i32, key: u64) -> Self {
        Self::ranked(priority as i64, key)
    }

    /// The higher rank first.
    pub const fn ranked(rank: i64, key: u64) -> Self {
        Self { rank: Reverse(rank), key }
    }

    /// Where waiting so long counts as one priority more.
    pub fn aged(seat: Seat, ageing: Millis) -> Self {
        Self::ranked(i64::from(seat.priority).saturating_mul(ageing).saturating_sub(seat.created), seat.key)
    }

    pub fn key(self) -> u64 {
        self.key
    }

    pub fn rank(self) -> i64 {
        self.rank.0
    }
}

/// Jobs by place, complete up to a horizon. What lies past the horizon is in the table only.
#[derive(Debug, Clone)]
pub struct Ready {
    window: BTreeSet<Place>,
    /// All ready jobs up to this place are in the window; `None`: all there are.
    horizon: Option<Place>,
    window_max: usize,
}

/// What to ask the table for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refill {
    /// Places after this one.
    pub after: Place,
    pub limit: usize,
}

impl Ready {
    /// A window that knows nothing yet: the first look asks the table.
    pub fn unknown(window_max: usize) -> Self {
        Self { window: BTreeSet::new(), horizon: Some(Place::START), window_max: window_max.max(1) }
    }

    /// A window of a queue that is empty.
    pub fn complete(window_max: usize) -> Self {
        Self { window: BTreeSet::new(), horizon: None, window_max: window_max.max(1) }
    }

    /// A job became ready: new, failed with retries left, or its lease ran out.
    pub fn insert(&mut self, place: Place) {
        if self.horizon.is_some_and(|horizon| horizon < place) {
            return;
        }
        self.window.insert(place);
        while self.window_max < self.window.len() {
            self.window.pop_last();
            self.horizon = self.window.last().copied();
        }
    }

    /// A job is not ready any more.
    pub fn remove(&mut self, place: Place) {
        self.window.remove(&place);
    }

    /// The jobs at hand, the first in first.
    pub fn iter(&self) -> impl Iterator<Item = Place> {
        self.window.iter().copied()
    }

    pub fn len(&self) -> usize {
        self.window.len()
    }

    pub fn is_empty(&self) -> bool {
        self.window.is_empty()
    }

    /// What to ask the table for, if the window is empty and not known to be complete.
    pub fn refill(&self) -> Option<Refill> {
        let after = self.horizon?;
        self.window.is_empty().then_some(Refill { after, limit: self.window_max })
    }

    /// The table's answer to `asked`, in order. Fewer than asked for means there are no more.
    pub fn refilled(&mut self, asked: Refill, jobs: impl IntoIterator<Item = Place>) {
        let mut count = 0;
        for place in jobs {
            count += 1;
            self.horizon = Some(place);
            self.window.insert(place);
        }
        if count < asked.limit {
            self.horizon = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, Clone)]
    enum Act {
        Open(i32),
        Return(usize),
        Take,
    }

    fn acts() -> impl Strategy<Value = Vec<Act>> {
        let act = prop_oneof![(-1..2i32).prop_map(Act::Open), (0..50usize).prop_map(Act::Return), Just(Act::Take)];
        proptest::collection::vec(act, 0..200)
    }

    proptest! {
        /// Against a table that holds everything: the window always hands out the first, whatever its size.
        #[test]
        fn hands_out_in_order(acts in acts(), window_max in 1..8usize) {
            let mut table = BTreeSet::new();
            let mut taken = Vec::new();
            let mut ready = Ready::unknown(window_max);
            let mut next = 1;
            for act in acts {
                match act {
                    Act::Open(priority) => {
                        let place = Place::new(priority, next);
                        table.insert(place);
                        ready.insert(place);
                        next += 1;
                    }
                    Act::Return(n) if !taken.is_empty() => {
                        let place = taken.remove(n % taken.len());
                        table.insert(place);
                        ready.insert(place);
                    }
                    Act::Return(_) => {}
                    Act::Take => {
                        if let Some(asked) = ready.refill() {
                            let found: Vec<_> = table.iter().filter(|p| asked.after < **p).take(asked.limit).copied().collect();
                            ready.refilled(asked, found);
                        }
                        let first = ready.iter().next();
                        prop_assert_eq!(first, table.first().copied());
                        if let Some(place) = first {
                            ready.remove(place);
                            table.remove(&place);
                            taken.push(place);
                        }
                    }
                }
                prop_assert!(ready.len() <= window_max);
            }
        }
    }
}
