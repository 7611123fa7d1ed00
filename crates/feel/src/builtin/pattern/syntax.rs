//! Patterns as Java and XPath write them, for an engine that writes some things otherwise.

use crate::dialect::Dialect;
use std::fmt::Write;

/// What the text ends in, as far as `$` is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// A line break, before which `$` matches too.
    LineBreak,
    /// Anything else, or `$` means the end of every line anyway.
    Other,
}

/// Rewrites what the regex engine spells otherwise: classes are those of ASCII unless the standard says otherwise.
pub(super) fn translate(pattern: &str, flags: &str, ending: Ending, dialect: Dialect) -> Option<String> {
    let dots_match_all = flags.contains('s') || pattern.contains("(?s");
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut chars = pattern.chars().peekable();
    let mut class_depth: u32 = 0;
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                let escaped = chars.next()?;
                if escaped == 'Q' && class_depth == 0 {
                    quote(&mut chars, &mut out);
                } else if escaped == 'u' {
                    let code: String = chars.by_ref().take(4).collect();
                    write!(out, "\\x{{{code}}}").ok()?;
                } else {
                    escape(escaped, 0 < class_depth, dialect, &mut out);
                }
            }
            '[' if 0 < class_depth && dialect == Dialect::Dmn && out.ends_with('-') => {
                // `[a-z-[aeiou]]` takes a class away from a class.
                out.push_str("-[");
                class_depth += 1;
            }
            '[' => {
                class_depth += 1;
                out.push('[');
                if chars.peek() == Some(&'^') {
                    out.push('^');
                    chars.next();
                }
                // A bracket that comes first is itself.
                if chars.peek() == Some(&']') {
                    out.push_str("\\]");
                    chars.next();
                }
            }
            ']' => {
                class_depth = class_depth.saturating_sub(1);
                out.push(']');
            }
            // The end also lies before a last line break, if the text has one.
            '$' if class_depth == 0 && ending == Ending::LineBreak => {
                out.push_str(r"(?=(?:\r\n|[\n\r\x{85}\x{2028}\x{2029}])?\z)");
            }
            '.' if class_depth == 0 && !dots_match_all => {
                out.push_str(match dialect {
                    Dialect::Camunda => r"[^\n\r\x{85}\x{2028}\x{2029}]",
                    Dialect::Dmn => r"[^\n\r]",
                });
            }
            _ => out.push(c),
        }
    }
    Some(out)
}

/// The pattern without space outside of classes, as the standard's flag `x` has it: even inside of escapes.
pub(super) fn without_space(pattern: &str) -> String {
    let mut class_depth: u32 = 0;
    let mut escaped = false;
    let mut out = String::with_capacity(pattern.len());
    for c in pattern.chars() {
        let space = matches!(c, ' ' | '\t' | '\n' | '\r');
        if space && class_depth == 0 {
            continue;
        }
        match c {
            '[' if !escaped => class_depth += 1,
            ']' if !escaped => class_depth = class_depth.saturating_sub(1),
            _ => {}
        }
        escaped = c == '\\' && !escaped;
        out.push(c);
    }
    out.replace(r"\p{IsBasicLatin}", r"[\x00-\x7F]")
}

fn quote(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, out: &mut String) {
    let mut literal = String::new();
    for c in chars.by_ref() {
        literal.push(c);
        if literal.ends_with("\\E") {
            literal.truncate(literal.len() - 2);
            break;
        }
    }
    out.push_str(&fancy_regex::escape(&literal));
}

fn escape(escaped: char, in_class: bool, dialect: Dialect, out: &mut String) {
    let class = match (escaped, dialect) {
        ('d', Dialect::Camunda) => "0-9",
        ('w', Dialect::Camunda) => "A-Za-z0-9_",
        ('s', Dialect::Camunda) => r" \t\n\x0B\x0C\r",
        ('i', Dialect::Dmn) => r"\p{L}\p{Nl}_:",
        ('c', Dialect::Dmn) => r"\p{L}\p{M}\p{N}_:.\-",
        ('h', Dialect::Camunda) => r" \t\xA0\u1680\u180e\u2000-\u200a\u202f\u205f\u3000",
        ('D', Dialect::Camunda) => return out.push_str("[^0-9]"),
        ('W', Dialect::Camunda) => return out.push_str("[^A-Za-z0-9_]"),
        ('S', Dialect::Camunda) => return out.push_str(r"[^ \t\n\x0B\x0C\r]"),
        ('I', Dialect::Dmn) => return out.push_str(r"[^\p{L}\p{Nl}_:]"),
        ('C', Dialect::Dmn) => return out.push_str(r"[^\p{L}\p{M}\p{N}_:.\-]"),
        _ => {
            out.push('\\');
            return out.push(escaped);
        }
    };
    if in_class {
        out.push_str(class);
    } else {
        out.push('[');
        out.push_str(class);
        out.push(']');
    }
}
