//! What an entity can be filtered and sorted by, in the words of the wire.

use store::query::{Entity, Field};
use store::row::Candidates;

pub(in crate::rest) struct Table {
    /// The prefix of its schemas: `Job` for `JobFilter`.
    pub(in crate::rest) name: &'static str,
    pub(in crate::rest) entity: Entity,
    pub(in crate::rest) filters: &'static [Filterable],
    pub(in crate::rest) sorts: &'static [Sortable],
}

pub(in crate::rest) struct Filterable {
    pub(in crate::rest) name: &'static str,
    pub(in crate::rest) by: By,
    pub(in crate::rest) value: Value,
    pub(in crate::rest) operators: Operators,
}

pub(in crate::rest) struct Sortable {
    pub(in crate::rest) name: &'static str,
    /// `None` for what is the same in every row.
    pub(in crate::rest) field: Option<Field>,
    pub(in crate::rest) value: Value,
}

#[derive(Clone, Copy)]
pub(in crate::rest) enum By {
    Field(Field),
    /// Some row of that entity belongs to the instance and matches; all that is asked of one entity is asked of one row.
    Related(Entity, Field),
    /// The same in every row.
    Fixed(Constant),
    /// All of these tags.
    Tags,
    /// All of these variables.
    Variables,
    /// The instance has all of these tags, or variables.
    TagsOfInstance,
    VariablesOfInstance,
    /// One of those who may do the task.
    Candidate(Candidates),
    /// Of those that match, the highest version of each.
    LatestVersion,
    /// Any of these filters.
    Any,
}

#[derive(Clone, Copy)]
pub(in crate::rest) enum Constant {
    Absent,
    Number(i64),
    Text(&'static str),
}

#[derive(Clone, Copy, PartialEq)]
pub(in crate::rest) enum Value {
    Text,
    Key,
    Int32,
    Boolean,
    Time,
    Word(&'static [&'static str]),
}

/// What is asked of one value.
#[derive(Clone, Copy)]
pub(in crate::rest) struct Condition<'a> {
    pub(in crate::rest) name: &'a str,
    pub(in crate::rest) value: Value,
    pub(in crate::rest) operators: Operators,
}

impl Filterable {
    pub(in crate::rest) fn condition(&self) -> Condition<'static> {
        Condition { name: self.name, value: self.value, operators: self.operators }
    }
}

/// What may be asked of a value besides being equal.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::rest) enum Operators {
    None,
    Basic,
    Like,
    Ordered,
}

impl Operators {
    pub(in crate::rest) fn names(self) -> &'static [&'static str] {
        match self {
            Self::None => &[],
            Self::Basic => &["$eq", "$neq", "$exists", "$in", "$notIn"],
            Self::Like => &["$eq", "$neq", "$exists", "$in", "$notIn", "$like"],
            Self::Ordered => &["$eq", "$neq", "$exists", "$in", "$gt", "$gte", "$lt", "$lte"],
        }
    }
}

pub(in crate::rest) const fn filterable(name: &'static str, field: Field, value: Value, operators: Operators) -> Filterable {
    Filterable { name, by: By::Field(field), value, operators }
}

pub(in crate::rest) const fn related(
    name: &'static str,
    (entity, field): (Entity, Field),
    value: Value,
    operators: Operators,
) -> Filterable {
    Filterable { name, by: By::Related(entity, field), value, operators }
}

pub(in crate::rest) const fn sortable(name: &'static str, field: Field, value: Value) -> Sortable {
    Sortable { name, field: Some(field), value }
}
