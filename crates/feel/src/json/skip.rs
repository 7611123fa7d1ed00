//! Passing over a JSON value without building it.

use super::decode::{Problem, Reader};

impl Reader<'_> {
    /// Moves behind the next value. Brackets are counted, strings are passed over, nothing is built.
    pub(super) fn skip_value(&mut self) -> Result<(), Problem> {
        self.space();
        let bytes = self.text.as_bytes();
        let behind = match self.peek() {
            Some(b'"') => behind_string(bytes, self.at),
            Some(b'{' | b'[') => behind_brackets(bytes, self.at),
            Some(b'}' | b']' | b',' | b':') => Err("expected a JSON value"),
            Some(_) => Ok(behind_scalar(bytes, self.at)),
            None => Err("expected a JSON value, found the end"),
        };
        self.at = *behind.as_ref().unwrap_or(&self.at);
        behind.map(drop)
    }
}

/// The place behind the bracket that closes the one here; of which kind it is does not matter.
fn behind_brackets(bytes: &[u8], from: usize) -> Result<usize, Problem> {
    let mut open: u32 = 0;
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => at = behind_string(bytes, at - 1)?,
            b'{' | b'[' => open += 1,
            b'}' | b']' => {
                open -= 1;
                if open == 0 {
                    return Ok(at);
                }
            }
            _ => {}
        }
    }
    Err("expected a JSON value, found the end")
}

fn behind_scalar(bytes: &[u8], from: usize) -> usize {
    let is_end = |byte: &u8| matches!(byte, b',' | b':' | b'}' | b']' | b'"' | b'{' | b'[' | b' ' | b'\t' | b'\n' | b'\r');
    bytes[from..].iter().position(is_end).map_or(bytes.len(), |length| from + length)
}

fn behind_string(bytes: &[u8], from: usize) -> Result<usize, Problem> {
    let mut at = from + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return Ok(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    Err("string without an end")
}
