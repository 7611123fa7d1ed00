//! Values as text: as messages and `string()` show them.

use super::Value;
use crate::excerpt::quoted;
use std::fmt::{self, Display, Formatter};

impl Display for Value {
    /// As FEEL would write the value: texts in quotes, temporal values bare.
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => out.write_str("null"),
            Value::Bool(value) => Display::fmt(value, out),
            Value::Number(number) => Display::fmt(number, out),
            Value::String(text) => write!(out, "\"{text}\""),
            Value::Date(date) => Display::fmt(date, out),
            Value::Time(time) => Display::fmt(time, out),
            Value::DateTime(date_time) => Display::fmt(date_time, out),
            Value::DaysTimeDuration(duration) => Display::fmt(duration, out),
            Value::YearsMonthsDuration(duration) => Display::fmt(duration, out),
            Value::List(list) => {
                out.write_str("[")?;
                for (at, item) in list.items().iter().enumerate() {
                    if 0 < at {
                        out.write_str(", ")?;
                    }
                    Display::fmt(item, out)?;
                }
                out.write_str("]")
            }
            Value::Context(context) => {
                out.write_str("{")?;
                for (at, (key, value)) in context.entries().iter().enumerate() {
                    if 0 < at {
                        out.write_str(", ")?;
                    }
                    write!(out, "{key}:{value}")?;
                }
                out.write_str("}")
            }
            Value::Range(range) => {
                let open = if range.start.included { '[' } else { '(' };
                let close = if range.end.included { ']' } else { ')' };
                write!(out, "{open}{}..{}{close}", range.start.value, range.end.value)
            }
            Value::Function(function) => write!(out, "{function:?}"),
        }
    }
}

/// A value in a message: cut where it gets long.
pub(crate) fn shown(value: &Value) -> String {
    quoted(value)
}
