//! `+ - * / **` and the sign.

use super::machine::{Machine, Policy};
use crate::compile::node::Node;
use crate::dialect::Dialect;
use crate::error::{Error, WarningKind};
use crate::number::{Number, Rounding};
use crate::syntax::ast::Arithmetic;
use crate::temporal::{DaysTimeDuration, YearsMonthsDuration};
use crate::value::{Value, shown};
use std::sync::Arc;

/// Steps an operation takes beyond its own when its result has all the digits a number can have.
pub(crate) const WIDE_STEPS: u64 = 4;
/// Steps of going through a double and back, which goes through texts.
pub(crate) const DOUBLE_STEPS: u64 = 8;

impl Machine<'_> {
    pub(super) fn arithmetic(&mut self, first: &Node, rest: &[(Arithmetic, Node)]) -> Result<Value, Error> {
        let mut left = self.eval(first)?;
        for (operator, operand) in rest {
            self.charge(1)?;
            let right = self.eval(operand)?;
            left = self.operate(*operator, left, right)?;
        }
        Ok(left)
    }

    fn operate(&mut self, operator: Arithmetic, left: Value, right: Value) -> Result<Value, Error> {
        if let (Value::Number(a), Value::Number(b)) = (&left, &right) {
            self.charge(effort(operator, *b))?;
            if let Some(number) = numbers(operator, *a, *b) {
                if number.is_wide() {
                    self.charge(WIDE_STEPS)?;
                }
                return Ok(Value::Number(number));
            }
        }
        let result = match operator {
            Arithmetic::Add => match (&left, &right) {
                (Value::String(a), Value::String(b)) => {
                    self.make_text(a.len() + b.len())?;
                    return Ok(Value::string([&**a, &**b].concat()));
                }
                _ if self.policy == Policy::Strict => spelled(self, &left, &right)?,
                _ => add(&left, &right).or_else(|| add(&right, &left)),
            },
            Arithmetic::Subtract => self.subtract(&left, &right),
            Arithmetic::Multiply => self.multiply(&left, &right).or_else(|| self.multiply(&right, &left)),
            Arithmetic::Divide => self.divide(&left, &right),
            Arithmetic::Power => None,
        };
        match result {
            Some(value) => Ok(value),
            None => {
                self.warn(WarningKind::InvalidType, || refusal(operator, &left, &right))?;
                Ok(Value::Null)
            }
        }
    }

    pub(super) fn negate(&mut self, operand: &Node) -> Result<Value, Error> {
        let dmn = self.dialect == Dialect::Dmn;
        match self.eval(operand)? {
            Value::Number(number) => Ok(Value::Number(number.negate())),
            Value::DaysTimeDuration(duration) if dmn => {
                Ok(DaysTimeDuration::from_nanos(-duration.nanos()).map_or(Value::Null, Value::DaysTimeDuration))
            }
            Value::YearsMonthsDuration(duration) if dmn => {
                let months = -duration.total_months();
                Ok(YearsMonthsDuration::from_months(months).map_or(Value::Null, Value::YearsMonthsDuration))
            }
            other => {
                self.expected("number", &other)?;
                Ok(Value::Null)
            }
        }
    }

    fn subtract(&self, left: &Value, right: &Value) -> Option<Value> {
        let duration = match (left, right) {
            (Value::Date(a), Value::Date(b)) => a.since(*b),
            (Value::Time(a), Value::Time(b)) if a.zone().is_local() == b.zone().is_local() => {
                let nanos = a.nanos_in_utc() - b.nanos_in_utc();
                let zoned = !a.zone().is_local();
                // Camunda gives the length between zoned times without a sign.
                let nanos = if zoned && self.dialect == Dialect::Camunda { nanos.abs() } else { nanos };
                DaysTimeDuration::from_nanos(nanos)
            }
            (Value::DateTime(a), Value::DateTime(b)) if a.zone().is_local() == b.zone().is_local() => a.since(b),
            (Value::Date(a), Value::DateTime(b)) | (Value::DateTime(b), Value::Date(a))
                if self.dialect == Dialect::Dmn && !b.zone().is_local() =>
            {
                // A date is midnight UTC beside a date-time with a zone.
                let midnight = i128::from(a.epoch_days()) * crate::temporal::NANOS_PER_DAY;
                let nanos = midnight - b.instant_nanos();
                let swapped = matches!(left, Value::DateTime(_));
                DaysTimeDuration::from_nanos(if swapped { -nanos } else { nanos })
            }
            (Value::DaysTimeDuration(a), Value::DaysTimeDuration(b)) => {
                DaysTimeDuration::from_nanos(a.nanos().checked_sub(b.nanos())?)
            }
            (Value::YearsMonthsDuration(a), Value::YearsMonthsDuration(b)) => {
                let months = a.total_months() - b.total_months();
                return YearsMonthsDuration::from_months(months).map(Value::YearsMonthsDuration);
            }
            (_, Value::DaysTimeDuration(b)) => {
                return add(left, &Value::DaysTimeDuration(DaysTimeDuration::from_nanos(-b.nanos())?));
            }
            (_, Value::YearsMonthsDuration(b)) => {
                return add(left, &Value::YearsMonthsDuration(YearsMonthsDuration::from_months(-b.total_months())?));
            }
            _ => return None,
        };
        duration.map(Value::DaysTimeDuration)
    }

    fn multiply(&self, left: &Value, right: &Value) -> Option<Value> {
        let Value::Number(factor) = right else {
            return None;
        };
        // Camunda multiplies durations by whole numbers only, dropping the fraction of the factor.
        let factor = match self.dialect {
            Dialect::Camunda => factor.round(0, Rounding::Down),
            Dialect::Dmn => *factor,
        };
        scaled(left, |length| length.checked_mul(factor))
    }

    fn divide(&self, left: &Value, right: &Value) -> Option<Value> {
        let whole = self.dialect == Dialect::Camunda;
        let quotient = |a: Option<Number>, b: Option<Number>| {
            let exact = a?.checked_div(b?)?;
            Some(Value::Number(if whole { exact.round(0, Rounding::Down).stripped() } else { exact }))
        };
        match (left, right) {
            (Value::DaysTimeDuration(a), Value::DaysTimeDuration(b)) => {
                let parts = |duration: &DaysTimeDuration| match self.dialect {
                    Dialect::Camunda => Number::new(duration.millis(), 0),
                    Dialect::Dmn => Number::new(duration.nanos(), 0),
                };
                quotient(parts(a), parts(b))
            }
            (Value::YearsMonthsDuration(a), Value::YearsMonthsDuration(b)) => {
                quotient(Some(Number::from(a.total_months())), Some(Number::from(b.total_months())))
            }
            (Value::DaysTimeDuration(a), Value::Number(divisor)) if whole => {
                let millis = Number::new(a.millis(), 0)?.checked_div(*divisor)?.truncate_to_i128()?;
                DaysTimeDuration::from_nanos(millis.checked_mul(1_000_000)?).map(Value::DaysTimeDuration)
            }
            (_, Value::Number(divisor)) => scaled(left, |length| length.checked_div(*divisor)),
            _ => None,
        }
    }
}

