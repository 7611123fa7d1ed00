//! Functions of texts.

use super::pattern::{Pattern, pattern};
use super::text::{Units, units_of};
use super::{Builtin, Fault, Outcome, everywhere, fixed, only};
use crate::dialect::Dialect;
use crate::eval::Machine;
use crate::value::Value;
use std::rc::Rc;

pub(super) static ALL: &[Builtin] = &[
    everywhere(
        "substring",
        &[fixed(&["string", "start position"], substring), fixed(&["string", "start position", "length"], substring)],
    ),
    everywhere("string length", &[fixed(&["string"], string_length)]),
    everywhere("upper case", &[fixed(&["string"], upper_case)]),
    everywhere("lower case", &[fixed(&["string"], lower_case)]),
    everywhere("substring before", &[fixed(&["string", "match"], substring_before)]),
    everywhere("substring after", &[fixed(&["string", "match"], substring_after)]),
    everywhere(
        "replace",
        &[fixed(&["input", "pattern", "replacement"], replace), fixed(&["input", "pattern", "replacement", "flags"], replace)],
    ),
    everywhere("contains", &[fixed(&["string", "match"], contains)]),
    everywhere("starts with", &[fixed(&["string", "match"], starts_with)]),
    everywhere("ends with", &[fixed(&["string", "match"], ends_with)]),
    everywhere("matches", &[fixed(&["input", "pattern"], matches), fixed(&["input", "pattern", "flags"], matches)]),
    everywhere("split", &[fixed(&["string", "delimiter"], split)]),
    everywhere("extract", &[fixed(&["input", "pattern"], extract)]),
    everywhere("trim", &[fixed(&["string"], trim)]),
    everywhere("is blank", &[fixed(&["string"], is_blank)]),
    everywhere("to base64", &[fixed(&["value"], to_base64)]),
    everywhere("from base64", &[fixed(&["value"], from_base64)]),
    only(Dialect::Camunda, "uuid", &[fixed(&[], uuid)]),
];

/// Two texts, as many of these functions take them; they do not look through all of them.
fn two(arguments: &[Value]) -> Result<(&str, &str), Fault> {
    match arguments {
        [Value::String(a), Value::String(b)] => Ok((a, b)),
        _ => Err(Fault::Arguments),
    }
}

/// Two texts that are looked through.
fn read_two<'v>(machine: &mut Machine<'_>, arguments: &'v [Value]) -> Result<(&'v str, &'v str), Fault> {
    let (text, part) = two(arguments)?;
    machine.read_text(text)?;
    machine.read_text(part)?;
    Ok((text, part))
}

/// A text that is looked through.
fn read_one<'v>(machine: &mut Machine<'_>, arguments: &'v [Value]) -> Result<&'v str, Fault> {
    match arguments {
        [Value::String(text)] => {
            machine.read_text(text)?;
            Ok(text)
        }
        _ => Err(Fault::Arguments),
    }
}

fn substring(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let (text, start, length) = match arguments {
        [Value::String(text), Value::Number(start)] => (text, start.truncate_saturating(), None),
        [Value::String(text), Value::Number(start), Value::Number(length)] => {
            (text, start.truncate_saturating(), Some(length.truncate_saturating()))
        }
        _ => return Err(Fault::Arguments),
    };
    machine.read_text(text)?;
    let units = Units::new(text, units_of(machine.dialect));
    let total = i64::try_from(units.len()).unwrap_or(i64::MAX);
    let from = if 0 < start { start - 1 } else { total.saturating_add(start) };
    let to = length.map_or(total, |length| from.saturating_add(length).min(total));
    // The standard knows no position zero and no part without characters.
    let allowed = machine.dialect == Dialect::Camunda || (start != 0 && length.is_none_or(|length| 0 < length));
    match (usize::try_from(from), usize::try_from(to)) {
        (Ok(from), Ok(to)) if allowed && from <= to => Ok(machine.bounded_string(units.slice(from, to))?),
        _ => Err(Fault::Reason(format!("no such part in a text of {total}"))),
    }
}

fn string_length(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let text = read_one(machine, arguments)?;
    let length = Units::new(text, units_of(machine.dialect)).len();
    Ok(Value::Number(length.into()))
}

fn upper_case(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let upper = read_one(machine, arguments)?.to_uppercase();
    Ok(machine.bounded_string(upper)?)
}

