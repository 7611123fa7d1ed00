//! A shared list that knows its extent.

use super::{Extent, VALUE_BYTES, Value};
use crate::budget::Budget;
use crate::error::Error;
use std::sync::Arc;

/// Values in order; cloning shares them.
#[derive(Clone, Debug)]
pub struct List(Arc<Items>);

#[derive(Debug)]
struct Items {
    items: Vec<Value>,
    extent: Extent,
}

impl List {
    /// The values.
    pub fn items(&self) -> &[Value] {
        &self.0.items
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.items.is_empty()
    }

    /// Appends a value, if the list stays within the limits and there is room for it: also for a copy, where someone
    /// else holds the list.
    pub fn push_within(&mut self, value: Value, budget: &mut Budget) -> Result<(), Error> {
        let copied = if 1 < Arc::strong_count(&self.0) { self.len() as u64 } else { 0 };
        budget.make(VALUE_BYTES * (1 + copied))?;
        self.push(value);
        self.extent().check()
    }

    /// Appends a value: in place if nobody else holds the list, else to a copy.
    fn push(&mut self, value: Value) {
        let added = value.extent();
        if Arc::get_mut(&mut self.0).is_none() {
            let (items, extent) = (self.0.items.clone(), self.0.extent);
            self.0 = Arc::new(Items { items, extent });
        }
        let inner = Arc::get_mut(&mut self.0).expect("just made unshared");
        inner.items.push(value);
        inner.extent.depth = inner.extent.depth.max(added.depth.saturating_add(1));
        inner.extent.size = inner.extent.size.saturating_add(added.size);
    }

    pub(crate) fn extent(&self) -> Extent {
        self.0.extent
    }

    /// Whether both are the very same list in memory.
    pub(crate) fn same(&self, other: &List) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl From<Vec<Value>> for List {
    fn from(items: Vec<Value>) -> List {
        let extent = Extent::around(items.iter().map(Value::extent));
        List(Arc::new(Items { items, extent }))
    }
}
