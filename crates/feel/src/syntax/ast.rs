//! The syntax tree: what was written, before names are resolved.
//!
//! Long chains (`a + b + c`, `a and b`, `else if`) are flat, so that the depth of the tree is bounded by the nesting
//! of the text and not by its length.

use crate::number::Number;
use crate::types::Type;
use std::sync::Arc;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expr {
    Null,
    Bool(bool),
    Number(Number),
    String(Arc<str>),
    /// `@"…"`.
    At(Arc<str>),
    Name(Arc<str>),
    /// `?`.
    Input,
    List(Vec<Expr>),
    Context(Vec<(Arc<str>, Expr)>),
    Range(Box<RangeExpr>),
    /// A comparison without a left side, such as `> 5`.
    Test(Box<Test>),
    Negate(Box<Expr>),
    /// A negation; FEEL itself writes it as a function.
    Not(Box<Expr>),
    /// Operators of one precedence, applied from left to right.
    Arithmetic(Box<Expr>, Vec<(Arithmetic, Expr)>),
    Compare(Comparison, Box<(Expr, Expr)>),
    Between(Box<(Expr, Expr, Expr)>),
    In(Box<Expr>, Vec<Test>),
    InstanceOf(Box<Expr>, Type),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    /// Conditions with their results, and the result if none holds.
    If(Vec<(Expr, Expr)>, Box<Expr>),
    For(Vec<Iteration>, Box<Expr>),
    Quantified(Quantifier, Vec<Iteration>, Box<Expr>),
    Path(Box<Expr>, Arc<str>),
    Filter(Box<(Expr, Expr)>),
    Call(Box<Expr>, Arguments),
    Function(Vec<Formal>, Box<Expr>),
    /// A function whose body is in another language.
    External(Vec<Formal>, Box<Expr>),
}

/// A range as written; a missing end is unbounded.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RangeExpr {
    pub(crate) start: Expr,
    pub(crate) start_included: bool,
    pub(crate) end: Expr,
    pub(crate) end_included: bool,
}

/// A test of an input value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Test {
    /// `-`: anything.
    Any,
    /// `not(…)`.
    Not(Vec<Test>),
    /// `< 5`.
    Compare(Comparison, Expr),
    /// `[1..5]`, and any other expression.
    Expression(Expr),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantifier {
    Some,
    Every,
}

/// `name in domain`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Iteration {
    pub(crate) name: Arc<str>,
    pub(crate) domain: Domain,
}

/// What an iteration runs over.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Domain {
    /// The items of a list.
    Items(Expr),
    /// `start..end`, counting up or down.
    Count(Expr, Expr),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Arguments {
    Positional(Vec<Expr>),
    Named(Vec<(Arc<str>, Expr)>),
}

/// A parameter as declared.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Formal {
    pub(crate) name: Arc<str>,
    pub(crate) declared: Option<Type>,
}