fn lower_case(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let lower = read_one(machine, arguments)?.to_lowercase();
    Ok(machine.bounded_string(lower)?)
}

fn substring_before(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let (text, part) = read_two(machine, arguments)?;
    let before = text.find(part).map_or("", |at| &text[..at]);
    machine.make_text(before.len())?;
    Ok(Value::from(before))
}

fn substring_after(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let (text, part) = read_two(machine, arguments)?;
    let after = text.find(part).map_or("", |at| &text[at + part.len()..]);
    machine.make_text(after.len())?;
    Ok(Value::from(after))
}

fn contains(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let (text, part) = read_two(machine, arguments)?;
    Ok(Value::Bool(text.contains(part)))
}

fn starts_with(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let (text, part) = two(arguments)?;
    machine.budget.read(part.len().min(text.len()))?;
    Ok(Value::Bool(text.starts_with(part)))
}

fn ends_with(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let (text, part) = two(arguments)?;
    machine.budget.read(part.len().min(text.len()))?;
    Ok(Value::Bool(text.ends_with(part)))
}

fn pattern_of(machine: &mut Machine<'_>, source: &str, flags: Option<&Value>, text: &str) -> Result<Rc<Pattern>, Fault> {
    let flags = match flags {
        Some(Value::String(flags)) => flags,
        Some(Value::Null) if machine.dialect == Dialect::Dmn => "",
        Some(_) => return Err(Fault::Arguments),
        None => "",
    };
    pattern(machine, source, flags, text)
}

fn matches(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let (text, pattern) = two(arguments.get(..2).unwrap_or_default())?;
    let pattern = pattern_of(machine, pattern, arguments.get(2), text)?;
    Ok(Value::Bool(pattern.found_in(machine, text)?))
}

fn replace(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let (text, pattern) = two(arguments.get(..2).unwrap_or_default())?;
    let Some(Value::String(replacement)) = arguments.get(2) else {
        return Err(Fault::Arguments);
    };
    let pattern = pattern_of(machine, pattern, arguments.get(3), text)?;
    let replaced = pattern.replace_all(machine, text, replacement)?;
    Ok(machine.bounded_string(replaced)?)
}

fn split(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let (text, delimiter) = two(arguments)?;
    let pattern = pattern_of(machine, delimiter, None, text)?;
    let parts = pattern.split(machine, text)?;
    Ok(machine.bounded_list(parts)?)
}

fn extract(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let (text, pattern) = two(arguments)?;
    let pattern = pattern_of(machine, pattern, None, text)?;
    let parts = pattern.matches_in(machine, text)?;
    Ok(machine.bounded_list(parts)?)
}

/// Without control characters and spaces at both ends.
fn trim(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let trimmed = read_one(machine, arguments)?.trim_matches(|c: char| c <= ' ');
    machine.make_text(trimmed.len())?;
    Ok(Value::from(trimmed))
}

fn is_blank(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    // Non-breaking spaces are characters here, as they are not in between words.
    let blank = |c: char| {
        (c.is_whitespace() && !matches!(c, '\u{a0}' | '\u{2007}' | '\u{202f}' | '\u{85}')) || matches!(c, '\u{1c}'..='\u{1f}')
    };
    Ok(Value::Bool(read_one(machine, arguments)?.chars().all(blank)))
}

fn to_base64(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let text = read_one(machine, arguments)?;
    machine.make_text(text.len().div_ceil(3) * 4)?;
    Ok(Value::string(super::text::to_base64(text.as_bytes())))
}

fn from_base64(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let text = read_one(machine, arguments)?;
    let bytes = super::text::from_base64(text).ok_or_else(|| Fault::Reason(String::from("not Base64")))?;
    Ok(machine.bounded_string(String::from_utf8_lossy(&bytes).into_owned())?)
}

/// A version 7 UUID: the evaluation's instant and randomness.
fn uuid(machine: &mut Machine<'_>, _: &[Value]) -> Outcome {
    let millis = machine.now.epoch_millis().unsigned_abs() & 0xffff_ffff_ffff;
    let (a, b) = (machine.random(), machine.random());
    let high = millis << 16 | 0x7000 | (a & 0xfff);
    let low = 0x8000_0000_0000_0000 | (b >> 2);
    let hex = format!("{high:016x}{low:016x}");
    let text = format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]);
    Ok(machine.bounded_string(text)?)
}
