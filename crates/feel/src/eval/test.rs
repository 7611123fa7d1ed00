//! Unary tests and `in`.

use super::compare::Equality;
use super::machine::Machine;
use crate::compile::node::{Node, RangeNode, TestNode};
use crate::dialect::Dialect;
use crate::error::{Error, WarningKind};
use crate::syntax::ast::Comparison;
use crate::value::{Endpoint, Range, Value, shown};
use std::cmp::Ordering;
use std::sync::Arc;

impl Machine<'_> {
    /// `value in tests`.
    pub(super) fn contained(&mut self, value: &Node, tests: &Node) -> Result<Value, Error> {
        let value = self.eval(value)?;
        self.locals.push(Some(value));
        let result = self.eval(tests)?;
        self.locals.pop();
        Ok(result)
    }

    pub(super) fn test(&mut self, input: &Node, test: &TestNode) -> Result<Value, Error> {
        if matches!(input, Node::NoInput) {
            return self.test_without_input(test);
        }
        let input = self.read(input).unwrap_or(Value::Null);
        match test {
            TestNode::Compare(operator, operand) => {
                let operand = self.eval(operand)?;
                self.compare_values(*operator, &input, &operand)
            }
            TestNode::Condition(condition) => match self.eval(condition)? {
                Value::Bool(holds) => Ok(Value::Bool(holds)),
                other => self.condition_value(&input, other),
            },
            TestNode::Range(range) => {
                let range = self.bounds(range)?;
                if range.start.value.is_null() || range.end.value.is_null() {
                    return self.not_in_range(&input, &range);
                }
                self.in_range(&input, &range)
            }
            TestNode::Value(node) => {
                let value = self.eval(node)?;
                self.matches(&input, &value)
            }
        }
    }

    /// A comparison without a left side: in decisions a range, elsewhere there is nothing to compare with.
    fn test_without_input(&mut self, test: &TestNode) -> Result<Value, Error> {
        match test {
            TestNode::Compare(operator, operand) => {
                let operand = self.eval(operand)?;
                if self.dialect == Dialect::Dmn {
                    return half_range(*operator, operand).bounded(self.budget);
                }
                self.warn(WarningKind::NoVariable, || String::from("no input value"))?;
                Ok(Value::Null)
            }
            TestNode::Range(range) => self.range(range),
            TestNode::Value(node) | TestNode::Condition(node) => self.eval(node),
        }
    }

    fn condition_value(&mut self, input: &Value, value: Value) -> Result<Value, Error> {
        match self.dialect {
            Dialect::Dmn if !value.is_null() => self.matches(input, &value),
            Dialect::Camunda | Dialect::Dmn => Ok(Value::Null),
        }
    }

    /// Whether a value written as a test stands for the input: is it, holds it, or is simply true. In decisions a truth
    /// value is compared with an input that is one.
    fn matches(&mut self, input: &Value, value: &Value) -> Result<Value, Error> {
        let dialect = self.dialect;
        match value {
            Value::Bool(true) if dialect == Dialect::Camunda || input.as_bool().is_none() => return Ok(Value::Bool(true)),
            Value::Range(range) => return self.in_range(input, range),
            Value::List(list) => {
                for item in list.items() {
                    self.charge(1)?;
                    if self.equality(input, item)? == Equality::Equal {
                        return Ok(Value::Bool(true));
                    }
                    if dialect == Dialect::Dmn
                        && let Value::Range(range) = item
                        && self.in_range(input, range)? == Value::Bool(true)
                    {
                        return Ok(Value::Bool(true));
                    }
                }
            }
            _ => {}
        }
        match self.equality(input, value)? {
            Equality::Equal => Ok(Value::Bool(true)),
            Equality::Different => Ok(Value::Bool(false)),
            Equality::NotComparable => {
                self.warn(WarningKind::NotComparable, || format!("cannot compare '{}' with '{}'", shown(input), shown(value)))?;
                let decided = matches!(value, Value::Bool(false) | Value::List(_));
                Ok(if decided { Value::Bool(false) } else { Value::Null })
            }
        }
    }

    fn bounds(&mut self, range: &RangeNode) -> Result<Range, Error> {
        Ok(Range {
            start: Endpoint { value: self.eval(&range.start)?, included: range.start_included },
            end: Endpoint { value: self.eval(&range.end)?, included: range.end_included },
        })
    }

    fn in_range(&mut self, input: &Value, range: &Range) -> Result<Value, Error> {
        match self.within(input, range)? {
            Some(inside) => Ok(Value::Bool(inside)),
            None => self.not_in_range(input, range),
        }
    }

    /// Whether a value lies in a range; nothing where they cannot be compared.
    fn within(&mut self, value: &Value, range: &Range) -> Result<Option<bool>, Error> {
        let above = match &range.start.value {
            Value::Null => true,
            start => match self.order(value, start)? {
                Some(Ordering::Greater) => true,
                Some(Ordering::Equal) => range.start.included,
                Some(Ordering::Less) => false,
                None => return Ok(None),
            },
        };
        let below = match &range.end.value {
            Value::Null => true,
            end => match self.order(value, end)? {
                Some(Ordering::Less) => true,
                Some(Ordering::Equal) => range.end.included,
                Some(Ordering::Greater) => false,
                None => return Ok(None),
            },
        };
        Ok(Some(above && below))
    }

    fn not_in_range(&mut self, input: &Value, range: &Range) -> Result<Value, Error> {
        self.warn(WarningKind::NotComparable, || {
            let (low, high) = (shown(&range.start.value), shown(&range.end.value));
            format!("cannot compare '{}' with '{low}' and '{high}'", shown(input))
        })?;
        Ok(Value::Null)
    }

    pub(super) fn not_test(&mut self, tests: &Node) -> Result<Value, Error> {
        match self.eval(tests)? {
            Value::Bool(holds) => Ok(Value::Bool(!holds)),
            other => {
                self.expected("boolean", &other)?;
                Ok(Value::Null)
            }
        }
    }
}

/// `> 5` as a range without an end.
fn half_range(operator: Comparison, operand: Value) -> Value {
    let open = Endpoint::excluded(Value::Null);
    let (start, end) = match operator {
        Comparison::Less => (open, Endpoint::excluded(operand)),
        Comparison::LessOrEqual => (open, Endpoint::included(operand)),
        Comparison::Greater => (Endpoint::excluded(operand), open),
        Comparison::GreaterOrEqual => (Endpoint::included(operand), open),
        Comparison::Equal => (Endpoint::included(operand.clone()), Endpoint::included(operand)),
        Comparison::NotEqual => return Value::Null,
    };
    Value::Range(Arc::new(Range { start, end }))
}
