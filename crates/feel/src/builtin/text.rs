//! Counting and cutting text, and Base64.

use crate::dialect::Dialect;

/// What a position in a text counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// UTF-16 code units.
    Utf16,
    /// Characters.
    Character,
}

/// Camunda counts UTF-16 units, the standard counts characters.
pub(super) fn units_of(dialect: Dialect) -> Unit {
    match dialect {
        Dialect::Camunda => Unit::Utf16,
        Dialect::Dmn => Unit::Character,
    }
}

/// A text seen as a sequence of units.
pub(super) struct Units<'t> {
    text: &'t str,
    unit: Unit,
}

impl<'t> Units<'t> {
    pub(super) fn new(text: &'t str, unit: Unit) -> Units<'t> {
        Units { text, unit }
    }

    pub(super) fn len(&self) -> usize {
        if self.text.is_ascii() {
            return self.text.len();
        }
        match self.unit {
            Unit::Utf16 => self.text.encode_utf16().count(),
            Unit::Character => self.text.chars().count(),
        }
    }

    /// The units from one position up to another; half a character becomes a question mark.
    pub(super) fn slice(&self, from: usize, to: usize) -> String {
        if self.text.is_ascii() {
            return self.text[from..to].to_owned();
        }
        match self.unit {
            Unit::Utf16 => {
                let units: Vec<u16> = self.text.encode_utf16().skip(from).take(to - from).collect();
                char::decode_utf16(units).map(|decoded| decoded.unwrap_or('?')).collect()
            }
            Unit::Character => self.text.chars().skip(from).take(to - from).collect(),
        }
    }
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(super) fn to_base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut group = u32::from(chunk[0]) << 16;
        group |= chunk.get(1).map_or(0, |byte| u32::from(*byte) << 8);
        group |= chunk.get(2).map_or(0, |byte| u32::from(*byte));
        for at in 0..4 {
            let digit = ALPHABET[(group >> (18 - 6 * at) & 63) as usize];
            out.push(if at <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

/// What a digit stands for: its place in the alphabet.
fn digit(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

/// Padding may be left out, but not be wrong.
pub(super) fn from_base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    let whole = text.len().is_multiple_of(4);
    if 2 < padding || (0 < padding && !whole) || digits.len() % 4 == 1 {
        return None;
    }
    let mut out = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    let mut group: u32 = 0;
    let mut bits = 0;
    for byte in digits.bytes() {
        group = group << 6 | u32::from(digit(byte)?);
        bits += 6;
        if 8 <= bits {
            bits -= 8;
            out.push((group >> bits & 0xff) as u8);
        }
    }
    Some(out)
}
