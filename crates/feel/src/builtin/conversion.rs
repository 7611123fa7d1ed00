//! Between kinds of values: numbers, texts, JSON.

use super::{Builtin, Fault, Outcome, everywhere, fixed};
use crate::dialect::Dialect;
use crate::error::{Error, Limit};
use crate::eval::Machine;
use crate::json;
use crate::number::Number;
use crate::temporal::{DaysTimeDuration, Zone};
use crate::value::{Context, Value};
use std::fmt::Write;

pub(super) static ALL: &[Builtin] = &[
    everywhere(
        "number",
        &[
            fixed(&["from"], number),
            fixed(&["from", "grouping separator"], number),
            fixed(&["from", "grouping separator", "decimal separator"], number),
        ],
    ),
    everywhere("string", &[fixed(&["from"], string)]),
    everywhere("from json", &[fixed(&["json"], from_json)]),
    everywhere("to json", &[fixed(&["value"], to_json)]),
];

/// Bytes of JSON one call may read.
const JSON_BYTES_MAX: usize = 1 << 22;

fn number(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    if let ([Value::Number(number)], Dialect::Dmn) = (arguments, machine.dialect) {
        return Ok(Value::Number(*number));
    }
    let Some(Value::String(from)) = arguments.first() else {
        return Err(Fault::Arguments);
    };
    let separator = |at: usize, allowed: &[&str]| match arguments.get(at) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if allowed.contains(&&**text) => Ok(Some(text.to_string())),
        Some(Value::String(text)) => Err(Fault::Reason(format!("'{text}' cannot be a separator"))),
        Some(_) => Err(Fault::Arguments),
    };
    let grouping = separator(1, &[" ", ",", "."])?;
    let decimal = separator(2, &[",", "."])?;
    if grouping.is_some() && grouping == decimal {
        return Err(Fault::Reason(String::from("the separators must differ")));
    }
    if machine.dialect == Dialect::Camunda && grouping.is_none() && decimal.is_none() && 1 < arguments.len() {
        return Err(Fault::Arguments);
    }
    let mut text = from.to_string();
    if let Some(grouping) = grouping {
        text = text.replace(&grouping, "");
    }
    if let Some(decimal) = decimal {
        text = text.replace(&decimal, ".");
    }
    let parsed = Number::parse(&text).or_else(|| {
        // A point may end a number, and begin one.
        text.strip_suffix('.').filter(|_| machine.dialect == Dialect::Camunda).and_then(Number::parse)
    });
    parsed.map(Value::Number).ok_or_else(|| Fault::Reason(format!("'{from}' is not a number")))
}

fn string(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let [value] = arguments else {
        return Err(Fault::Arguments);
    };
    machine.charge(value.extent().size / 128)?;
    match value {
        Value::Null => Ok(Value::Null),
        Value::String(_) => Ok(value.clone()),
        other => {
            let mut text = String::new();
            write_text(other, machine.dialect, &mut text);
            Ok(machine.bounded_string(text)?)
        }
    }
}

/// A value as `string()` shows it.
fn write_text(value: &Value, dialect: Dialect, out: &mut String) {
    match value {
        Value::List(list) => {
            out.push('[');
            for (at, item) in list.items().iter().enumerate() {
                out.push_str(if 0 < at { ", " } else { "" });
                write_text(item, dialect, out);
            }
            out.push(']');
        }
        Value::Context(context) => write_context_text(context, dialect, out),
        Value::DaysTimeDuration(duration) if dialect == Dialect::Camunda => {
            out.push_str(&json::whole_seconds_text(*duration));
        }
        Value::Date(date) if dialect == Dialect::Camunda && 9999 < date.year() => {
            write!(out, "+{date}").expect("writing to a string cannot fail");
        }
        Value::Number(number) if dialect == Dialect::Dmn => out.push_str(&number.to_plain()),
        other => write!(out, "{other}").expect("writing to a string cannot fail"),
    }
}

