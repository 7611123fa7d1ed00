//! Writing JSON.

use crate::temporal::{Date, DateTime, DaysTimeDuration, Time, Zone};
use crate::value::Value;
use std::fmt::{self, Write};

/// Writes `value` as JSON.
pub(crate) fn encode(value: &Value, out: &mut impl Write) -> fmt::Result {
    match value {
        Value::Null | Value::Range(_) | Value::Function(_) => out.write_str("null"),
        Value::Bool(true) => out.write_str("true"),
        Value::Bool(false) => out.write_str("false"),
        Value::Number(number) => number.write_json(out),
        Value::String(text) => write_string(text, out),
        Value::Date(_) | Value::Time(_) | Value::DateTime(_) | Value::DaysTimeDuration(_) => {
            write_string(&temporal_text(value), out)
        }
        Value::YearsMonthsDuration(duration) => write!(out, "\"{duration}\""),
        Value::List(list) => {
            out.write_char('[')?;
            for (at, item) in list.items().iter().enumerate() {
                if 0 < at {
                    out.write_char(',')?;
                }
                encode(item, out)?;
            }
            out.write_char(']')
        }
        Value::Context(context) => {
            out.write_char('{')?;
            let members = context.entries().iter().filter(|(_, value)| !matches!(value, Value::Function(_)));
            for (at, (name, member)) in members.enumerate() {
                if 0 < at {
                    out.write_char(',')?;
                }
                write_string(name, out)?;
                out.write_char(':')?;
                encode(member, out)?;
            }
            out.write_char('}')
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

/// Writes a JSON string.
pub(crate) fn write_string(text: &str, out: &mut impl Write) -> fmt::Result {
    out.write_char('"')?;
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f)) {
        out.write_str(&rest[..at])?;
        let escaped = rest.as_bytes()[at];
        match escaped {
            b'"' => out.write_str("\\\""),
            b'\\' => out.write_str("\\\\"),
            b'\n' => out.write_str("\\n"),
            b'\r' => out.write_str("\\r"),
            b'\t' => out.write_str("\\t"),
            _ => write!(out, "\\u{escaped:04x}"),
        }?;
        rest = &rest[at + 1..];
    }
    out.write_str(rest)?;
    out.write_char('"')
}