/// Steps an operation on numbers takes beyond its own.
fn effort(operator: Arithmetic, right: Number) -> u64 {
    match operator {
        Arithmetic::Add | Arithmetic::Subtract | Arithmetic::Multiply => 0,
        Arithmetic::Divide => WIDE_STEPS,
        // A whole power multiplies once or twice for every bit of the exponent.
        Arithmetic::Power => match right.to_i64() {
            Some(whole) => WIDE_STEPS * u64::from(i64::BITS - whole.unsigned_abs().leading_zeros()),
            None => DOUBLE_STEPS,
        },
    }
}

fn numbers(operator: Arithmetic, a: Number, b: Number) -> Option<Number> {
    match operator {
        Arithmetic::Add => a.checked_add(b),
        Arithmetic::Subtract => a.checked_sub(b),
        Arithmetic::Multiply => a.checked_mul(b),
        Arithmetic::Divide => a.checked_div(b),
        Arithmetic::Power => power(a, b),
    }
}

/// Whole powers exactly, others through doubles.
fn power(base: Number, exponent: Number) -> Option<Number> {
    match exponent.to_i64() {
        Some(whole) => base.checked_pow(i32::try_from(whole).ok().filter(|whole| whole.unsigned_abs() <= 999_999_999)?),
        None => Number::from_f64(base.to_f64().powf(exponent.to_f64())),
    }
}

