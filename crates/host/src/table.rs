//! Rows in memory, by key: a cache of a table that can be changed, undone command by command, and written tick by tick.
//!
//! A row that was changed stays until the tick that changed it is committed: until then the table itself is behind. Rows known to be
//! absent are remembered too. Rows are weighed where they come, change and go, so that what all of them take is always known.

use std::collections::{BTreeMap, VecDeque};
use std::hash::Hash;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::weigh::Weigh;

#[derive(Debug)]
pub(crate) struct Table<K, V> {
    rows: FxHashMap<K, Slot<V>>,
    /// What they take, about.
    bytes: usize,
    /// What was there before each change since the last [`Table::accept`].
    journal: Vec<Before<K, V>>,
    /// Keys changed since the last [`Table::written`].
    changed: BTreeMap<K, Change>,
    /// In the order in which they came; may name rows that have gone.
    order: VecDeque<K>,
}

#[derive(Debug)]
struct Slot<V> {
    /// `None`: there is no such row. Shared with what remembers it as it was, until it is changed.
    row: Option<Arc<V>>,
    /// The tick that last changed it and is not committed; 0 if the table has it as it is here.
    tick: u64,
}

impl<V> Clone for Slot<V> {
    fn clone(&self) -> Self {
        Self { row: self.row.clone(), tick: self.tick }
    }
}

#[derive(Debug)]
struct Before<K, V> {
    key: K,
    slot: Option<Slot<V>>,
    change: Option<Change>,
}

/// How a row came to differ from its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    New,
    Changed,
}

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Self { rows: FxHashMap::default(), bytes: 0, journal: Vec::new(), changed: BTreeMap::new(), order: VecDeque::new() }
    }
}

impl<V: Weigh> Slot<V> {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.row.as_deref().map_or(0, |row| size_of::<V>() + row.beyond())
    }
}

