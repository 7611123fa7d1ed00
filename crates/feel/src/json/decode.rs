//! Reading JSON.

use crate::error::Position;
use crate::limits::JSON_DEPTH_MAX;
use crate::number::Number;
use crate::value::{Context, List, VALUE_BYTES, Value};
use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

/// A text that is not JSON, or not within the limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// Where.
    pub position: Position,
    /// What is wrong there.
    pub problem: &'static str,
}

impl Display for JsonError {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.position, self.problem)
    }
}

impl std::error::Error for JsonError {}

/// What is wrong with JSON that makes more bytes of values than there is room for.
pub(crate) const TOO_LARGE: Problem = "too large";

/// Reads one value and nothing after it; also how many bytes of values that made, of those there is room for.
pub(crate) fn decode(text: &str, room: u64) -> (Result<Value, JsonError>, u64) {
    let mut reader = Reader { room, ..Reader::new(text) };
    let value = reader.value(0).and_then(|value| reader.end().map(|()| value));
    (value.map_err(|problem| reader.error(problem)), room - reader.room)
}

/// Reads the members with the given names out of a JSON object and skims over the others without building them.
///
/// The result has one entry for each name, `None` for a member that is absent. What is skimmed over is checked for
/// structure only.
pub fn decode_members<N: AsRef<str>>(text: &str, names: &[N]) -> Result<Vec<Option<Value>>, JsonError> {
    let mut reader = Reader::new(text);
    reader.members(names).map_err(|problem| reader.error(problem))
}

/// A cursor over JSON text.
pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    /// Bytes of values that may still be made.
    room: u64,
}

