//! `=`, `<` and their kin.

use super::machine::{Machine, Policy};
use crate::budget::BYTES_PER_STEP;
use crate::compile::node::Node;
use crate::dialect::Dialect;
use crate::error::{Error, WarningKind};
use crate::syntax::ast::Comparison;
use crate::value::{Value, shown};
use std::cmp::Ordering;

/// Bytes of two texts compared in one step.
const TEXT_BYTES_PER_STEP: u64 = 256;

/// Whether two values are equal, or of kinds that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Equality {
    Equal,
    Different,
    NotComparable,
}

impl Machine<'_> {
    pub(super) fn compare(&mut self, operator: Comparison, left: &Node, right: &Node) -> Result<Value, Error> {
        // Numbers in slots, the commonest case, are compared in place.
        if let (Some(Value::Number(a)), Some(Value::Number(b))) = (self.slot(left), self.slot(right)) {
            return Ok(Value::Bool(satisfied(operator, a.cmp(b))));
        }
        let left = self.eval(left)?;
        let right = self.eval(right)?;
        self.compare_values(operator, &left, &right)
    }

    fn slot<'m>(&'m self, node: &'m Node) -> Option<&'m Value> {
        self.peek(node)
    }

    pub(super) fn compare_values(&mut self, operator: Comparison, left: &Value, right: &Value) -> Result<Value, Error> {
        let result = match operator {
            Comparison::Equal | Comparison::NotEqual => match self.equality(left, right)? {
                Equality::Equal => Some(operator == Comparison::Equal),
                Equality::Different => Some(operator == Comparison::NotEqual),
                // Where failures are errors, values of different kinds simply differ.
                Equality::NotComparable if self.policy == Policy::Strict => Some(operator == Comparison::NotEqual),
                Equality::NotComparable => None,
            },
            _ => self.order(left, right)?.map(|ordering| satisfied(operator, ordering)),
        };
        match result {
            Some(holds) => Ok(Value::Bool(holds)),
            None => {
                self.warn(WarningKind::NotComparable, || format!("cannot compare '{}' with '{}'", shown(left), shown(right)))?;
                Ok(Value::Null)
            }
        }
    }

    /// Whether two values are equal. `null` is equal to itself and different from everything else.
    pub(crate) fn equality(&mut self, left: &Value, right: &Value) -> Result<Equality, Error> {
        self.charge(comparison(left, right))?;
        Ok(equality(left, right, self.dialect))
    }

    /// The order of two values of one kind; nothing for kinds without an order and for a mixture.
    pub(crate) fn order(&mut self, left: &Value, right: &Value) -> Result<Option<Ordering>, Error> {
        self.charge(comparison(left, right))?;
        Ok(order(left, right))
    }

    pub(super) fn between(&mut self, value: &Node, low: &Node, high: &Node) -> Result<Value, Error> {
        let value = self.eval(value)?;
        let low = self.eval(low)?;
        let above = self.compare_values(Comparison::GreaterOrEqual, &value, &low)?;
        if above == Value::Bool(false) {
            return Ok(above);
        }
        let high = self.eval(high)?;
        let below = self.compare_values(Comparison::LessOrEqual, &value, &high)?;
        Ok(if below == Value::Bool(false) || above == Value::Bool(true) { below } else { Value::Null })
    }
}

fn satisfied(operator: Comparison, ordering: Ordering) -> bool {
    match operator {
        Comparison::Equal => ordering == Ordering::Equal,
        Comparison::NotEqual => ordering != Ordering::Equal,
        Comparison::Less => ordering == Ordering::Less,
        Comparison::LessOrEqual => ordering != Ordering::Greater,
        Comparison::Greater => ordering == Ordering::Greater,
        Comparison::GreaterOrEqual => ordering != Ordering::Less,
    }
}

/// Steps a comparison takes: texts are compared many bytes at once, what is nested one value after the other.
fn comparison(left: &Value, right: &Value) -> u64 {
    match (left, right) {
        (Value::String(a), Value::String(b)) => a.len().min(b.len()) as u64 / TEXT_BYTES_PER_STEP,
        (Value::List(_) | Value::Context(_) | Value::Range(_), Value::List(_) | Value::Context(_) | Value::Range(_)) => {
            // Twice, since members of contexts are looked for by name.
            2 * left.size().min(right.size()) / BYTES_PER_STEP
        }
        _ => 0,
    }
}

/// The order of two values, for whoever has charged for it.
pub(crate) fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Number(a), Value::Number(b)) => Some(a.cmp(b)),
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        (Value::Date(a), Value::Date(b)) => Some(a.cmp(b)),
        (Value::Time(a), Value::Time(b)) if a.zone().is_local() == b.zone().is_local() => {
            Some(a.nanos_in_utc().cmp(&b.nanos_in_utc()))
        }
        (Value::DateTime(a), Value::DateTime(b)) if a.zone().is_local() == b.zone().is_local() => {
            Some(a.instant_nanos().cmp(&b.instant_nanos()))
        }
        (Value::DaysTimeDuration(a), Value::DaysTimeDuration(b)) => Some(a.cmp(b)),
        (Value::YearsMonthsDuration(a), Value::YearsMonthsDuration(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

fn equality(left: &Value, right: &Value, dialect: Dialect) -> Equality {
    let equal = match (left, right) {
        (Value::Null, other) | (other, Value::Null) => other.is_null(),
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Number(a), Value::Number(b)) => a == b,
        (Value::String(a), Value::String(b)) => a == b,
        (Value::List(a), Value::List(b)) => {
            let same = |(a, b)| equality(a, b, dialect) == Equality::Equal;
            a.len() == b.len() && a.items().iter().zip(b.items()).all(same)
        }
        (Value::Context(a), Value::Context(b)) => {
            let same = |(key, value): &(std::sync::Arc<str>, Value)| {
                b.get(key).is_some_and(|other| equality(value, other, dialect) == Equality::Equal)
            };
            a.len() == b.len() && a.entries().iter().all(same)
        }
        (Value::Time(a), Value::Time(b)) => {
            if a.zone().is_local() != b.zone().is_local() {
                return Equality::NotComparable;
            }
            match dialect {
                Dialect::Camunda => a == b,
                Dialect::Dmn => seconds(a.nanos_in_utc()) == seconds(b.nanos_in_utc()),
            }
        }
        (Value::DateTime(a), Value::DateTime(b)) => {
            if a.zone().is_local() != b.zone().is_local() {
                return Equality::NotComparable;
            }
            match dialect {
                Dialect::Camunda => a == b,
                Dialect::Dmn => seconds(a.instant_nanos()) == seconds(b.instant_nanos()),
            }
        }
        (Value::Range(a), Value::Range(b)) if dialect == Dialect::Dmn => a == b,
        (Value::Function(a), Value::Function(b)) if dialect == Dialect::Dmn => a.same(b),
        _ => match order(left, right) {
            Some(ordering) => ordering == Ordering::Equal,
            None => return Equality::NotComparable,
        },
    };
    if equal { Equality::Equal } else { Equality::Different }
}

/// The standard compares times by hour, minute and second.
fn seconds(nanos: i128) -> i128 {
    nanos.div_euclid(crate::temporal::NANOS_PER_SECOND)
}
