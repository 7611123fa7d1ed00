//! Rust equality of values: same type and same content. FEEL's `=` is in `eval`, since it may also be `null`.

use super::{Endpoint, Range, Value};
use crate::temporal::{DateTime, Time};

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Number(a), Value::Number(b)) => a == b,
            (Value::String(a), Value::String(b)) => a == b,
            (Value::Date(a), Value::Date(b)) => a == b,
            (Value::Time(a), Value::Time(b)) => a == b,
            (Value::DateTime(a), Value::DateTime(b)) => a == b,
            (Value::DaysTimeDuration(a), Value::DaysTimeDuration(b)) => a == b,
            (Value::YearsMonthsDuration(a), Value::YearsMonthsDuration(b)) => a == b,
            (Value::List(a), Value::List(b)) => a.same(b) || a.items() == b.items(),
            (Value::Context(a), Value::Context(b)) => {
                let matches = |(key, value): &(std::sync::Arc<str>, Value)| b.get(key) == Some(value);
                a.same(b) || a.len() == b.len() && a.entries().iter().all(matches)
            }
            (Value::Range(a), Value::Range(b)) => a == b,
            (Value::Function(a), Value::Function(b)) => a.same(b),
            _ => false,
        }
    }
}

impl PartialEq for Range {
    fn eq(&self, other: &Range) -> bool {
        self.start == other.start && self.end == other.end
    }
}

impl PartialEq for Endpoint {
    fn eq(&self, other: &Endpoint) -> bool {
        self.included == other.included && self.value == other.value
    }
}

impl PartialEq for Time {
    /// Same reading of the clock, same zone.
    fn eq(&self, other: &Time) -> bool {
        self.nanos_of_day() == other.nanos_of_day() && self.zone() == other.zone()
    }
}

impl PartialEq for DateTime {
    /// Same reading of the clock, same zone.
    fn eq(&self, other: &DateTime) -> bool {
        self.date() == other.date() && self.time() == other.time()
    }
}
