//! Item definitions: types by name, with what else must hold of a value.

use std::sync::Arc;

use feel::Expression;

/// A type as a place declares it.
#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    Feel(feel::Type),
    /// Index into [`Requirements::types`](super::Requirements::types).
    Item(usize),
}

#[derive(Debug, Clone)]
pub struct ItemDefinition {
    pub name: Arc<str>,
    pub shape: Shape,
    /// A list of such values.
    pub collection: bool,
    /// Unary tests every value, or every item of a collection, has to pass.
    pub allowed: Option<Expression>,
    /// Unary tests the value as a whole has to pass.
    pub constraint: Option<Expression>,
    /// The same without what must hold of values, as `instance of` sees it.
    pub plain: feel::Type,
}

#[derive(Debug, Clone)]
pub enum Shape {
    /// As another type.
    Same(Type),
    /// A context of these members.
    Members(Vec<(Arc<str>, Option<Type>)>),
    /// A function of so many parameters.
    Function(usize),
}