fn write_context_text(context: &Context, dialect: Dialect, out: &mut String) {
    out.push('{');
    let shown = context.entries().iter().filter(|(_, value)| !matches!(value, Value::Function(_)) || dialect == Dialect::Dmn);
    for (at, (key, member)) in shown.enumerate() {
        out.push_str(if 0 < at { ", " } else { "" });
        let separator = if dialect == Dialect::Dmn { ": " } else { ":" };
        out.push_str(key);
        out.push_str(separator);
        write_text(member, dialect, out);
    }
    out.push('}');
}

fn from_json(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    match arguments {
        [Value::Null] => Ok(Value::Null),
        [Value::String(text)] => {
            // A few bytes of JSON can be a whole value, so the text is bounded tighter than other texts.
            if JSON_BYTES_MAX < text.len() {
                return Err(Fault::Error(Error::Limit(Limit::Size)));
            }
            machine.charge(text.len() as u64 / 16)?;
            let value = Value::from_json(text).map_err(|error| Fault::Reason(format!("not JSON: {error}")))?;
            value.extent().check()?;
            Ok(value)
        }
        _ => Err(Fault::Arguments),
    }
}

fn to_json(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let [value] = arguments else {
        return Err(Fault::Arguments);
    };
    machine.charge(value.extent().size / 128)?;
    let mut out = String::new();
    write_json(value, &mut out);
    Ok(machine.bounded_string(out)?)
}

/// As [`Value::write_json`], but in the spelling this function has elsewhere: seconds of times are written out, days
/// of durations counted in hours, functions and ranges spelled.
fn write_json(value: &Value, out: &mut String) {
    match value {
        Value::List(list) => {
            out.push('[');
            for (at, item) in list.items().iter().enumerate() {
                out.push_str(if 0 < at { "," } else { "" });
                write_json(item, out);
            }
            out.push(']');
        }
        Value::Context(context) => {
            out.push('{');
            let members = context.entries().iter().filter(|(_, value)| !matches!(value, Value::Function(_)));
            for (at, (key, member)) in members.enumerate() {
                out.push_str(if 0 < at { "," } else { "" });
                json::write_string(key, out);
                out.push(':');
                write_json(member, out);
            }
            out.push('}');
        }
        Value::Time(time) => {
            let zone = time.zone().offset_seconds().map_or(Zone::Local, Zone::Offset);
            json::write_string(&time.with_zone(zone).to_string(), out);
        }
        Value::DaysTimeDuration(duration) => json::write_string(&hours_text(*duration), out),
        Value::YearsMonthsDuration(duration) => json::write_string(&months_text(duration.total_months()), out),
        Value::Function(_) | Value::Range(_) => json::write_string(&value.to_string(), out),
        Value::Number(number) => write!(out, "{number}").expect("writing to a string cannot fail"),
        other => other.write_json(out),
    }
}

/// A duration in hours, minutes and seconds only, each with its sign.
fn hours_text(duration: DaysTimeDuration) -> String {
    let seconds = duration.nanos() / 1_000_000_000;
    let fraction = (duration.nanos() % 1_000_000_000).unsigned_abs();
    let (hours, minutes, rest) = (seconds / 3_600, seconds % 3_600 / 60, seconds % 60);
    let mut out = String::from("PT");
    for (amount, unit) in [(hours, 'H'), (minutes, 'M')] {
        if amount != 0 {
            write!(out, "{amount}{unit}").expect("writing to a string cannot fail");
        }
    }
    let sign = if duration.nanos() < 0 && rest == 0 { "-" } else { "" };
    if fraction != 0 {
        let digits = format!("{fraction:09}");
        write!(out, "{sign}{rest}.{}S", digits.trim_end_matches('0')).expect("writing to a string cannot fail");
    } else if rest != 0 || out.len() == 2 {
        write!(out, "{rest}S").expect("writing to a string cannot fail");
    }
    out
}

/// A duration in years and months, each with its sign.
fn months_text(total: i64) -> String {
    let mut out = String::from("P");
    for (amount, unit) in [(total / 12, 'Y'), (total % 12, 'M')] {
        if amount != 0 {
            write!(out, "{amount}{unit}").expect("writing to a string cannot fail");
        }
    }
    if total == 0 { String::from("P0D") } else { out }
}
