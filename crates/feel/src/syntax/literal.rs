//! Numbers, strings, lists, contexts.

use super::ast::Expr;
use super::characters::{is_name_part, is_space};
use super::cursor::Parsed;
use super::name::{is_word, normalized};
use super::parser::Parser;
use crate::dialect::Dialect;
use crate::number::Number;
use std::sync::Arc;

impl Parser<'_> {
    /// Digits, a fraction, an exponent.
    pub(super) fn number(&mut self) -> Parsed<Option<Expr>> {
        let rest = self.cursor.rest();
        let bytes = rest.as_bytes();
        let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let mut end = digits(0);
        if bytes.get(end) == Some(&b'.') && 0 < digits(end + 1) {
            end += 1 + digits(end + 1);
        }
        if end == 0 {
            return Ok(None);
        }
        if let Some(b'e' | b'E') = bytes.get(end) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = bytes.get(end + 1 + sign..).map_or(0, |_| digits(end + 1 + sign));
            if 0 < exponent {
                end += 1 + sign + exponent;
            }
        }
        let next = rest[end..].chars().next();
        if next.is_some_and(is_name_part) {
            self.cursor.at += end;
            return self.cursor.fail("an operator or the end");
        }
        match Number::parse(&rest[..end]) {
            Some(number) => {
                self.cursor.at += end;
                Ok(Some(Expr::Number(number)))
            }
            None => self.cursor.fail("a number within range"),
        }
    }

    /// A string in double quotes, escapes resolved.
    pub(super) fn string(&mut self) -> Parsed<Option<Arc<str>>> {
        if !self.cursor.rest().starts_with('"') {
            return Ok(None);
        }
        let body = &self.cursor.rest()[1..];
        let mut out = String::new();
        let mut chars = body.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.cursor.at += at + 2;
                    return Ok(Some(Arc::from(out)));
                }
                '\\' => {
                    let Some((_, escaped)) = chars.next() else {
                        break;
                    };
                    let length = self.escape(escaped, &body[at + 1 + escaped.len_utf8()..], &mut out);
                    for _ in 0..length {
                        chars.next();
                    }
                }
                _ => out.push(c),
            }
        }
        self.cursor.at = self.cursor.source.len();
        self.cursor.fail("'\"' at the end of the string")
    }

    /// Appends what `\escaped` stands for; returns how many characters of `rest` belong to it.
    fn escape(&self, escaped: char, rest: &str, out: &mut String) -> usize {
        let plain = match escaped {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'b' => '\u{8}',
            'f' => '\u{c}',
            '\'' | '"' | '\\' => escaped,
            'u' | 'U' if self.dialect == Dialect::Dmn => return unicode_escape(escaped, rest, out),
            // Anything else stays as written, for the sake of regular expressions.
            _ => {
                out.push('\\');
                escaped
            }
        };
        out.push(plain);
        0
    }

    /// `[…]`: a list, or a range if `..` follows the first item.
    pub(super) fn bracketed(&mut self) -> Parsed<Expr> {
        let mut items = Vec::new();
        if self.cursor.symbol("]")? {
            return Ok(Expr::List(items));
        }
        loop {
            items.push(self.expression()?);
            if items.len() == 1 && self.cursor.symbol("..")? {
                let start = items.swap_remove(0);
                return self.range_end(start, true);
            }
            if !self.cursor.symbol(",")? {
                break;
            }
        }
        self.cursor.expect("]")?;
        Ok(Expr::List(items))
    }

    /// `{…}`; each entry knows the names of the entries before it.
    pub(super) fn context(&mut self) -> Parsed<Expr> {
        let before = self.local.len();
        let result = self.context_entries();
        self.local.truncate(before);
        result
    }

    fn context_entries(&mut self) -> Parsed<Expr> {
        let mut entries = Vec::new();
        if self.cursor.symbol("}")? {
            return Ok(Expr::Context(entries));
        }
        loop {
            let key = self.context_key()?;
            self.cursor.expect(":")?;
            let value = self.expression()?;
            if self.dialect == Dialect::Dmn && !is_word(&key) {
                self.local.push(Arc::clone(&key));
                self.keys.push(Arc::clone(&key));
            }
            entries.push((key, value));
            if !self.cursor.symbol(",")? {
                break;
            }
        }
        self.cursor.expect("}")?;
        Ok(Expr::Context(entries))
    }

    /// A string, a name in backticks, or any run of other characters up to the colon.
    fn context_key(&mut self) -> Parsed<Arc<str>> {
        self.cursor.space()?;
        if let Some(key) = self.string()? {
            return Ok(key);
        }
        if let Some(key) = self.cursor.backticked()? {
            return Ok(key);
        }
        let rest = self.cursor.rest();
        let stop = |c: char| matches!(c, '"' | '{' | '}' | ':' | ',' | '[' | ']' | '`');
        let end = rest.find(stop).unwrap_or(rest.len());
        let end = rest[..end].find("/*").or_else(|| rest[..end].find("//")).unwrap_or(end);
        let key = rest[..end].trim_end_matches(is_space);
        if key.is_empty() {
            return self.cursor.fail("a key");
        }
        self.cursor.at += end;
        Ok(match self.dialect {
            Dialect::Camunda => Arc::from(key),
            Dialect::Dmn => normalized(key),
        })
    }
}

/// `\u` with four hexadecimal digits, two of them for a surrogate pair, and `\U` with six.
fn unicode_escape(kind: char, rest: &str, out: &mut String) -> usize {
    let length = if kind == 'u' { 4 } else { 6 };
    let hex = |from: usize, length: usize| rest.get(from..from + length).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let Some(code) = hex(0, length) else {
        out.push('\\');
        out.push(kind);
        return 0;
    };
    let low = rest.get(4..6).filter(|mark| *mark == "\\u").and_then(|_| hex(6, 4));
    if let (0xd800..0xdc00, Some(low @ 0xdc00..0xe000)) = (code, low) {
        let joined = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        out.push(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER));
        return 10;
    }
    out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
    length
}
