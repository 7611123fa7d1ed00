//! Regular expressions, with what they cost.
//!
//! Reading order: `syntax` (as Java and XPath write them), `program` and `class` (what they come to), `matcher`.

mod class;
mod matcher;
mod program;
mod syntax;
#[cfg(test)]
mod tests;

use super::Fault;
use crate::dialect::Dialect;
use crate::error::{Error, Limit};
use crate::eval::Machine;
use crate::excerpt::quoted;
use crate::limits::VALUE_SIZE_MAX;
use crate::value::{VALUE_BYTES, Value};
use matcher::Matcher;
use program::Program;
use std::rc::Rc;
use syntax::{Ending, translate, without_space};

/// Bytes of a pattern's text, and of its flags.
const SOURCE_BYTES_MAX: usize = 10_000;
const FLAGS_BYTES_MAX: usize = 100;

/// A compiled regular expression.
#[derive(Debug)]
pub(crate) struct Pattern {
    source: Box<str>,
    flags: Box<str>,
    ending: Ending,
    dialect: Dialect,
    program: Program,
}

/// The pattern with flags from `smix`, compiled for a text. One evaluation compiles it once.
pub(super) fn pattern(machine: &mut Machine<'_>, source: &str, flags: &str, text: &str) -> Result<Rc<Pattern>, Fault> {
    if SOURCE_BYTES_MAX < source.len() {
        return Err(invalid(source));
    }
    let dialect = machine.dialect;
    let unknown = |flag: char| !matches!(flag, 's' | 'm' | 'i' | 'x');
    if FLAGS_BYTES_MAX < flags.len() || (dialect == Dialect::Dmn && flags.contains(unknown)) {
        return Err(Fault::Reason(format!("unknown flags '{}'", quoted(flags))));
    }
    let breaks = text.ends_with(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']);
    let matters = breaks && dialect == Dialect::Camunda && !flags.contains('m') && source.contains('$');
    let ending = if matters { Ending::LineBreak } else { Ending::Other };
    let same = |pattern: &Pattern| {
        *pattern.source == *source && *pattern.flags == *flags && pattern.ending == ending && pattern.dialect == dialect
    };
    if let Some(known) = machine.known_pattern(same) {
        return Ok(known);
    }
    machine.charge(source.len() as u64)?;
    let program = compile(source, flags, ending, dialect)?;
    machine.charge(program.cost())?;
    let pattern = Rc::new(Pattern { source: source.into(), flags: flags.into(), ending, dialect, program });
    machine.keep_pattern(Rc::clone(&pattern));
    Ok(pattern)
}

fn invalid(source: &str) -> Fault {
    Fault::Reason(format!("invalid pattern '{}'", quoted(source)))
}

fn compile(source: &str, flags: &str, ending: Ending, dialect: Dialect) -> Result<Program, Fault> {
    let mut translated = inline_flags(flags, dialect);
    let body = match (flags.contains('x'), dialect) {
        (true, Dialect::Dmn) => translate(&without_space(source), flags, ending, dialect),
        _ => translate(source, flags, ending, dialect),
    };
    translated.push_str(&body.ok_or_else(|| invalid(source))?);
    program::compile(&translated).ok_or_else(|| invalid(source))
}

fn inline_flags(flags: &str, dialect: Dialect) -> String {
    let wanted: String = ['s', 'm', 'i', 'x']
        .into_iter()
        .filter(|flag| flags.contains(*flag) && (*flag != 'x' || dialect == Dialect::Camunda))
        .collect();
    if wanted.is_empty() { wanted } else { format!("(?{wanted})") }
}

impl Pattern {
    pub(super) fn found_in(&self, machine: &mut Machine<'_>, text: &str) -> Result<bool, Fault> {
        Ok(Matcher::new(&self.program, text, machine.budget).find()?.is_some())
    }

    /// The parts that match.
    pub(super) fn matches_in(&self, machine: &mut Machine<'_>, text: &str) -> Result<Vec<Value>, Fault> {
        let mut matcher = Matcher::new(&self.program, text, machine.budget);
        let mut parts = Vec::new();
        while let Some((start, end)) = matcher.find()? {
            parts.push(part(&mut matcher, &text[start..end])?);
        }
        Ok(parts)
    }

    /// The parts between matches, empty ones at the ends included.
    pub(super) fn split(&self, machine: &mut Machine<'_>, text: &str) -> Result<Vec<Value>, Fault> {
        let mut matcher = Matcher::new(&self.program, text, machine.budget);
        let mut parts = Vec::new();
        let mut from = 0;
        while let Some((start, end)) = matcher.find()? {
            // A match of nothing at the start splits nothing off.
            if 0 < end {
                parts.push(part(&mut matcher, &text[from..start])?);
                from = end;
            }
        }
        parts.push(part(&mut matcher, &text[from..])?);
        Ok(parts)
    }

    pub(super) fn replace_all(&self, machine: &mut Machine<'_>, text: &str, replacement: &str) -> Result<String, Fault> {
        let mut matcher = Matcher::new(&self.program, text, machine.budget);
        let mut out = String::new();
        let mut from = 0;
        while let Some((start, end)) = matcher.find()? {
            out.push_str(&text[from..start]);
            matcher.budget.read(replacement.len())?;
            expand(replacement, &matcher, self.program.groups, &mut out)?;
            from = end;
        }
        out.push_str(&text[from..]);
        Ok(out)
    }
}

/// A part of a text as a value, if there is room for it.
fn part(matcher: &mut Matcher<'_, '_, '_>, text: &str) -> Result<Value, Fault> {
    matcher.budget.make(2 * VALUE_BYTES + text.len() as u64)?;
    Ok(Value::from(text))
}

/// Appends a replacement: `$1` and `${name}` are groups, a backslash takes the next character as it is.
fn expand(replacement: &str, matcher: &Matcher<'_, '_, '_>, groups: usize, out: &mut String) -> Result<(), Fault> {
    let invalid = || Fault::Reason(format!("invalid replacement '{}'", quoted(replacement)));
    let room = matcher.budget.bytes_left().min(VALUE_SIZE_MAX);
    let mut chars = replacement.chars().peekable();
    while let Some(c) = chars.next() {
        if room < out.len() as u64 {
            return Err(Fault::Error(Error::Limit(Limit::Size)));
        }
        match c {
            '\\' => out.push(chars.next().ok_or_else(invalid)?),
            '$' if chars.peek() == Some(&'{') => {
                let name: String = chars.by_ref().skip(1).take_while(|c| *c != '}').collect();
                out.push_str(matcher.named(&name).unwrap_or_default());
            }
            '$' => {
                let first = chars.next().and_then(|c| c.to_digit(10)).ok_or_else(invalid)?;
                let mut group = first as usize;
                if groups <= group {
                    return Err(invalid());
                }
                // More digits belong to the number as long as there is such a group.
                while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
                    let longer = group * 10 + digit as usize;
                    if groups <= longer {
                        break;
                    }
                    group = longer;
                    chars.next();
                }
                out.push_str(matcher.group(group).unwrap_or_default());
            }
            _ => out.push(c),
        }
    }
    Ok(())
}
