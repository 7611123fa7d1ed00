//! Types, for `instance of` and declared parameters.

use crate::budget::Budget;
use crate::error::Error;
use crate::temporal::{DateTime, Time, Zone};
use crate::value::Value;
use std::sync::Arc;

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// Every value but `null`; as a declaration every value.
    Any,
    /// Only `null`.
    Null,
    /// `number`.
    Number,
    /// `string`.
    String,
    /// `boolean`.
    Boolean,
    /// `date`.
    Date,
    /// `time`.
    Time,
    /// `date and time`.
    DateTime,
    /// `days and time duration`.
    DaysTimeDuration,
    /// `years and months duration`.
    YearsMonthsDuration,
    /// `list<…>`; without an element type every list.
    List(Option<Box<Type>>),
    /// `context<…>`; without members every context.
    Context(Option<Vec<(Arc<str>, Type)>>),
    /// `range<…>`; without an element type every range.
    Range(Option<Box<Type>>),
    /// `function<…> -> …`: how many parameters, if said.
    Function(Option<usize>),
    /// A name that stands for no known type; no value is an instance of it.
    Unknown(Arc<str>),
}

impl Type {
    /// A type by its simple name.
    pub fn named(name: &str) -> Option<Type> {
        Some(match name {
            "Any" => Type::Any,
            "Null" | "null" => Type::Null,
            "number" => Type::Number,
            "string" => Type::String,
            "boolean" => Type::Boolean,
            "date" => Type::Date,
            "time" => Type::Time,
            "date and time" | "date time" | "dateTime" => Type::DateTime,
            "days and time duration" | "day-time-duration" | "dayTimeDuration" => Type::DaysTimeDuration,
            "years and months duration" | "year-month-duration" | "yearMonthDuration" => Type::YearsMonthsDuration,
            "list" => Type::List(None),
            "context" => Type::Context(None),
            "range" => Type::Range(None),
            "function" => Type::Function(None),
            _ => return None,
        })
    }

    /// Whether `value` is of this type; `null` is only of the type `Null`.
    pub fn holds(&self, value: &Value, budget: &mut Budget) -> Result<bool, Error> {
        budget.charge(1)?;
        Ok(match (self, value) {
            (Type::Any, value) => !value.is_null(),
            (Type::Null, Value::Null)
            | (Type::Number, Value::Number(_))
            | (Type::String, Value::String(_))
            | (Type::Boolean, Value::Bool(_))
            | (Type::Date, Value::Date(_))
            | (Type::Time, Value::Time(_))
            | (Type::DateTime, Value::DateTime(_))
            | (Type::DaysTimeDuration, Value::DaysTimeDuration(_))
            | (Type::YearsMonthsDuration, Value::YearsMonthsDuration(_))
            | (Type::List(None), Value::List(_))
            | (Type::Context(None), Value::Context(_))
            | (Type::Range(None), Value::Range(_))
            | (Type::Function(None), Value::Function(_)) => true,
            (Type::List(Some(element)), Value::List(list)) => {
                for item in list.items() {
                    if !element.admits(item, budget)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Type::Context(Some(members)), Value::Context(context)) => {
                for (name, member) in members {
                    budget.read(name.len())?;
                    match context.get(name) {
                        Some(value) if member.admits(value, budget)? => {}
                        Some(_) | None => return Ok(false),
                    }
                }
                true
            }
            (Type::Range(Some(element)), Value::Range(range)) => {
                element.admits(&range.start.value, budget)? && element.admits(&range.end.value, budget)?
            }
            (Type::Function(Some(count)), Value::Function(function)) => function.parameters().len() == *count,
            _ => false,
        })
    }

    /// The value as this type has it: itself if it conforms, a single item out of or into a list, a date as its
    /// midnight in UTC. Nothing if there is no such conversion.
    pub fn coerce(&self, value: Value, budget: &mut Budget) -> Result<Option<Value>, Error> {
        if self.admits(&value, budget)? {
            return Ok(Some(value));
        }
        Ok(match (self, value) {
            (Type::List(element), value) if !matches!(value, Value::List(_)) => {
                let fits = match element {
                    Some(element) => element.admits(&value, budget)?,
                    None => true,
                };
                if fits { Some(Value::list(vec![value]).bounded(budget)?) } else { None }
            }
            (_, Value::List(list)) if list.len() == 1 => {
                let single = list.items()[0].clone();
                self.admits(&single, budget)?.then_some(single)
            }
            (Type::DateTime, Value::Date(date)) => Some(Value::DateTime(DateTime::new(date, Time::midnight(Zone::UTC)))),
            _ => None,
        })
    }

    /// Whether `value` may stand where this type is declared: as [`Type::holds`], and `null` always.
    pub fn admits(&self, value: &Value, budget: &mut Budget) -> Result<bool, Error> {
        if value.is_null() || *self == Type::Any {
            return Ok(true);
        }
        self.holds(value, budget)
    }
}
