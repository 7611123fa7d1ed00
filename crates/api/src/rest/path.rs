//! Values out of a request body, each read with the path by which an error names it.

use std::borrow::Cow;
use std::fmt;

use crate::error::Failure;
use crate::json::{Kind, Reader};

/// Where in the body a value stands, as a chain on the stack: only an error writes it down.
#[derive(Clone, Copy)]
pub(super) struct Path<'p> {
    above: Option<&'p Path<'p>>,
    name: &'p str,
}

impl<'p> Path<'p> {
    pub(super) const TOP: Path<'static> = Path { above: None, name: "" };

    pub(super) fn to<'q>(&'q self, name: &'q str) -> Path<'q> {
        Path { above: Some(self), name }
    }

    /// The last name alone.
    pub(super) fn name(&self) -> &'p str {
        self.name
    }

    pub(super) fn mistyped(&self, expected: &str) -> Failure {
        Failure::unreadable(format!("Request property [{self}] cannot be parsed: expected {expected}"))
    }

    pub(super) fn unknown(&self) -> Failure {
        Failure::unreadable(format!("Request property [{self}] cannot be parsed: there is no such property"))
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.above {
            Some(above) if !above.name.is_empty() => write!(f, "{above}.{}", self.name),
            _ => f.write_str(self.name),
        }
    }
}

/// `None` for null, in this and all that follow.
pub(super) fn text<'a>(reader: &mut Reader<'a>, path: &Path<'_>) -> Result<Option<Cow<'a, str>>, Failure> {
    match reader.peek()? {
        Kind::Null => Ok(reader.null().map(|()| None)?),
        Kind::Text => Ok(reader.text().map(Some)?),
        _ => Err(path.mistyped("a text")),
    }
}

pub(super) fn boolean(reader: &mut Reader<'_>, path: &Path<'_>) -> Result<Option<bool>, Failure> {
    match reader.peek()? {
        Kind::Null => Ok(reader.null().map(|()| None)?),
        Kind::Boolean => Ok(reader.boolean().map(Some)?),
        _ => Err(path.mistyped("true or false")),
    }
}

pub(super) fn int32(reader: &mut Reader<'_>, path: &Path<'_>) -> Result<Option<i64>, Failure> {
    match int64(reader, path)? {
        Some(number) if i32::try_from(number).is_err() => Err(path.mistyped("a whole number of 32 bits")),
        number => Ok(number),
    }
}

pub(super) fn int64(reader: &mut Reader<'_>, path: &Path<'_>) -> Result<Option<i64>, Failure> {
    match reader.peek()? {
        Kind::Null => Ok(reader.null().map(|()| None)?),
        Kind::Number => whole(reader.number()?).map(Some).ok_or_else(|| path.mistyped("a whole number")),
        _ => Err(path.mistyped("a whole number")),
    }
}

/// A number without anything behind the point is whole.
fn whole(number: &str) -> Option<i64> {
    let (digits, fraction) = number.split_once('.').unwrap_or((number, "0"));
    digits.parse().ok().filter(|_| fraction.bytes().all(|byte| byte == b'0'))
}

/// One of these words, whatever its casing.
pub(super) fn word(
    reader: &mut Reader<'_>,
    path: &Path<'_>,
    words: &'static [&'static str],
) -> Result<Option<&'static str>, Failure> {
    let Some(text) = text(reader, path)? else { return Ok(None) };
    match words.iter().find(|word| word.eq_ignore_ascii_case(&text)) {
        Some(word) => Ok(Some(word)),
        None => Err(no_such_word(&text, path.name(), words)),
    }
}

pub(super) fn no_such_word(text: &str, name: &str, words: &[&str]) -> Failure {
    let words = words.join(", ");
    Failure::unreadable(format!("Unexpected value '{text}' for enum field '{name}'. Use any of the following values: [{words}]"))
}

/// Keys are whole numbers of 64 bits, written as texts.
pub(super) fn key(text: &str, name: &str) -> Result<i64, Failure> {
    // No number of 64 bits is longer.
    let is_plain = text.len() <= 20 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    text.parse().ok().filter(|_| is_plain).ok_or_else(|| {
        Failure::invalid(format!(
            "The provided {name} '{text}' is not a valid key: expected a whole number. Was an id passed in place of a key?"
        ))
    })
}
/// A segment of a path without its percent escapes, if that is UTF-8.
pub(super) fn unescaped(segment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                let digits =
                    std::str::from_utf8(&digits).ok().filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
            }
            byte => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).ok()
}
