//! Boxed expressions: how a decision or function computes its value.

use std::sync::Arc;

use feel::Expression;

use super::{Table, Type, Variable};

/// An expression with the type its place declares.
#[derive(Debug, Clone)]
pub struct Boxed {
    pub logic: Logic,
    pub declared: Option<Type>,
}

/// What an expression is. Each variant has its function in `engine::decision`.
#[derive(Debug, Clone)]
pub enum Logic {
    /// Nothing is written.
    Null,
    Literal(Expression),
    /// An expression that could not be read, and why; it is `null`. Only where files are compiled as the standard has it.
    Unreadable(Arc<str>),
    Table(Box<Table>),
    /// Entries in order, each seeing those before it; an entry without a name is the result.
    Context(Vec<Entry>),
    List(Vec<Boxed>),
    /// Column names, and rows of as many cells.
    Relation(Vec<Arc<str>>, Vec<Vec<Boxed>>),
    Invocation(Box<Invocation>),
    Function(Arc<Lambda>),
    /// Condition, result if it holds, result otherwise.
    Conditional(Box<[Boxed; 3]>),
    Filter(Box<Filter>),
    /// For every item the result of the body.
    For(Box<Iteration>),
    Quantified(Quantifier, Box<Iteration>),
}

#[derive(Debug, Clone)]
pub struct Entry {
    pub variable: Option<Variable>,
    pub value: Boxed,
}

/// A call with its arguments by name.
#[derive(Debug, Clone)]
pub struct Invocation {
    pub callee: Boxed,
    pub bindings: Vec<Binding>,
}

#[derive(Debug, Clone)]
pub struct Binding {
    pub parameter: Variable,
    /// Absent is `null`.
    pub value: Option<Boxed>,
}

/// A function: a function definition, or what a knowledge model holds.
#[derive(Debug, Clone)]
pub struct Lambda {
    pub parameters: Vec<Variable>,
    /// Absent is `null`.
    pub body: Option<Boxed>,
    pub result: Option<Type>,
}

#[derive(Debug, Clone)]
pub struct Filter {
    pub list: Boxed,
    pub matches: Boxed,
}

#[derive(Debug, Clone)]
pub struct Iteration {
    /// The name of the item.
    pub variable: Arc<str>,
    pub domain: Boxed,
    pub body: Boxed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantifier {
    Some,
    Every,
}
