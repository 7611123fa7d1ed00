//! The values expressions work on.

mod context;
mod equality;
mod function;
mod list;
mod print;
mod range;

pub use context::Context;
pub use function::{Function, Parameter};
pub use list::List;
pub use range::{Endpoint, Range};

pub(crate) use function::FunctionKind;
pub(crate) use print::shown;

use crate::error::{Error, Limit};
use crate::json;
use crate::limits::{VALUE_DEPTH_MAX, VALUE_SIZE_MAX};
use crate::number::Number;
use crate::temporal::{Date, DateTime, DaysTimeDuration, Time, YearsMonthsDuration};
use std::sync::Arc;

/// A FEEL value. Cheap to clone: what can be large is shared.
#[derive(Clone, Debug)]
pub enum Value {
    /// `null`, also the value of most failures.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A decimal number.
    Number(Number),
    /// A text.
    String(Arc<str>),
    /// A date.
    Date(Date),
    /// A time of day.
    Time(Time),
    /// A date with a time of day.
    DateTime(DateTime),
    /// A length of time in days and smaller.
    DaysTimeDuration(DaysTimeDuration),
    /// A length of time in years and months.
    YearsMonthsDuration(YearsMonthsDuration),
    /// Values in order.
    List(List),
    /// Named values in order.
    Context(Context),
    /// Everything between two values.
    Range(Arc<Range>),
    /// A function: a lambda with what it closed over, or a built-in.
    Function(Function),
}

/// What every value takes, small or large.
pub(crate) const VALUE_BYTES: u64 = size_of::<Value>() as u64;

/// How deep and how large a value is, counted as if nothing in it were shared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) depth: u32,
    pub(crate) size: u64,
}

impl Extent {
    /// The extent of a container of such members.
    pub(crate) fn around(members: impl Iterator<Item = Extent>) -> Extent {
        members.fold(Extent { depth: 1, size: VALUE_BYTES }, |sum, member| Extent {
            depth: sum.depth.max(member.depth.saturating_add(1)),
            size: sum.size.saturating_add(member.size),
        })
    }

    /// Refuses what is beyond the limits.
    pub(crate) fn check(self) -> Result<(), Error> {
        if VALUE_DEPTH_MAX < self.depth {
            return Err(Error::Limit(Limit::Nesting));
        }
        if VALUE_SIZE_MAX < self.size {
            return Err(Error::Limit(Limit::Size));
        }
        Ok(())
    }
}

impl Value {
    /// A text value.
    pub fn string(text: impl Into<Arc<str>>) -> Value {
        Value::String(text.into())
    }

    /// A whole number value.
    pub fn integer(value: i64) -> Value {
        Value::Number(Number::from(value))
    }

    /// A list value.
    pub fn list(items: Vec<Value>) -> Value {
        Value::List(List::from(items))
    }

    /// Reads JSON. Numbers keep their digits; members keep their order; of members with one name the last counts.
    pub fn from_json(text: &str) -> Result<Value, json::JsonError> {
        json::decode(text)
    }

    /// The value as JSON; see [`Value::write_json`].
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write_json(&mut out);
        out
    }

    /// Appends the value as JSON. Temporal values are ISO 8601 strings; ranges and functions are `null`, and a
    /// context leaves out members that are functions.
    pub fn write_json(&self, out: &mut String) {
        json::encode(self, out);
    }

    /// The name of the value's type, as `instance of` and messages use it.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Date(_) => "date",
            Value::Time(_) => "time",
            Value::DateTime(_) => "date and time",
            Value::DaysTimeDuration(_) => "days and time duration",
            Value::YearsMonthsDuration(_) => "years and months duration",
            Value::List(_) => "list",
            Value::Context(_) => "context",
            Value::Range(_) => "range",
            Value::Function(_) => "function",
        }
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The truth value, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The text, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The number, if it is one.
    pub fn as_number(&self) -> Option<Number> {
        match self {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The number as a whole one, if it is one and fits.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number().and_then(Number::to_i64)
    }

    /// The items, if it is a list.
    pub fn as_list(&self) -> Option<&[Value]> {
        match self {
            Value::List(list) => Some(list.items()),
            _ => None,
        }
    }

    /// The context, if it is one.
    pub fn as_context(&self) -> Option<&Context> {
        match self {
            Value::Context(context) => Some(context),
            _ => None,
        }
    }

    /// How deep and large the value is.
    /// The value, if it is within the limits: for values put together outside of an expression.
    pub fn bounded(self) -> Result<Value, Error> {
        self.extent().check()?;
        Ok(self)
    }

    pub(crate) fn extent(&self) -> Extent {
        match self {
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Date(_)
            | Value::Time(_)
            | Value::DateTime(_)
            | Value::DaysTimeDuration(_)
            | Value::YearsMonthsDuration(_) => Extent { depth: 0, size: VALUE_BYTES },
            Value::String(text) => Extent { depth: 0, size: VALUE_BYTES + text.len() as u64 },
            Value::List(list) => list.extent(),
            Value::Context(context) => context.extent(),
            Value::Range(range) => range.extent(),
            Value::Function(function) => function.extent(),
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::string(text)
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Value {
        Value::Number(number)
    }
}

impl From<Option<Number>> for Value {
    fn from(number: Option<Number>) -> Value {
        number.map_or(Value::Null, Value::Number)
    }
}
