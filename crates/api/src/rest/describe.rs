//! What a value on the wire looks like: the words in which requests and answers describe themselves to `/openapi.json`.

use super::search::{Operators, Table, Value};
use super::shape::Shape;

#[derive(Clone, Copy)]
pub(super) enum Kind {
    Text,
    /// A whole number of 64 bits in a text.
    Key,
    Int32,
    Int64,
    Boolean,
    /// A date and time after RFC 3339.
    Time,
    Word(&'static [&'static str]),
    Texts,
    /// Any JSON object.
    Object,
    /// In answers: any JSON at all.
    Any,
    /// In requests: an object, a list of objects.
    Fields(&'static Shape),
    FieldsList(&'static Shape),
    /// In requests: a filter, as a search of the table has it.
    Filter(&'static Table),
    /// In requests: a value to be equal to, or operators, as in filters; a list of them.
    Condition(Value, Operators),
    ConditionList(Value, Operators),
    /// In answers: an object, a list of objects.
    Nested(&'static dyn Described),
    NestedList(&'static dyn Described),
}

/// An object with a name of its own among the schemas.
pub(super) trait Described: Sync {
    fn name(&self) -> &'static str;
    fn properties(&self) -> Vec<Property>;
}

pub(super) struct Property {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) about: &'static str,
    pub(super) required: bool,
    pub(super) nullable: bool,
}
