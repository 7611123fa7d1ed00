//! The window of things that happen at a time: lease ends, back-offs, timers.

use std::collections::BTreeSet;

use crate::Millis;

/// Keys by time, complete up to a horizon. What lies past the horizon is in the table only.
#[derive(Debug, Clone)]
pub struct Timeline {
    window: BTreeSet<(Millis, u64)>,
    /// All entries up to this one are in the window; `None`: all there are.
    horizon: Option<(Millis, u64)>,
    window_max: usize,
}

impl Timeline {
    /// A window that knows nothing yet.
    pub fn unknown(window_max: usize) -> Self {
        Self { window: BTreeSet::new(), horizon: Some((Millis::MIN, 0)), window_max: window_max.max(1) }
    }

    pub fn insert(&mut self, at: Millis, key: u64) {
        if self.horizon.is_some_and(|horizon| horizon < (at, key)) {
            return;
        }
        self.window.insert((at, key));
        while self.window_max < self.window.len() {
            self.window.pop_last();
            self.horizon = self.window.last().copied();
        }
    }

    pub fn remove(&mut self, at: Millis, key: u64) {
        self.window.remove(&(at, key));
    }

    /// When to look again: the nearest entry, or at once if the window is empty and not known to be complete.
    pub fn next(&self) -> Option<Millis> {
        match self.window.first() {
            Some((at, _)) => Some(*at),
            None => self.horizon.map(|(at, _)| at),
        }
    }

    /// Takes what is due, the earliest first, at most `limit`.
    pub fn due(&mut self, now: Millis, limit: usize) -> Vec<u64> {
        let mut due = Vec::new();
        while due.len() < limit && self.window.first().is_some_and(|(at, _)| *at <= now) {
            due.extend(self.window.pop_first().map(|(_, key)| key));
        }
        due
    }

    /// What to ask the table for: entries greater than this, at most that many.
    pub fn refill(&self) -> Option<((Millis, u64), usize)> {
        let after = self.horizon?;
        self.window.is_empty().then_some((after, self.window_max))
    }

    /// The table's answer to [`Timeline::refill`], by time and key. Fewer than asked for means there are no more.
    pub fn refilled(&mut self, entries: &[(Millis, u64)]) {
        self.window.extend(entries);
        self.horizon = if entries.len() < self.window_max { None } else { entries.last().copied() };
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

    fn tick(timeline: &mut Timeline, table: &mut BTreeSet<(Millis, u64)>, now: Millis, fired: &mut Vec<u64>) {
        loop {
            if let Some((after, limit)) = timeline.refill() {
                let found: Vec<_> = table.iter().filter(|e| after < **e).take(limit).copied().collect();
                timeline.refilled(&found);
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