/// A text with a number or truth value behind or before it, where the language is that of JSON workflows.
fn spelled(machine: &mut Machine<'_>, left: &Value, right: &Value) -> Result<Option<Value>, Error> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(Arc::clone(text)),
        Value::Number(number) => Some(Arc::from(number.to_plain())),
        Value::Bool(value) => Some(Arc::from(value.to_string())),
        _ => None,
    };
    match (text(left), text(right)) {
        (Some(a), Some(b)) if left.as_str().or(right.as_str()).is_some() => {
            machine.make_text(a.len() + b.len())?;
            Ok(Some(Value::string([&*a, &*b].concat())))
        }
        _ => Ok(None),
    }
}

/// A point in time and a duration, or two durations.
fn add(left: &Value, right: &Value) -> Option<Value> {
    match (left, right) {
        (Value::Date(date), Value::DaysTimeDuration(duration)) => date.after(*duration).map(Value::Date),
        (Value::Date(date), Value::YearsMonthsDuration(duration)) => date.add_months(duration.total_months()).map(Value::Date),
        (Value::Time(time), Value::DaysTimeDuration(duration)) => Some(Value::Time(time.after(*duration))),
        (Value::DateTime(point), Value::DaysTimeDuration(duration)) => point.after(*duration).map(Value::DateTime),
        (Value::DateTime(point), Value::YearsMonthsDuration(duration)) => point.add_months(*duration).map(Value::DateTime),
        (Value::DaysTimeDuration(a), Value::DaysTimeDuration(b)) => {
            DaysTimeDuration::from_nanos(a.nanos().checked_add(b.nanos())?).map(Value::DaysTimeDuration)
        }
        (Value::YearsMonthsDuration(a), Value::YearsMonthsDuration(b)) => {
            YearsMonthsDuration::from_months(a.total_months() + b.total_months()).map(Value::YearsMonthsDuration)
        }
        _ => None,
    }
}

/// A duration whose length is changed by an operation on numbers, cut to whole nanoseconds or months.
fn scaled(duration: &Value, change: impl Fn(Number) -> Option<Number>) -> Option<Value> {
    match duration {
        Value::DaysTimeDuration(duration) => {
            let nanos = change(Number::new(duration.nanos(), 0)?)?.truncate_to_i128()?;
            DaysTimeDuration::from_nanos(nanos).map(Value::DaysTimeDuration)
        }
        Value::YearsMonthsDuration(duration) => {
            let months = change(Number::from(duration.total_months()))?.truncate_to_i128()?;
            YearsMonthsDuration::from_months(i64::try_from(months).ok()?).map(Value::YearsMonthsDuration)
        }
        _ => None,
    }
}

fn refusal(operator: Arithmetic, left: &Value, right: &Value) -> String {
    let (left, right) = (shown(left), shown(right));
    match operator {
        Arithmetic::Add => format!("cannot add '{right}' to '{left}'"),
        Arithmetic::Subtract => format!("cannot subtract '{right}' from '{left}'"),
        Arithmetic::Multiply => format!("cannot multiply '{left}' by '{right}'"),
        Arithmetic::Divide => format!("cannot divide '{left}' by '{right}'"),
        Arithmetic::Power => format!("cannot raise '{left}' to the power of '{right}'"),
    }
}