impl<K: Clone + Ord + Hash + Weigh, V: Clone + Weigh> Table<K, V> {
    /// How many rows are known to be there, or not to be.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// About as many bytes as its rows take in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    fn insert(&mut self, key: K, slot: Slot<V>) -> Option<Slot<V>> {
        let of_key = size_of::<K>() + key.beyond();
        self.bytes += of_key + slot.bytes();
        let before = self.rows.insert(key, slot);
        self.bytes -= before.as_ref().map_or(0, |before| of_key + before.bytes());
        before
    }

    fn remove(&mut self, key: &K) {
        if let Some(gone) = self.rows.remove(key) {
            self.bytes -= size_of::<K>() + key.beyond() + gone.bytes();
        }
    }

    /// Whether it is known that there is such a row, or that there is none.
    pub(crate) fn knows(&self, key: &K) -> bool {
        self.rows.contains_key(key)
    }

    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        self.rows.get(key)?.row.as_deref()
    }

    /// The row as it is now, whatever becomes of it.
    pub(crate) fn share(&self, key: &K) -> Option<Arc<V>> {
        self.rows.get(key)?.row.clone()
    }

    /// All rows that are known to be there.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &V> {
        self.rows.values().filter_map(|slot| slot.row.as_deref())
    }

    /// What the table holds. What is known already is newer.
    pub(crate) fn load(&mut self, key: K, row: Option<V>) {
        if !self.rows.contains_key(&key) {
            self.order.push_back(key.clone());
            self.insert(key, Slot { row: row.map(Arc::new), tick: 0 });
        }
    }

    /// A row that comes into being, or takes the place of one that is known.
    pub(crate) fn put(&mut self, key: K, row: V, tick: u64) {
        let slot = self.insert(key.clone(), Slot { row: Some(Arc::new(row)), tick });
        if slot.is_none() {
            self.order.push_back(key.clone());
        }
        let is_new = slot.as_ref().is_none_or(|slot| slot.row.is_none());
        self.note(key, slot, if is_new { Change::New } else { Change::Changed });
    }

    /// Changes a row that is there.
    pub(crate) fn change(&mut self, key: &K, tick: u64, change: impl FnOnce(&mut V)) {
        let Some(slot) = self.rows.get_mut(key) else { return };
        let before = slot.clone();
        let Some(row) = &mut slot.row else { return };
        slot.tick = tick;
        change(Arc::make_mut(row));
        self.bytes = self.bytes + slot.bytes() - before.bytes();
        self.note(key.clone(), Some(before), Change::Changed);
    }

    fn note(&mut self, key: K, slot: Option<Slot<V>>, how: Change) {
        let change = self.changed.get(&key).copied();
        if change.is_none() {
            self.changed.insert(key.clone(), how);
        }
        self.journal.push(Before { key, slot, change });
    }

    /// What has changed since the last time: each key once, in order, with the row as it was before, if there was one.
    pub(crate) fn changes(&self) -> Vec<(K, Option<Arc<V>>)> {
        let row = |before: &Before<K, V>| before.slot.as_ref().and_then(|slot| slot.row.clone());
        let mut first: Vec<_> = self.journal.iter().map(|before| (before.key.clone(), row(before))).collect();
        first.sort_by(|(one, _), (other, _)| one.cmp(other));
        first.dedup_by(|(later, _), (first, _)| later == first);
        first
    }

    pub(crate) fn accept(&mut self) {
        self.journal.clear();
    }

    pub(crate) fn undo(&mut self) {
        while let Some(Before { key, slot, change }) = self.journal.pop() {
            match change {
                Some(change) => self.changed.insert(key.clone(), change),
                None => self.changed.remove(&key),
            };
            match slot {
                Some(slot) => drop(self.insert(key, slot)),
                None => self.remove(&key),
            }
        }
    }

    /// How many rows the tick will write.
    pub(crate) fn unwritten(&self) -> usize {
        self.changed.len()
    }

    /// What a tick writes, by key.
    pub(crate) fn written(&mut self) -> Vec<(K, V, Change)> {
        let changed = std::mem::take(&mut self.changed);
        changed.into_iter().filter_map(|(key, how)| self.get(&key).cloned().map(|row| (key, row, how))).collect()
    }

    /// The tick is committed: the table has what it changed. Rows that are over leave memory.
    pub(crate) fn committed(&mut self, tick: u64, keys: &[K], is_over: impl Fn(&V) -> bool) {
        for key in keys {
            let Some(slot) = self.rows.get_mut(key) else { continue };
            if tick < slot.tick {
                continue;
            }
            slot.tick = 0;
            if slot.row.as_deref().is_none_or(&is_over) {
                self.remove(key);
            }
        }
    }

    /// Makes room, those longest in memory first; what is not committed stays.
    pub(crate) fn trim(&mut self, rows_max: usize, bytes_max: usize) {
        let mut looked_at = 0;
        while (rows_max < self.rows.len() || bytes_max < self.bytes) && looked_at < self.order.len() {
            let Some(key) = self.order.pop_front() else { break };
            match self.rows.get(&key) {
                None => {}
                Some(slot) if slot.tick != 0 => {
                    looked_at += 1;
                    self.order.push_back(key);
                }
                Some(_) => self.remove(&key),
            }
        }
        if self.rows.len() * 2 + 1024 < self.order.len() {
            self.order.retain(|key| self.rows.contains_key(key));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Weigh for &'static str {
        fn beyond(&self) -> usize {
            self.len()
        }
    }

    fn table() -> Table<u64, &'static str> {
        let mut table = Table::default();
        table.load(1, Some("a"));
        table.load(2, None);
        table
    }

    #[test]
    fn an_undone_command_has_changed_nothing() {
        let mut table = table();
        table.put(3, "kept", 1);
        table.accept();
        table.change(&1, 1, |row| *row = "b");
        table.put(2, "new", 1);
        table.change(&3, 1, |row| *row = "lost");
        table.put(4, "lost", 1);
        let changes: Vec<_> = table.changes().into_iter().map(|(key, row)| (key, row.map(|row| *row))).collect();
        assert_eq!(changes, [(1, Some("a")), (2, None), (3, Some("kept")), (4, None)]);
        table.undo();
        assert_eq!((table.get(&1), table.get(&2), table.get(&3)), (Some(&"a"), None, Some(&"kept")));
        assert!(table.knows(&2) && !table.knows(&4));
        assert_eq!(table.written(), [(3, "kept", Change::New)]);
    }

    #[test]
    fn a_row_that_is_new_and_changed_is_written_once_as_new() {
        let mut table = table();
        table.put(3, "x", 1);
        table.accept();
        table.change(&3, 1, |row| *row = "y");
        table.accept();
        assert_eq!(table.written(), [(3, "y", Change::New)]);
        table.change(&3, 2, |row| *row = "z");
        assert_eq!(table.written(), [(3, "z", Change::Changed)]);
    }

    #[test]
    fn what_is_not_committed_stays() {
        let mut table = table();
        table.change(&1, 7, |row| *row = "b");
        table.change(&1, 8, |row| *row = "over");
        table.trim(0, usize::MAX);
        assert_eq!((table.get(&1), table.knows(&2)), (Some(&"over"), false));
        table.committed(7, &[1], |row| *row == "over");
        assert_eq!(table.get(&1), Some(&"over"));
        table.committed(8, &[1], |row| *row == "over");
        assert!(!table.knows(&1));
    }

    #[test]
    fn rows_are_weighed_where_they_come_change_and_go() {
        let mut table = table();
        let before = table.bytes();
        table.put(3, "kept", 1);
        let kept = table.bytes();
        assert_eq!(kept - before, size_of::<u64>() + size_of::<Slot<&str>>() + size_of::<&str>() + 4);
        table.accept();
        table.change(&1, 1, |row| *row = "much longer");
        assert_eq!(table.bytes() - kept, "much longer".len() - "a".len());
        table.put(2, "new", 1);
        table.put(3, "", 1);
        table.undo();
        assert_eq!(table.bytes(), kept);
        table.committed(1, &[3], |_| true);
        assert_eq!(table.bytes(), before);
        table.trim(usize::MAX, before - 1);
        assert!(!table.knows(&1) && table.knows(&2), "those longest in memory go first");
        table.trim(usize::MAX, 0);
        assert_eq!(table.bytes(), 0);
    }
}
