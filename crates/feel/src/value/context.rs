//! A shared map from names to values that keeps the order of insertion.

use super::{Extent, Value};
use std::sync::Arc;

/// From this many entries on, an index by name is kept; below it looking through them is faster.
const INDEX_MIN: usize = 16;

/// Named values in order of insertion; cloning shares them.
#[derive(Clone, Debug)]
pub struct Context(Arc<Entries>);

#[derive(Debug)]
struct Entries {
    entries: Vec<(Arc<str>, Value)>,
    /// Positions in `entries`, sorted by name; empty for small contexts.
    index: Vec<u32>,
    extent: Extent,
}

impl Context {
    /// A context without entries.
    pub fn empty() -> Context {
        Context::from(Vec::new())
    }

    /// The entries in order.
    pub fn entries(&self) -> &[(Arc<str>, Value)] {
        &self.0.entries
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let entries = &self.0.entries;
        if self.0.index.is_empty() {
            return entries.iter().find(|(key, _)| &**key == name).map(|(_, value)| value);
        }
        let found = self.0.index.binary_search_by(|at| (*entries[*at as usize].0).cmp(name)).ok()?;
        Some(&entries[self.0.index[found] as usize].1)
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.0.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.entries.is_empty()
    }

    /// A copy in which `name` has `value`: in its old place if it had one, else at the end.
    pub fn with(&self, name: Arc<str>, value: Value) -> Context {
        let mut entries = self.0.entries.clone();
        match entries.iter_mut().find(|(key, _)| *key == name) {
            Some(entry) => entry.1 = value,
            None => entries.push((name, value)),
        }
        Context::from(entries)
    }

    pub(crate) fn extent(&self) -> Extent {
        self.0.extent
    }

    /// Whether both are the very same context in memory.
    pub(crate) fn same(&self, other: &Context) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl From<Vec<(Arc<str>, Value)>> for Context {
    /// Of entries with one name the last value counts, in the place of the first.
    fn from(mut entries: Vec<(Arc<str>, Value)>) -> Context {
        let mut index = Vec::new();
        if INDEX_MIN <= entries.len() {
            index = sorted(&entries);
            let repeated = index.windows(2).any(|pair| entries[pair[0] as usize].0 == entries[pair[1] as usize].0);
            if repeated {
                entries = merged(entries, &index);
                index = sorted(&entries);
            }
        } else {
            merge_few(&mut entries);
        }
        let extent = Extent::around(entries.iter().map(|(key, value)| {
            let Extent { depth, size } = value.extent();
            Extent { depth, size: size.saturating_add(key.len() as u64) }
        }));
        Context(Arc::new(Entries { entries, index, extent }))
    }
}

/// Positions sorted by name; equal names stay in order.
fn sorted(entries: &[(Arc<str>, Value)]) -> Vec<u32> {
    let mut index: Vec<u32> = (0..u32::try_from(entries.len()).unwrap_or(u32::MAX)).collect();
    index.sort_by(|a, b| entries[*a as usize].0.cmp(&entries[*b as usize].0));
    index
}

fn merged(mut entries: Vec<(Arc<str>, Value)>, index: &[u32]) -> Vec<(Arc<str>, Value)> {
    let mut keep = vec![true; entries.len()];
    let mut at = 0;
    while at < index.len() {
        let first = index[at] as usize;
        let mut end = at + 1;
        while end < index.len() && entries[index[end] as usize].0 == entries[first].0 {
            keep[index[end] as usize] = false;
            end += 1;
        }
        entries[first].1 = entries[index[end - 1] as usize].1.clone();
        at = end;
    }
    let mut kept = keep.into_iter();
    entries.retain(|_| kept.next().unwrap_or(true));
    entries
}

fn merge_few(entries: &mut Vec<(Arc<str>, Value)>) {
    let mut at = 1;
    while at < entries.len() {
        match entries[..at].iter().position(|(key, _)| *key == entries[at].0) {
            Some(first) => entries[first].1 = entries.remove(at).1,
            None => at += 1,
        }
    }
}
