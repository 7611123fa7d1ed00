//! Writing JSON.

use crate::temporal::{Date, DateTime, DaysTimeDuration, Time, Zone};
use crate::value::Value;
use std::fmt::Write;

/// Appends `value` as JSON.
pub(crate) fn encode(value: &Value, out: &mut String) {
    match value {
        Value::Null | Value::Range(_) | Value::Function(_) => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => number.write_json(out),
        Value::String(text) => write_string(text, out),
        Value::Date(_) | Value::Time(_) | Value::DateTime(_) | Value::DaysTimeDuration(_) => {
            write_string(&temporal_text(value), out);
        }
        Value::YearsMonthsDuration(duration) => write_display(duration, out),
        Value::List(list) => {
            out.push('[');
            for (at, item) in list.items().iter().enumerate() {
                if 0 < at {
                    out.push(',');
                }
                encode(item, out);
            }
            out.push(']');
        }
        Value::Context(context) => {
            out.push('{');
            let members = context.entries().iter().filter(|(_, value)| !matches!(value, Value::Function(_)));
            for (at, (name, member)) in members.enumerate() {
                if 0 < at {
                    out.push(',');
                }
                write_string(name, out);
                out.push(':');
                encode(member, out);
            }
            out.push('}');
        }
    }
}

/// The text of a temporal value in JSON, as other servers of this dialect write it; empty for other values.
fn temporal_text(value: &Value) -> String {
    match value {
        Value::Date(date) => date_text(*date),
        Value::Time(time) => time_text(time),
        Value::DateTime(date_time) => date_time_text(date_time),
        Value::DaysTimeDuration(duration) => whole_seconds_text(*duration),
        _ => String::new(),
    }
}

/// Years beyond four digits carry a sign.
fn date_text(date: Date) -> String {
    let sign = if 9999 < date.year() { "+" } else { "" };
    format!("{sign}{date}")
}

/// Seconds are left out when zero, fractions come in groups of three digits; with a zone, as FEEL writes it.
fn time_text(time: &Time) -> String {
    if *time.zone() != Zone::Local {
        return time.to_string();
    }
    let mut text = format!("{:02}:{:02}", time.hour(), time.minute());
    let nano = time.nano();
    if time.second() != 0 || nano != 0 {
        text.push_str(&format!(":{:02}", time.second()));
    }
    let fraction = match nano {
        0 => return text,
        _ if nano.is_multiple_of(1_000_000) => format!(".{:03}", nano / 1_000_000),
        _ if nano.is_multiple_of(1_000) => format!(".{:06}", nano / 1_000),
        _ => format!(".{nano:09}"),
    };
    text + &fraction
}

/// In a named zone the offset and the name in brackets.
fn date_time_text(date_time: &DateTime) -> String {
    let date = date_text(date_time.date());
    let zone = date_time.zone();
    match (zone.name(), zone.offset_seconds()) {
        (Some(name), Some(offset)) => {
            let clock = date_time.time().with_zone(Zone::Offset(offset));
            format!("{date}T{clock}[{name}]")
        }
        _ => format!("{date}T{}", date_time.time()),
    }
}

/// Fractions of a second are cut off towards minus infinity.
pub(crate) fn whole_seconds_text(duration: DaysTimeDuration) -> String {
    let seconds = duration.nanos().div_euclid(1_000_000_000);
    let whole = DaysTimeDuration::from_nanos(seconds * 1_000_000_000).unwrap_or(duration);
    whole.to_string()
}

fn write_display(value: &impl std::fmt::Display, out: &mut String) {
    write!(out, "\"{value}\"").expect("writing to a string cannot fail");
}

/// Appends a JSON string.
pub(crate) fn write_string(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| matches!(c, '"' | '\\' | '\0'..='\x1f')) {
        out.push_str(&rest[..at]);
        let escaped = rest.as_bytes()[at];
        match escaped {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            _ => write!(out, "\\u{escaped:04x}").expect("writing to a string cannot fail"),
        }
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
    out.push('"');
}
