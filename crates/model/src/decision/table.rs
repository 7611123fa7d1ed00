//! Decision tables.

use std::sync::Arc;

use feel::Expression;

use super::{Logic, Type};

#[derive(Debug, Clone)]
pub struct Table {
    pub hit_policy: HitPolicy,
    pub inputs: Vec<Input>,
    pub outputs: Vec<Output>,
    /// Each with one test per input and one result per output.
    pub rules: Vec<Rule>,
}

/// Which of the matching rules count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HitPolicy {
    Unique,
    Any,
    First,
    Priority,
    RuleOrder,
    OutputOrder,
    Collect(Option<Aggregation>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregation {
    Sum,
    Min,
    Max,
    Count,
}

#[derive(Debug, Clone)]
pub struct Input {
    pub id: Arc<str>,
    /// Its label, or else its expression.
    pub name: Arc<str>,
    pub expression: Logic,
    pub declared: Option<Type>,
    /// Unary tests a value has to pass.
    pub allowed: Option<Expression>,
}

#[derive(Debug, Clone)]
pub struct Output {
    pub id: Arc<str>,
    /// What it is called in a result of several outputs.
    pub name: Arc<str>,
    /// What it is called in a report: its label, or else its name.
    pub label: Arc<str>,
    pub declared: Option<Type>,
    /// The allowed values as a list in order of priority, the highest first.
    pub priorities: Option<Expression>,
    /// Its value when no rule matches.
    pub default: Option<Logic>,
}

#[derive(Debug, Clone)]
pub struct Rule {
    pub id: Arc<str>,
    /// Unary tests; absent matches anything.
    pub tests: Vec<Option<Test>>,
    pub results: Vec<Logic>,
}

/// The unary tests of one cell.
#[derive(Debug, Clone)]
pub enum Test {
    Unary(Expression),
    /// Could not be read, and why; never matches.
    Unreadable(Arc<str>),
}
