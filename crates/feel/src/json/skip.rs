//! Passing over a JSON value without building it.

use super::decode::{Problem, Reader};

impl Reader<'_> {
    /// Moves behind the next value. Brackets are counted, strings are passed over, nothing is built.
    pub(super) fn skip_value(&mut self) -> Result<(), Problem> {
        self.space();
        let bytes = self.text.as_bytes();
        let mut open: u32 = 0;
        loop {
            match bytes.get(self.at) {
                Some(b'"') => self.skip_string()?,
                Some(b'{' | b'[') => {
                    open += 1;
                    self.at += 1;
                }
                Some(b'}' | b']') => {
                    open = open.checked_sub(1).ok_or("expected a JSON value")?;
                    self.at += 1;
                }
                Some(b',' | b':') if open == 0 => return Err("expected a JSON value"),
                Some(b',' | b':' | b' ' | b'\t' | b'\n' | b'\r') => {
                    self.at += 1;
                    continue;
                }
                Some(_) => self.skip_scalar(),
                None => return Err("expected a JSON value, found the end"),
            }
            if open == 0 {
                return Ok(());
            }
        }
    }

    fn skip_scalar(&mut self) {
        let bytes = self.text.as_bytes();
        while !matches!(
            bytes.get(self.at),
            None | Some(b',' | b':' | b'}' | b']' | b'"' | b'{' | b'[' | b' ' | b'\t' | b'\n' | b'\r')
        ) {
            self.at += 1;
        }
    }

    fn skip_string(&mut self) -> Result<(), Problem> {
        let bytes = self.text.as_bytes();
        let mut at = self.at + 1;
        loop {
            match bytes.get(at) {
                Some(b'"') => {
                    self.at = at + 1;
                    return Ok(());
                }
                Some(b'\\') => at += 2,
                Some(_) => at += 1,
                None => return Err("string without an end"),
            }
        }
    }
}
