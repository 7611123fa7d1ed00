//! `value.name`: entries of contexts, properties of temporal values, and both over lists.

use super::machine::Machine;
use crate::budget::BYTES_PER_STEP;
use crate::compile::node::Node;
use crate::dialect::Dialect;
use crate::error::{Error, WarningKind};
use crate::excerpt::quoted;
use crate::number::Number;
use crate::temporal::{Date, DaysTimeDuration, Time};
use crate::value::{Context, Range, Value, shown};

impl Machine<'_> {
    pub(super) fn path(&mut self, base: &Node, name: &str) -> Result<Value, Error> {
        let base = self.eval(base)?;
        self.read_text(name)?;
        self.member(&base, name)
    }

    fn member(&mut self, base: &Value, name: &str) -> Result<Value, Error> {
        match base {
            Value::Context(context) => match context.get(name) {
                Some(value) => Ok(value.clone()),
                None => {
                    self.warn(WarningKind::NoContextEntry, || no_entry(context, name))?;
                    Ok(Value::Null)
                }
            },
            Value::List(list) => {
                self.charge(list.len() as u64 * (1 + name.len() as u64 / BYTES_PER_STEP))?;
                let mut members = Vec::with_capacity(list.len());
                for item in list.items() {
                    members.push(self.member(item, name)?);
                }
                self.bounded_list(members)
            }
            Value::Null => {
                self.warn(WarningKind::NoContextEntry, || format!("no entry '{}': the context is null", quoted(name)))?;
                Ok(Value::Null)
            }
            _ => match property(base, name, self.dialect) {
                Some(value) => Ok(value),
                None => {
                    self.warn(WarningKind::NoProperty, || format!("no property '{}' of '{}'", quoted(name), shown(base)))?;
                    Ok(Value::Null)
                }
            },
        }
    }
}

fn no_entry(context: &Context, name: &str) -> String {
    let keys: Vec<String> = context.entries().iter().take(20).map(|(key, _)| quoted(key)).collect();
    match keys.is_empty() {
        true => format!("no entry '{}': the context is empty", quoted(name)),
        false => format!("no entry '{}' among '{}'", quoted(name), keys.join("', '")),
    }
}

fn property(base: &Value, name: &str, dialect: Dialect) -> Option<Value> {
    match base {
        Value::Date(date) => date_property(*date, name),
        Value::Time(time) => time_property(time, name),
        Value::DateTime(point) => date_property(point.date(), name).or_else(|| time_property(point.time(), name)),
        Value::DaysTimeDuration(duration) => days_time_property(*duration, name, dialect),
        Value::YearsMonthsDuration(duration) => match name {
            "years" => Some(Value::integer(duration.years())),
            "months" => Some(Value::integer(duration.months())),
            _ => None,
        },
        Value::Range(range) => range_property(range, name),
        _ => None,
    }
}

fn date_property(date: Date, name: &str) -> Option<Value> {
    let number = match name {
        "year" => date.year(),
        "month" => i32::from(date.month()),
        "day" => i32::from(date.day()),
        "weekday" => i32::from(date.weekday()),
        _ => return None,
    };
    Some(Value::Number(Number::from(number)))
}

fn time_property(time: &Time, name: &str) -> Option<Value> {
    let number = match name {
        "hour" => time.hour(),
        "minute" => time.minute(),
        "second" => time.second(),
        "time offset" => {
            let offset = time.zone().offset_seconds();
            return Some(
                offset.map_or(Value::Null, |seconds| Value::DaysTimeDuration(DaysTimeDuration::from_seconds(i64::from(seconds)))),
            );
        }
        "timezone" => return Some(time.zone().name().map_or(Value::Null, Value::from)),
        _ => return None,
    };
    Some(Value::integer(i64::from(number)))
}

fn days_time_property(duration: DaysTimeDuration, name: &str, dialect: Dialect) -> Option<Value> {
    let number = match name {
        "days" => duration.days(),
        "hours" => duration.hours(),
        "minutes" => duration.minutes(),
        "seconds" if dialect == Dialect::Dmn => {
            let nanos = duration.nanos() % (60 * crate::temporal::NANOS_PER_SECOND);
            return Number::new(nanos, -9).map(|seconds| Value::Number(seconds.stripped()));
        }
        "seconds" => duration.seconds(),
        _ => return None,
    };
    Some(Value::integer(number))
}

fn range_property(range: &Range, name: &str) -> Option<Value> {
    Some(match name {
        "start" => range.start.value.clone(),
        "end" => range.end.value.clone(),
        "start included" => Value::Bool(range.start.included),
        "end included" => Value::Bool(range.end.included),
        _ => return None,
    })
}
