//! Between kinds of values: numbers, texts, JSON.

use super::{Builtin, Fault, Outcome, everywhere, fixed};
use crate::dialect::Dialect;
use crate::error::Error;
use crate::eval::Machine;
use crate::excerpt::quoted;
use crate::json;
use crate::number::Number;
use crate::temporal::{DaysTimeDuration, Zone};
use crate::value::{Context, Value, written};
use std::borrow::Cow;
use std::fmt::{self, Write};

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

fn number(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    if let ([Value::Number(number)], Dialect::Dmn) = (arguments, machine.dialect) {
        return Ok(Value::Number(*number));
    }
    let Some(Value::String(from)) = arguments.first() else {
        return Err(Fault::Arguments);
    };
    let separator = |at: usize, allowed: &[&'static str]| match arguments.get(at) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => {
            let known = allowed.iter().find(|allowed| ***allowed == **text);
            known.map(|known| Some(*known)).ok_or_else(|| Fault::Reason(format!("'{}' cannot be a separator", quoted(text))))
        }
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
    machine.read_text(from)?;
    let mut text = Cow::Borrowed(&**from);
    for (separator, meant) in [(grouping, ""), (decimal, ".")] {
        if let Some(separator) = separator {
            machine.make_text(text.len())?;
            text = Cow::Owned(text.replace(separator, meant));
        }
    }
    let parsed = Number::parse(&text).or_else(|| {
        // A point may end a number, and begin one.
        text.strip_suffix('.').filter(|_| machine.dialect == Dialect::Camunda).and_then(Number::parse)
    });
    parsed.map(Value::Number).ok_or_else(|| Fault::Reason(format!("'{}' is not a number", quoted(from))))
}

fn string(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    match arguments {
        [Value::Null] => Ok(Value::Null),
        [value @ Value::String(_)] => Ok(value.clone()),
        [other] => {
            let text = written(machine.budget, other, |out| write_text(other, machine.dialect, out))?;
            Ok(Value::string(text))
        }
        _ => Err(Fault::Arguments),
    }
}

/// A value as `string()` shows it.
fn write_text(value: &Value, dialect: Dialect, out: &mut impl Write) -> fmt::Result {
    match value {
        Value::List(list) => {
            out.write_char('[')?;
            for (at, item) in list.items().iter().enumerate() {
                out.write_str(if 0 < at { ", " } else { "" })?;
                write_text(item, dialect, out)?;
            }
            out.write_char(']')
        }
        Value::Context(context) => write_context_text(context, dialect, out),
        Value::DaysTimeDuration(duration) if dialect == Dialect::Camunda => out.write_str(&json::whole_seconds_text(*duration)),
        Value::Date(date) if dialect == Dialect::Camunda && 9999 < date.year() => write!(out, "+{date}"),
        Value::Number(number) if dialect == Dialect::Dmn => out.write_str(&number.to_plain()),
        other => write!(out, "{other}"),
    }
}

fn write_context_text(context: &Context, dialect: Dialect, out: &mut impl Write) -> fmt::Result {
    out.write_char('{')?;
    let shown = context.entries().iter().filter(|(_, value)| !matches!(value, Value::Function(_)) || dialect == Dialect::Dmn);
    for (at, (key, member)) in shown.enumerate() {
        out.write_str(if 0 < at { ", " } else { "" })?;
        out.write_str(key)?;
        out.write_str(if dialect == Dialect::Dmn { ": " } else { ":" })?;
        write_text(member, dialect, out)?;
    }
    out.write_char('}')
}

fn from_json(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    match arguments {
        [Value::Null] => Ok(Value::Null),
        [Value::String(text)] => match Value::from_json_within(text, machine.budget) {
            Ok(value) => {
                value.extent().check()?;
                Ok(value)
            }
            Err(Error::Invalid(reason)) => Err(Fault::Reason(reason)),
            Err(other) => Err(Fault::Error(other)),
        },
        _ => Err(Fault::Arguments),
    }
}

fn to_json(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let [value] = arguments else {
        return Err(Fault::Arguments);
    };
    Ok(Value::string(written(machine.budget, value, |out| write_json(value, out))?))
}

/// As [`Value::write_json`], but in the spelling this function has elsewhere: seconds of times are written out, days
/// of durations counted in hours, functions and ranges spelled.
fn write_json(value: &Value, out: &mut impl Write) -> fmt::Result {
    match value {
        Value::List(list) => {
            out.write_char('[')?;
            for (at, item) in list.items().iter().enumerate() {
                out.write_str(if 0 < at { "," } else { "" })?;
                write_json(item, out)?;
            }
            out.write_char(']')
        }
        Value::Context(context) => {
            out.write_char('{')?;
            let members = context.entries().iter().filter(|(_, value)| !matches!(value, Value::Function(_)));
            for (at, (key, member)) in members.enumerate() {
                out.write_str(if 0 < at { "," } else { "" })?;
                json::write_string(key, out)?;
                out.write_char(':')?;
                write_json(member, out)?;
            }
            out.write_char('}')
        }
        Value::Time(time) => {
            let zone = time.zone().offset_seconds().map_or(Zone::Local, Zone::Offset);
            json::write_string(&time.with_zone(zone).to_string(), out)
        }
        Value::DaysTimeDuration(duration) => json::write_string(&hours_text(*duration), out),
        Value::YearsMonthsDuration(duration) => json::write_string(&months_text(duration.total_months()), out),
        Value::Function(_) | Value::Range(_) => json::write_string(&value.to_string(), out),
        Value::Number(number) => write!(out, "{number}"),
        other => json::encode(other, out),
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
