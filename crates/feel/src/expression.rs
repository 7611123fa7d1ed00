//! A parsed and compiled expression, and its evaluation.

use crate::budget::Budget;
use crate::compile::{Compiled, compile_expression, compile_tests};
use crate::dialect::{Dialect, Library};
use crate::error::{Error, ParseError, Warning};
use crate::eval::{Machine, Policy};
use crate::excerpt::quoted;
use crate::now::Now;
use crate::syntax::{Names, parse_expression, parse_tests, print};
use crate::value::{Context, Value};
use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

/// Parses an expression of the Camunda dialect, without the leading `=` of BPMN attributes.
pub fn parse(source: &str) -> Result<Expression, ParseError> {
    parse_with(source, Dialect::Camunda)
}

/// Parses an expression.
pub fn parse_with(source: &str, dialect: Dialect) -> Result<Expression, ParseError> {
    parse_in(source, dialect, &Names::default())
}

/// Parses an expression where names with spaces and named types are known.
pub fn parse_in(source: &str, dialect: Dialect, names: &Names) -> Result<Expression, ParseError> {
    let tree = parse_expression(source, dialect, names)?;
    Ok(Expression::new(source, dialect, Policy::Tolerant, compile_expression(&tree, dialect, Library::Feel(dialect))))
}

/// Parses unary tests, as in the cells of a decision table.
///
/// The first of [`Expression::variables`] is always `?`, the input value; the result is `true`, `false` or `null`.
pub fn parse_unary_tests(source: &str, dialect: Dialect) -> Result<Expression, ParseError> {
    parse_unary_tests_in(source, dialect, &Names::default())
}

/// Parses unary tests where names with spaces and named types are known.
pub fn parse_unary_tests_in(source: &str, dialect: Dialect, names: &Names) -> Result<Expression, ParseError> {
    let tests = parse_tests(source, dialect, names)?;
    Ok(Expression::new(source, dialect, Policy::Tolerant, compile_tests(&tests, dialect)))
}

/// The expression in canonical spelling: single spaces, only the parentheses that are needed, no comments.
///
/// Parsing the result gives the same expression again.
pub fn format(source: &str, dialect: Dialect) -> Result<String, ParseError> {
    let tree = parse_expression(source, dialect, &Names::default())?;
    Ok(print(&tree))
}

/// A compiled expression; cloning shares it.
#[derive(Clone)]
pub struct Expression(Arc<Inner>);

struct Inner {
    source: Box<str>,
    dialect: Dialect,
    policy: Policy,
    compiled: Compiled,
}

impl Expression {
    pub(crate) fn new(source: &str, dialect: Dialect, policy: Policy, compiled: Compiled) -> Expression {
        Expression(Arc::new(Inner { source: Box::from(source), dialect, policy, compiled }))
    }

    /// The text it was parsed from.
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// The beginning of that text, for messages.
    pub fn excerpt(&self) -> String {
        quoted(self.source())
    }

    /// The free variables, in the order [`Expression::evaluate`] takes their values.
    pub fn variables(&self) -> &[Arc<str>] {
        &self.0.compiled.free
    }

    /// Evaluates with one value per free variable; `None` is a variable that is not defined.
    ///
    /// Failures inside the expression are `null`; use [`Expression::evaluate_with`] to learn of them.
    pub fn evaluate(&self, values: &[Option<Value>], now: &Now) -> Result<Value, Error> {
        self.evaluate_within(values, now, &mut Budget::default(), None)
    }

    /// Evaluates and collects what was tolerated on the way.
    pub fn evaluate_with(&self, values: &[Option<Value>], now: &Now, warnings: &mut Vec<Warning>) -> Result<Value, Error> {
        self.evaluate_within(values, now, &mut Budget::default(), Some(warnings))
    }

    /// Evaluates on what is left of a budget, as part of something larger; warnings cost time only where they are wanted.
    ///
    /// A limit reached is an error that says so, see [`Error::is_limit`].
    pub fn evaluate_within(
        &self,
        values: &[Option<Value>],
        now: &Now,
        budget: &mut Budget,
        warnings: Option<&mut Vec<Warning>>,
    ) -> Result<Value, Error> {
        let Inner { dialect, policy, compiled, .. } = &*self.0;
        budget.level(|budget| {
            let mut machine = Machine::new(values, &compiled.free, now, (*dialect, *policy), budget);
            machine.warnings = warnings;
            machine.eval(&compiled.node)
        })
    }

    /// What an author should look at again, seen without evaluating: functions that do not exist, comparisons that
    /// are always null.
    pub fn notes(&self) -> &[Warning] {
        &self.0.compiled.notes
    }

    /// Evaluates with the free variables taken from a context.
    pub fn evaluate_in(&self, context: &Context, now: &Now) -> Result<Value, Error> {
        self.evaluate(&self.values_of(context), now)
    }

    /// Evaluates with the free variables taken from a context, and collects what was tolerated.
    pub fn evaluate_in_with(&self, context: &Context, now: &Now, warnings: &mut Vec<Warning>) -> Result<Value, Error> {
        self.evaluate_with(&self.values_of(context), now, warnings)
    }

    fn values_of(&self, context: &Context) -> Vec<Option<Value>> {
        self.variables().iter().map(|name| context.get(name).cloned()).collect()
    }
}

impl Debug for Expression {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "Expression({:?})", self.source())
    }
}
