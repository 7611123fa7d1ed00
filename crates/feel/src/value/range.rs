//! Everything between two values.

use super::{Extent, Value};

/// A range of comparable values. A missing end is unbounded.
#[derive(Clone, Debug)]
pub struct Range {
    /// The lower end.
    pub start: Endpoint,
    /// The upper end.
    pub end: Endpoint,
}

/// One end of a [`Range`].
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The value at the end; `null` for none.
    pub value: Value,
    /// Whether the value itself belongs to the range.
    pub included: bool,
}

impl Endpoint {
    /// An end whose value belongs to the range.
    pub fn included(value: Value) -> Endpoint {
        Endpoint { value, included: true }
    }

    /// An end whose value does not.
    pub fn excluded(value: Value) -> Endpoint {
        Endpoint { value, included: false }
    }
}

impl Range {
    pub(crate) fn extent(&self) -> Extent {
        Extent::around([self.start.value.extent(), self.end.value.extent()].into_iter())
    }
}
