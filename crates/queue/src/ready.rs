//! The window of one queue: jobs that wait for a worker, strictly by key.

use std::collections::BTreeMap;

/// Jobs by key, complete up to a horizon. What lies past the horizon is in the table only.
#[derive(Debug, Clone)]
pub struct Ready<T> {
    window: BTreeMap<u64, T>,
    /// All ready jobs with keys up to this one are in the window; `None`: all there are.
    horizon: Option<u64>,
    window_max: usize,
}

/// What to ask the table for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refill {
    /// Keys greater than this.
    pub after: u64,
    pub limit: usize,
}

impl<T> Ready<T> {
    /// A window that knows nothing yet: the first look asks the table.
    pub fn unknown(window_max: usize) -> Self {
        Self { window: BTreeMap::new(), horizon: Some(0), window_max: window_max.max(1) }
    }

    /// A job became ready: new, failed with retries left, or its lease ran out.
    pub fn insert(&mut self, key: u64, job: T) {
        if self.horizon.is_some_and(|horizon| horizon < key) {
            return;
        }
        self.window.insert(key, job);
        while self.window_max < self.window.len() {
            self.window.pop_last();
            let last = self.window.last_key_value().expect("the window holds at least one");
            self.horizon = Some(*last.0);
        }
    }

    /// A job is not ready any more.
    pub fn remove(&mut self, key: u64) -> Option<T> {
        self.window.remove(&key)
    }

    /// The jobs at hand, the first in first.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.window.iter().map(|(key, job)| (*key, job))
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

    /// The table's answer to `asked`, by key. Fewer than asked for means there are no more.
    pub fn refilled(&mut self, asked: Refill, jobs: impl IntoIterator<Item = (u64, T)>) {
        let mut count = 0;
        for (key, job) in jobs {
            count += 1;
            self.horizon = Some(key);
            self.window.insert(key, job);
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
    use std::collections::BTreeSet;

    #[derive(Debug, Clone)]
    enum Act {
        Open,
        Return(usize),
        Take,
    }

    fn acts() -> impl Strategy<Value = Vec<Act>> {
        let act = prop_oneof![Just(Act::Open), (0..50usize).prop_map(Act::Return), Just(Act::Take)];
        proptest::collection::vec(act, 0..200)
    }

    proptest! {
        /// Against a table that holds everything: the window always hands out the smallest key, whatever its size.
        #[test]
        fn hands_out_in_order(acts in acts(), window_max in 1..8usize) {
            let mut table = BTreeSet::new();
            let mut taken = Vec::new();
            let mut ready = Ready::unknown(window_max);
            let mut next = 1;
            for act in acts {
                match act {
                    Act::Open => {
                        table.insert(next);
                        ready.insert(next, ());
                        next += 1;
                    }
                    Act::Return(n) if !taken.is_empty() => {
                        let key = taken.remove(n % taken.len());
                        table.insert(key);
                        ready.insert(key, ());
                    }
                    Act::Return(_) => {}
                    Act::Take => {
                        if let Some(asked) = ready.refill() {
                            let found: Vec<_> = table.range(asked.after + 1..).take(asked.limit).map(|k| (*k, ())).collect();
                            ready.refilled(asked, found);
                        }
                        let first = ready.iter().next().map(|(key, ())| key);
                        prop_assert_eq!(first, table.first().copied());
                        if let Some(key) = first {
                            ready.remove(key);
                            table.remove(&key);
                            taken.push(key);
                        }
                    }
                }
                prop_assert!(ready.len() <= window_max);
            }
        }
    }
}
