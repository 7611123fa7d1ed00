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

use crate::budget::{BYTES_PER_STEP, Budget};
use crate::error::{Error, Limit};
use crate::excerpt::{Bounded, shortened};
use crate::json;
use crate::limits::{VALUE_DEPTH_MAX, VALUE_SIZE_MAX};
use crate::number::Number;
use crate::temporal::{Date, DateTime, DaysTimeDuration, Time, YearsMonthsDuration};
use std::fmt;
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
        json::decode(text, u64::MAX).0
    }

    /// Reads JSON on what is left of a budget; what is not JSON is [`Error::Invalid`]. A value from outside may be larger
    /// than one that an expression makes.
    pub fn from_json_within(text: &str, budget: &mut Budget) -> Result<Value, Error> {
        budget.read(text.len())?;
        let (value, made) = json::decode(text, budget.bytes_left());
        if matches!(&value, Err(error) if error.problem == json::TOO_LARGE) {
            return Err(Error::Limit(Limit::Bytes));
        }
        budget.make(made)?;
        value.map_err(|error| Error::Invalid(format!("not JSON: {error}")))
    }

    /// The value as JSON; see [`Value::write_json`].
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write_json(&mut out);
        out
    }

    /// The value as JSON on what is left of a budget, so that no text is written that is larger than a value may be.
    pub fn to_json_within(&self, budget: &mut Budget) -> Result<String, Error> {
        written(budget, self, |out| json::encode(self, out))
    }

    /// The beginning of the value as JSON, for messages.
    pub fn json_excerpt(&self) -> String {
        shortened(|out| json::encode(self, out))
    }

    /// Appends the value as JSON. Temporal values are ISO 8601 strings; ranges and functions are `null`, and a
    /// context leaves out members that are functions.
    pub fn write_json(&self, out: &mut String) {
        json::encode(self, out).expect("writing to a string cannot fail");
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

    /// The value just made, if it is within the limits and there is room for it; what is inside of a list or context had
    /// its room before.
    pub fn bounded(self, budget: &mut Budget) -> Result<Value, Error> {
        self.extent().check()?;
        budget.make(self.own_bytes())?;
        Ok(self)
    }

    /// Bytes the value takes, counted as if nothing in it were shared: what writing it out or comparing it is
    /// measured by.
    pub fn size(&self) -> u64 {
        self.extent().size
    }

    /// Bytes the value takes without what it holds or shares.
    fn own_bytes(&self) -> u64 {
        match self {
            Value::List(list) => VALUE_BYTES * (2 + list.len() as u64),
            Value::Context(context) => VALUE_BYTES * (3 + 2 * context.len() as u64),
            Value::Range(_) => 4 * VALUE_BYTES,
            Value::Function(function) => VALUE_BYTES * (4 + function.captured() as u64),
            Value::String(_)
            | Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Date(_)
            | Value::Time(_)
            | Value::DateTime(_)
            | Value::DaysTimeDuration(_)
            | Value::YearsMonthsDuration(_) => self.extent().size,
        }
    }

    /// How deep and large the value is.
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

/// A text of a value, written as long as there is room for it.
pub(crate) fn written(
    budget: &mut Budget,
    value: &Value,
    write: impl FnOnce(&mut Bounded) -> fmt::Result,
) -> Result<String, Error> {
    budget.charge(value.size() / BYTES_PER_STEP)?;
    let room = budget.bytes_left().min(VALUE_SIZE_MAX);
    let mut out = Bounded::new(usize::try_from(room).unwrap_or(usize::MAX));
    let _ = write(&mut out);
    let limit = if room < VALUE_SIZE_MAX { Limit::Bytes } else { Limit::Size };
    let text = out.whole().ok_or(Error::Limit(limit))?;
    budget.make(text.len() as u64)?;
    Ok(text)
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
