//! The window of things that happen at a time: lease ends, back-offs, turns, timers.

use std::collections::BTreeSet;

use crate::Millis;

/// What happens by time, complete up to a horizon. What lies past the horizon is in the tables only. `T` says what it is; its order
/// is that of the tables for things at the same time.
#[derive(Debug, Clone)]
pub struct Timeline<T> {
    window: BTreeSet<(Millis, T)>,
    horizon: Horizon<T>,
    window_max: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Horizon<T> {
    /// Nothing is known yet.
    Unknown,
    /// All entries up to this one are in the window.
    At(Millis, T),
    /// All there are.
    None,
}

/// What to ask the tables for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Later<T> {
    /// Entries greater than this; all if there is none.
    pub after: Option<(Millis, T)>,
    pub limit: usize,
}

impl<T: Ord + Copy> Timeline<T> {
    /// A window that knows nothing yet.
    pub fn unknown(window_max: usize) -> Self {
        Self { window: BTreeSet::new(), horizon: Horizon::Unknown, window_max: window_max.max(1) }
    }

    pub fn insert(&mut self, at: Millis, what: T) {
        match self.horizon {
            Horizon::Unknown => return,
            Horizon::At(last, thing) if (last, thing) < (at, what) => return,
            Horizon::At(..) | Horizon::None => {}
        }
        self.window.insert((at, what));
        while self.window_max < self.window.len() {
            self.window.pop_last();
            if let Some((at, what)) = self.window.last().copied() {
                self.horizon = Horizon::At(at, what);
            }
        }
    }

    pub fn remove(&mut self, at: Millis, what: T) {
        self.window.remove(&(at, what));
    }

    /// When to look again: the nearest entry, or when the first in the tables may be due if the window is empty and not complete.
    pub fn next(&self) -> Option<Millis> {
        match (self.window.first().copied(), self.horizon) {
            (Some((at, _)), _) | (None, Horizon::At(at, _)) => Some(at),
            (None, Horizon::Unknown) => Some(Millis::MIN),
            (None, Horizon::None) => None,
        }
    }

    /// Takes what is due, the earliest first, at most `limit`.
    pub fn due(&mut self, now: Millis, limit: usize) -> Vec<T> {
        let mut due = Vec::new();
        while due.len() < limit && self.window.first().is_some_and(|(at, _)| *at <= now) {
            due.extend(self.window.pop_first().map(|(_, what)| what));
        }
        due
    }

    pub fn len(&self) -> usize {
        self.window.len()
    }

    pub fn is_empty(&self) -> bool {
        self.window.is_empty()
    }

    /// How many of those in the window are due.
    pub fn overdue(&self, now: Millis) -> usize {
        self.window.iter().take_while(|(at, _)| *at <= now).count()
    }

    /// What to ask the tables for, if the window is empty and not known to be complete.
    pub fn refill(&self) -> Option<Later<T>> {
        let after = match self.horizon {
            Horizon::Unknown => None,
            Horizon::At(at, what) => Some((at, what)),
            Horizon::None => return None,
        };
        self.is_empty().then_some(Later { after, limit: self.window_max })
    }

    /// The tables' answer to [`Timeline::refill`], in order. Fewer than asked for means there are no more.
    pub fn refilled(&mut self, entries: impl IntoIterator<Item = (Millis, T)>) {
        let mut last = None;
        let mut count = 0;
        for entry in entries {
            self.window.insert(entry);
            last = Some(entry);
            count += 1;
        }
        self.horizon = match last {
            Some((at, what)) if self.window_max <= count => Horizon::At(at, what),
            Some(_) | None => Horizon::None,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a table that holds everything: nothing is early, nothing is forgotten, whatever the window's size.
        #[test]
        fn nothing_early_nothing_forgotten(times in proptest::collection::vec(0..100i64, 0..60), window_max in 1..8usize) {
            let mut table = BTreeSet::new();
            let mut timeline = Timeline::unknown(window_max);
            let mut fired = Vec::new();
            for (key, at) in times.iter().enumerate() {
                let (now, key) = (key as i64, key as u64);
                table.insert((now + at, key));
                timeline.insert(now + at, key);
                tick(&mut timeline, &mut table, now, &mut fired);
            }
            tick(&mut timeline, &mut table, 1000, &mut fired);
            prop_assert!(table.is_empty());
            prop_assert_eq!(fired.len(), times.len());
        }
    }

    fn tick(timeline: &mut Timeline<u64>, table: &mut BTreeSet<(Millis, u64)>, now: Millis, fired: &mut Vec<u64>) {
        loop {
            if let Some(Later { after, limit }) = timeline.refill() {
                let found: Vec<_> = table.iter().filter(|e| after.is_none_or(|after| after < **e)).take(limit).copied().collect();
                timeline.refilled(found);
            }
            let due = timeline.due(now, 3);
            if due.is_empty() {
                assert!(table.first().is_none_or(|(at, _)| now < *at), "something due was forgotten");
                return;
            }
            for key in due {
                let entry = *table.iter().find(|(_, k)| *k == key).expect("fired once");
                assert!(entry.0 <= now, "fired early");
                table.remove(&entry);
                fired.push(key);
            }
        }
    }
}