/// What is wrong at the cursor.
pub(super) type Problem = &'static str;

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str) -> Reader<'t> {
        Reader { text, at: 0, room: u64::MAX }
    }

    pub(super) fn error(&self, problem: Problem) -> JsonError {
        JsonError { position: Position::of(self.text, self.at), problem }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    pub(super) fn expect(&mut self, byte: u8, problem: Problem) -> Result<(), Problem> {
        self.space();
        if self.peek() != Some(byte) {
            return Err(problem);
        }
        self.at += 1;
        Ok(())
    }

    fn make(&mut self, bytes: u64) -> Result<(), Problem> {
        self.room = self.room.checked_sub(bytes).ok_or(TOO_LARGE)?;
        Ok(())
    }

    pub(super) fn end(&mut self) -> Result<(), Problem> {
        self.space();
        if self.at < self.text.len() { Err("expected the end") } else { Ok(()) }
    }

    fn value(&mut self, depth: u32) -> Result<Value, Problem> {
        self.space();
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string().map(Value::String),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) => Err("expected a JSON value"),
            None => Err("expected a JSON value, found the end"),
        }
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value, Problem> {
        if !self.text[self.at..].starts_with(word) {
            return Err("expected true, false or null");
        }
        self.at += word.len();
        Ok(value)
    }

    fn array(&mut self, depth: u32) -> Result<Value, Problem> {
        let depth = deeper(depth)?;
        self.at += 1;
        self.make(2 * VALUE_BYTES)?;
        let mut items = Vec::new();
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::List(List::from(items)));
        }
        loop {
            self.make(VALUE_BYTES)?;
            items.push(self.value(depth)?);
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => break,
                _ => return Err("expected ',' or ']'"),
            }
        }
        self.at += 1;
        Ok(Value::List(List::from(items)))
    }

    fn object(&mut self, depth: u32) -> Result<Value, Problem> {
        let depth = deeper(depth)?;
        self.at += 1;
        self.make(3 * VALUE_BYTES)?;
        let mut entries: Vec<(Arc<str>, Value)> = Vec::new();
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Context(Context::from(entries)));
        }
        loop {
            let name = self.name()?;
            self.make(2 * VALUE_BYTES + name.len() as u64)?;
            entries.push((Arc::from(name), self.value(depth)?));
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                _ => return Err("expected ',' or '}'"),
            }
        }
        self.at += 1;
        Ok(Value::Context(Context::from(entries)))
    }

    fn name(&mut self) -> Result<Cow<'t, str>, Problem> {
        self.space();
        if self.peek() != Some(b'"') {
            return Err("expected a member's name");
        }
        let name = self.text_of_string()?;
        self.expect(b':', "expected ':'")?;
        Ok(name)
    }

    fn members<N: AsRef<str>>(&mut self, names: &[N]) -> Result<Vec<Option<Value>>, Problem> {
        let mut found = vec![None; names.len()];
        self.expect(b'{', "expected '{'")?;
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return self.end().map(|()| found);
        }
        loop {
            let name = self.name()?;
            let mut wanted = names.iter().zip(&mut found).filter(|(candidate, _)| candidate.as_ref() == name);
            match wanted.next() {
                Some((_, slot)) => {
                    let value = self.value(1)?;
                    wanted.for_each(|(_, other)| *other = Some(value.clone()));
                    *slot = Some(value);
                }
                None => self.skip_value()?,
            }
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                _ => return Err("expected ',' or '}'"),
            }
        }
        self.at += 1;
        self.end().map(|()| found)
    }

    fn number(&mut self) -> Result<Value, Problem> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let mut at = start + usize::from(bytes[start] == b'-');
        let digits_from = at;
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        let digits = at - digits_from;
        let plain = !matches!(bytes.get(at), Some(b'.' | b'e' | b'E'));
        let leading_zero = 1 < digits && bytes[digits_from] == b'0';
        if digits == 0 || leading_zero {
            return Err("expected a number");
        }
        if plain && digits <= 18 {
            self.at = at;
            let whole: i64 = self.text[start..at].parse().expect("18 digits fit 64 bits");
            return Ok(Value::Number(Number::from(whole)));
        }
        while matches!(bytes.get(at), Some(b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-')) {
            at += 1;
        }
        let number = Number::parse(&self.text[start..at]).ok_or("expected a number within range")?;
        self.at = at;
        Ok(Value::Number(number))
    }

    fn string(&mut self) -> Result<Arc<str>, Problem> {
        let text = self.text_of_string()?;
        self.make(VALUE_BYTES + text.len() as u64)?;
        Ok(Arc::from(text))
    }

    /// A string's text, copied only if it holds escapes.
    fn text_of_string(&mut self) -> Result<Cow<'t, str>, Problem> {
        let start = self.at + 1;
        let bytes = self.text.as_bytes();
        let mut at = start;
        loop {
            match bytes.get(at) {
                Some(b'"') => {
                    self.at = at + 1;
                    return Ok(Cow::Borrowed(&self.text[start..at]));
                }
                Some(b'\\') => return self.escaped_string(start, at).map(Cow::Owned),
                Some(0..=0x1f) => {
                    self.at = at;
                    return Err("control characters in strings must be escaped");
                }
                Some(_) => at += 1,
                None => {
                    self.at = at;
                    return Err("string without an end");
                }
            }
        }
    }

    fn escaped_string(&mut self, start: usize, first_escape: usize) -> Result<String, Problem> {
        let mut out = String::from(&self.text[start..first_escape]);
        self.at = first_escape;
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.find(|c: char| matches!(c, '"' | '\\' | '\0'..='\x1f')).ok_or("string without an end")?;
            out.push_str(&rest[..plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.push(self.escape()?),
                _ => return Err("control characters in strings must be escaped"),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Problem> {
        self.at += 1;
        let kind = self.peek().ok_or("string without an end")?;
        self.at += 1;
        Ok(match kind {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let high = self.code_unit()?;
                if !(0xd800..0xdc00).contains(&high) {
                    return Ok(char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                let rest = &self.text[self.at..];
                if !rest.starts_with("\\u") {
                    return Ok(char::REPLACEMENT_CHARACTER);
                }
                self.at += 2;
                let low = self.code_unit()?;
                let joined = 0x10000 + ((high - 0xd800) << 10) + low.wrapping_sub(0xdc00);
                let paired = (0xdc00..0xe000).contains(&low);
                paired.then(|| char::from_u32(joined)).flatten().unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            _ => return Err("unknown escape"),
        })
    }

    fn code_unit(&mut self) -> Result<u32, Problem> {
        let hex = self.text.as_bytes().get(self.at..self.at + 4).ok_or("expected four hexadecimal digits")?;
        let mut unit = 0;
        for byte in hex {
            let digit = char::from(*byte).to_digit(16).ok_or("expected four hexadecimal digits")?;
            unit = unit * 16 + digit;
        }
        self.at += 4;
        Ok(unit)
    }
}

fn deeper(depth: u32) -> Result<u32, Problem> {
    if JSON_DEPTH_MAX <= depth { Err("nested too deep") } else { Ok(depth + 1) }
}
