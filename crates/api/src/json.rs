//! JSON read in one pass, value by value, straight from the text: no tree is built, texts without escapes are borrowed, and a value
//! that passes through is checked and made canonical on the way: no white space, and texts escaped only where they must be.

use std::borrow::Cow;

/// Nesting of lists and objects. Below what the expression language reads, so that nothing gets in that it could not look at.
pub(crate) const DEPTH_MAX: usize = 200;

/// The text is not JSON, or is JSON we do not take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{what} at byte {at}")]
pub struct Malformed {
    pub what: &'static str,
    pub at: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    Boolean,
    Number,
    Text,
    List,
    Object,
}

pub(crate) struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0, depth: 0 }
    }

    /// What comes next; nothing is consumed but white space.
    pub(crate) fn peek(&mut self) -> Result<Kind, Malformed> {
        self.skip_space();
        match self.byte() {
            Some(b'n') => Ok(Kind::Null),
            Some(b't' | b'f') => Ok(Kind::Boolean),
            Some(b'-' | b'0'..=b'9') => Ok(Kind::Number),
            Some(b'"') => Ok(Kind::Text),
            Some(b'[') => Ok(Kind::List),
            Some(b'{') => Ok(Kind::Object),
            Some(_) => Err(self.malformed("unexpected character")),
            None => Err(self.malformed("unexpected end")),
        }
    }

    /// Whether nothing but white space is left.
    pub(crate) fn is_at_end(&mut self) -> bool {
        self.skip_space();
        self.at == self.text.len()
    }

    pub(crate) fn null(&mut self) -> Result<(), Malformed> {
        self.skip_space();
        self.word("null")
    }

    pub(crate) fn boolean(&mut self) -> Result<bool, Malformed> {
        self.skip_space();
        match self.byte() {
            Some(b't') => self.word("true").map(|()| true),
            _ => self.word("false").map(|()| false),
        }
    }

    /// A number, as it is written.
    pub(crate) fn number(&mut self) -> Result<&'a str, Malformed> {
        self.skip_space();
        let start = self.at;
        self.take_number()?;
        Ok(&self.text[start..self.at])
    }

    pub(crate) fn text(&mut self) -> Result<Cow<'a, str>, Malformed> {
        self.skip_space();
        let start = self.at + 1;
        let has_escapes = self.take_text()?;
        let inside = &self.text[start..self.at - 1];
        let text = if has_escapes { Cow::Owned(unescaped(inside)) } else { Cow::Borrowed(inside) };
        // No store keeps such a character in a text.
        if text.contains('\0') { Err(self.malformed("a text holds the character U+0000")) } else { Ok(text) }
    }

    /// Each item in turn; the callback must consume it.
    pub(crate) fn list<E: From<Malformed>>(&mut self, mut item: impl FnMut(&mut Self) -> Result<(), E>) -> Result<(), E> {
        self.open(b'[')?;
        if self.closes(b']') {
            return Ok(());
        }
        loop {
            item(self)?;
            if self.ends(b']')? {
                return Ok(());
            }
        }
    }

    /// Each name in turn; the callback must consume its value.
    pub(crate) fn object<E: From<Malformed>>(
        &mut self,
        mut entry: impl FnMut(Cow<'a, str>, &mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        self.open(b'{')?;
        if self.closes(b'}') {
            return Ok(());
        }
        loop {
            let name = self.text()?;
            self.colon()?;
            entry(name, self)?;
            if self.ends(b'}')? {
                return Ok(());
            }
        }
    }

    /// Any value as canonical JSON text; borrowed if it was written so. Equal texts then mean equal values, numbers aside, which stay as
    /// they were written.
    pub(crate) fn compact(&mut self) -> Result<Cow<'a, str>, Malformed> {
        self.skip_space();
        let start = self.at;
        let mut kept = Kept { text: String::new(), from: start };
        self.pass(&mut kept)?;
        if kept.from == start {
            return Ok(Cow::Borrowed(&self.text[start..self.at]));
        }
        kept.text.push_str(&self.text[kept.from..self.at]);
        Ok(Cow::Owned(kept.text))
    }

    /// Goes over a value, keeping what is canonical.
    fn pass(&mut self, kept: &mut Kept) -> Result<(), Malformed> {
        match self.byte() {
            Some(b'"') => self.pass_text(kept),
            Some(b'{') => self.pass_items(kept, b'{', b'}'),
            Some(b'[') => self.pass_items(kept, b'[', b']'),
            Some(b'n') => self.word("null"),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'-' | b'0'..=b'9') => self.take_number(),
            Some(_) => Err(self.malformed("unexpected character")),
            None => Err(self.malformed("unexpected end")),
        }
    }

    fn pass_items(&mut self, kept: &mut Kept, open: u8, close: u8) -> Result<(), Malformed> {
        self.open(open)?;
        self.drop_space(kept);
        if self.closes(close) {
            return Ok(());
        }
        loop {
            if open == b'{' {
                self.pass_text(kept)?;
                self.drop_space(kept);
                self.expect(b':')?;
                self.drop_space(kept);
            }
            self.pass(kept)?;
            self.drop_space(kept);
            if self.ends(close)? {
                return Ok(());
            }
            self.drop_space(kept);
        }
    }

    fn pass_text(&mut self, kept: &mut Kept) -> Result<(), Malformed> {
        let start = self.at;
        if !self.take_text()? {
            return Ok(());
        }
        let mut canonical = Vec::with_capacity(self.at - start);
        write_text(&mut canonical, &unescaped(&self.text[start + 1..self.at - 1]));
        if canonical != self.text.as_bytes()[start..self.at] {
            kept.text.push_str(&self.text[kept.from..start]);
            kept.text.push_str(&String::from_utf8_lossy(&canonical));
            kept.from = self.at;
        }
        Ok(())
    }

    fn drop_space(&mut self, kept: &mut Kept) {
        let start = self.at;
        self.skip_space();
        if start < self.at {
            kept.text.push_str(&self.text[kept.from..start]);
            kept.from = self.at;
        }
    }

    fn open(&mut self, bracket: u8) -> Result<(), Malformed> {
        self.skip_space();
        self.expect(bracket)?;
        self.depth += 1;
        if DEPTH_MAX < self.depth { Err(self.malformed("too many levels of nesting")) } else { Ok(()) }
    }

    /// Consumes the closing bracket if it follows at once.
    fn closes(&mut self, bracket: u8) -> bool {
        self.skip_space();
        let closes = self.byte() == Some(bracket);
        if closes {
            self.at += 1;
            self.depth -= 1;
        }
        closes
    }

    /// After an item: true for the closing bracket, false for a comma.
    fn ends(&mut self, bracket: u8) -> Result<bool, Malformed> {
        if self.closes(bracket) {
            return Ok(true);
        }
        self.expect(b',').map(|()| false)
    }

    fn colon(&mut self) -> Result<(), Malformed> {
        self.skip_space();
        self.expect(b':')
    }

    fn expect(&mut self, byte: u8) -> Result<(), Malformed> {
        match self.byte() {
            Some(found) if found == byte => {
                self.at += 1;
                Ok(())
            }
            Some(_) => Err(self.malformed("unexpected character")),
            None => Err(self.malformed("unexpected end")),
        }
    }

    fn word(&mut self, word: &'static str) -> Result<(), Malformed> {
        if !self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            return Err(self.malformed("unexpected character"));
        }
        self.at += word.len();
        Ok(())
    }

    fn take_number(&mut self) -> Result<(), Malformed> {
        self.take_if(b'-');
        match self.byte() {
            Some(b'0') => self.at += 1,
            _ => self.take_digits()?,
        }
        if self.take_if(b'.') {
            self.take_digits()?;
        }
        if self.take_if(b'e') || self.take_if(b'E') {
            let _ = self.take_if(b'+') || self.take_if(b'-');
            self.take_digits()?;
        }
        Ok(())
    }

    fn take_digits(&mut self) -> Result<(), Malformed> {
        let digits = self.text.as_bytes()[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return Err(self.malformed("a digit is missing"));
        }
        self.at += digits;
        Ok(())
    }

    fn take_if(&mut self, byte: u8) -> bool {
        let found = self.byte() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Consumes a text with its quotes; true if it has escapes.
    fn take_text(&mut self) -> Result<bool, Malformed> {
        self.expect(b'"')?;
        let mut has_escapes = false;
        loop {
            self.pass_plain();
            match self.byte() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(has_escapes);
                }
                Some(b'\\') => {
                    has_escapes = true;
                    self.take_escape()?;
                }
                Some(_) => return Err(self.malformed("a control character in a text")),
                None => return Err(self.malformed("unexpected end")),
            }
        }
    }

    /// Over what stands in a text as it is.
    fn pass_plain(&mut self) {
        const MANY: usize = 16;
        let rest = &self.text.as_bytes()[self.at..];
        let is_plain = |byte: &u8| !matches!(byte, b'"' | b'\\' | 0..0x20);
        // Without a way out in the middle all of them are compared at once.
        let are_plain = |some: &&[u8; MANY]| some.iter().fold(true, |plain, byte| plain & is_plain(byte));
        let many = MANY * rest.as_chunks().0.iter().take_while(are_plain).count();
        self.at += many + rest[many..].iter().take_while(|byte| is_plain(byte)).count();
    }

    fn take_escape(&mut self) -> Result<(), Malformed> {
        self.at += 1;
        match self.byte() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 1;
                Ok(())
            }
            Some(b'u') => self.take_unicode(),
            _ => Err(self.malformed("an escape that does not exist")),
        }
    }

    /// From the `u` on; a pair of surrogates is taken as one.
    fn take_unicode(&mut self) -> Result<(), Malformed> {
        match self.take_hex()? {
            0xD800..0xDC00 if self.text[self.at..].starts_with("\\u") => {
                self.at += 1;
                let low = self.take_hex()?;
                if (0xDC00..0xE000).contains(&low) { Ok(()) } else { Err(self.malformed("half a surrogate pair")) }
            }
            0xD800..0xE000 => Err(self.malformed("half a surrogate pair")),
            _ => Ok(()),
        }
    }

    fn take_hex(&mut self) -> Result<u32, Malformed> {
        let digits = self.text.as_bytes().get(self.at + 1..self.at + 5);
        let hex = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let Some(hex) = hex.and_then(|hex| std::str::from_utf8(hex).ok()) else {
            return Err(self.malformed("four hexadecimal digits are missing"));
        };
        self.at += 5;
        u32::from_str_radix(hex, 16).map_err(|_| self.malformed("four hexadecimal digits are missing"))
    }

    fn skip_space(&mut self) {
        while matches!(self.byte(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(crate) fn malformed(&self, what: &'static str) -> Malformed {
        Malformed { what, at: self.at }
    }
}

/// What of a value has been kept so far: `text`, and everything since `from`.
struct Kept {
    text: String,
    from: usize,
}

/// The characters a text with escapes stands for. The escapes have been checked.
fn unescaped(inside: &str) -> String {
    let mut text = String::with_capacity(inside.len());
    let mut rest = inside;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        let escape = rest.as_bytes()[at + 1];
        rest = &rest[at + 2..];
        match escape {
            b'u' => {
                let (character, length) = unicode(rest);
                text.push(character);
                rest = &rest[length..];
            }
            b'b' => text.push('\u{8}'),
            b'f' => text.push('\u{c}'),
            b'n' => text.push('\n'),
            b'r' => text.push('\r'),
            b't' => text.push('\t'),
            itself => text.push(char::from(itself)),
        }
    }
    text.push_str(rest);
    text
}

/// The character after `\u`, and how much of the text it took.
fn unicode(digits: &str) -> (char, usize) {
    let unit = |digits: &str| u32::from_str_radix(digits, 16).unwrap_or(0xFFFD);
    let high = unit(&digits[..4]);
    if !(0xD800..0xE000).contains(&high) {
        return (char::from_u32(high).unwrap_or('\u{FFFD}'), 4);
    }
    let low = unit(&digits[6..10]);
    let code = 0x10000 + ((high - 0xD800) << 10) + low.wrapping_sub(0xDC00);
    (char::from_u32(code).unwrap_or('\u{FFFD}'), 10)
}

/// Writes a text with quotes and escapes.
pub(crate) fn write_text(out: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(out, text).expect("a text can always be written to memory");
}

#[cfg(test)]
mod tests;
