//! Regular expressions, with what they cost.

use super::Fault;
use super::pattern_syntax::{Ending, translate, without_space};
use crate::dialect::Dialect;
use crate::error::{Error, Limit};
use crate::eval::Machine;
use crate::limits::VALUE_SIZE_MAX;
use fancy_regex::{Captures, Regex, RegexBuilder};
use std::rc::Rc;

/// Steps a match may take back before it is given up.
const BACKTRACKS_MAX: usize = 100_000;
/// Bytes a compiled pattern may take.
const PATTERN_BYTES_MAX: usize = 1 << 20;
/// Bytes of a pattern's text.
const SOURCE_BYTES_MAX: usize = 10_000;
/// Steps charged for compiling a pattern, for each match that may take steps back, and for giving one up.
const COMPILE_STEPS: u64 = 200;
const BACKTRACKING_STEPS: u64 = 2_000;
const GIVEN_UP_STEPS: u64 = 200_000;

/// A compiled regular expression.
pub(crate) struct Pattern {
    regex: Regex,
    /// Steps each match is charged.
    cost: u64,
}

/// The pattern with flags from `smix`, compiled for a text. One evaluation compiles it once.
pub(super) fn pattern(machine: &mut Machine<'_>, source: &str, flags: &str, text: &str) -> Result<Rc<Pattern>, Fault> {
    let breaks = text.ends_with(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']);
    let matters = breaks && machine.dialect == Dialect::Camunda && !flags.contains('m');
    let ending = if matters { Ending::LineBreak } else { Ending::Other };
    let key = format!("{flags}/{matters}/{:?}/{source}", machine.dialect);
    if let Some(known) = machine.known_pattern(&key) {
        return Ok(known);
    }
    machine.charge(COMPILE_STEPS + source.len() as u64)?;
    let compiled = Rc::new(compile(source, flags, ending, machine.dialect)?);
    machine.keep_pattern(key, Rc::clone(&compiled));
    Ok(compiled)
}

fn compile(source: &str, flags: &str, ending: Ending, dialect: Dialect) -> Result<Pattern, Fault> {
    let invalid = || Fault::Reason(format!("invalid pattern '{}'", source.chars().take(100).collect::<String>()));
    let known = flags.chars().all(|flag| matches!(flag, 's' | 'm' | 'i' | 'x'));
    if dialect == Dialect::Dmn && !known {
        return Err(Fault::Reason(format!("unknown flags '{flags}'")));
    }
    if SOURCE_BYTES_MAX < source.len() {
        return Err(invalid());
    }
    let mut translated = inline_flags(flags, dialect);
    let body = match (flags.contains('x'), dialect) {
        (true, Dialect::Dmn) => translate(&without_space(source), flags, ending, dialect),
        _ => translate(source, flags, ending, dialect),
    };
    translated.push_str(&body.ok_or_else(invalid)?);
    let regex = RegexBuilder::new(&translated)
        .backtrack_limit(BACKTRACKS_MAX)
        .delegate_size_limit(PATTERN_BYTES_MAX)
        .delegate_dfa_size_limit(PATTERN_BYTES_MAX)
        .build()
        .map_err(|_| invalid())?;
    let cost = if may_backtrack(&translated) { BACKTRACKING_STEPS } else { 1 + source.len() as u64 / 64 };
    Ok(Pattern { regex, cost })
}

fn inline_flags(flags: &str, dialect: Dialect) -> String {
    let wanted: String = ['s', 'm', 'i', 'x']
        .into_iter()
        .filter(|flag| flags.contains(*flag) && (*flag != 'x' || dialect == Dialect::Camunda))
        .collect();
    if wanted.is_empty() { wanted } else { format!("(?{wanted})") }
}

/// Lookaround, atomic groups, references back: only these leave the engine that is linear in the text.
fn may_backtrack(translated: &str) -> bool {
    let bytes = translated.as_bytes();
    let reference = bytes.windows(2).any(|pair| pair[0] == b'\\' && (pair[1].is_ascii_digit() || pair[1] == b'k'));
    let groups = ["(?=", "(?!", "(?<=", "(?<!", "(?>", "*+", "++", "?+", "}+"];
    reference || groups.iter().any(|group| translated.contains(group))
}

impl Pattern {
    fn charge(&self, machine: &mut Machine<'_>) -> Result<(), Fault> {
        Ok(machine.charge(self.cost)?)
    }

    pub(super) fn found_in(&self, machine: &mut Machine<'_>, text: &str) -> Result<bool, Fault> {
        self.charge(machine)?;
        self.regex.is_match(text).or_else(|_| given_up(machine))
    }

    pub(super) fn matches_in<'t>(&self, machine: &mut Machine<'_>, text: &'t str) -> Result<Vec<&'t str>, Fault> {
        let mut parts = Vec::new();
        for found in self.regex.find_iter(text) {
            self.charge(machine)?;
            match found {
                Ok(found) => parts.push(found.as_str()),
                Err(_) => return given_up(machine),
            }
        }
        Ok(parts)
    }

    /// The parts between matches, empty ones at the ends included.
    pub(super) fn split<'t>(&self, machine: &mut Machine<'_>, text: &'t str) -> Result<Vec<&'t str>, Fault> {
        let mut parts = Vec::new();
        let mut from = 0;
        for found in self.regex.find_iter(text) {
            self.charge(machine)?;
            let Ok(found) = found else {
                return given_up(machine);
            };
            // A match of nothing at the start splits nothing off.
            if 0 < found.end() {
                parts.push(&text[from..found.start()]);
                from = found.end();
            }
        }
        parts.push(&text[from..]);
        Ok(parts)
    }

    pub(super) fn replace_all(&self, machine: &mut Machine<'_>, text: &str, replacement: &str) -> Result<String, Fault> {
        let mut out = String::new();
        let mut from = 0;
        for captures in self.regex.captures_iter(text) {
            self.charge(machine)?;
            let Ok(captures) = captures else {
                return given_up(machine);
            };
            let Some(whole) = captures.get(0) else {
                continue;
            };
            out.push_str(&text[from..whole.start()]);
            expand(replacement, &captures, self.regex.captures_len(), &mut out)?;
            from = whole.end();
        }
        out.push_str(&text[from..]);
        Ok(out)
    }
}

fn given_up<T>(machine: &mut Machine<'_>) -> Result<T, Fault> {
    machine.charge(GIVEN_UP_STEPS)?;
    Err(Fault::Reason(String::from("the pattern takes too many steps")))
}

/// Appends a replacement: `$1` and `${name}` are groups, a backslash takes the next character as it is.
fn expand(replacement: &str, captures: &Captures<'_, str>, groups: usize, out: &mut String) -> Result<(), Fault> {
    let invalid = || Fault::Reason(format!("invalid replacement '{replacement}'"));
    let mut chars = replacement.chars().peekable();
    while let Some(c) = chars.next() {
        if VALUE_SIZE_MAX < out.len() as u64 {
            return Err(Fault::Error(Error::Limit(Limit::Size)));
        }
        match c {
            '\\' => out.push(chars.next().ok_or_else(invalid)?),
            '$' if chars.peek() == Some(&'{') => {
                let name: String = chars.by_ref().skip(1).take_while(|c| *c != '}').collect();
                out.push_str(captures.name(&name).map_or("", |group| group.as_str()));
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
                out.push_str(captures.get(group).map_or("", |group| group.as_str()));
            }
            _ => out.push(c),
        }
    }
    Ok(())
}
