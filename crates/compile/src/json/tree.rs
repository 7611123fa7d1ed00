//! JSON text → tree, for input nobody vouches for: every value knows where it stands, members keep the order in which they are written.

use feel::Value as Feel;

/// Nesting of lists and objects.
const NESTING_MAX: usize = 100;

pub(super) struct Node {
    /// Byte offset in the source.
    pub(super) at: usize,
    pub(super) value: Value,
}

pub(super) enum Value {
    Null,
    Bool(bool),
    /// As it is written.
    Number(String),
    Text(String),
    List(Vec<Node>),
    Object(Vec<Member>),
}

pub(super) struct Member {
    pub(super) at: usize,
    pub(super) name: String,
    pub(super) value: Node,
}

/// What is wrong with a text, and where.
pub(super) type Fault = (usize, &'static str);

pub(super) fn parse(text: &str) -> Result<Node, Fault> {
    let mut reader = Reader { text, at: 0 };
    let node = reader.value(0)?;
    reader.space();
    if reader.at < text.len() { Err((reader.at, "there is more than one JSON value")) } else { Ok(node) }
}

impl Node {
    pub(super) fn is_null(&self) -> bool {
        matches!(self.value, Value::Null)
    }

    /// Nothing that could mean anything where it does not belong.
    pub(super) fn is_empty(&self) -> bool {
        match &self.value {
            Value::Null | Value::Bool(false) => true,
            Value::Bool(true) => false,
            Value::Number(number) => number == "0",
            Value::Text(text) => text.is_empty(),
            Value::List(items) => items.is_empty(),
            Value::Object(members) => members.is_empty(),
        }
    }

    /// As JSON without white space.
    pub(super) fn to_json(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        match &self.value {
            Value::Null => out.push_str("null"),
            Value::Bool(true) => out.push_str("true"),
            Value::Bool(false) => out.push_str("false"),
            Value::Number(number) => out.push_str(number),
            Value::Text(text) => out.push_str(&Feel::string(text.as_str()).to_json()),
            Value::List(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    item.write(out);
                }
                out.push(']');
            }
            Value::Object(members) => {
                out.push('{');
                for (index, member) in members.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    out.push_str(&Feel::string(member.name.as_str()).to_json());
                    out.push(':');
                    member.value.write(out);
                }
                out.push('}');
            }
        }
    }
}

struct Reader<'s> {
    text: &'s str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, Fault> {
        self.space();
        let at = self.at;
        if NESTING_MAX < depth {
            return Err((at, "it is nested too deep: at most 100 levels are allowed"));
        }
        let value = match self.peek() {
            Some(b'{') => Value::Object(self.object(depth)?),
            Some(b'[') => Value::List(self.list(depth)?),
            Some(b'"') => Value::Text(self.string()?),
            Some(b't') => self.word("true", Value::Bool(true))?,
            Some(b'f') => self.word("false", Value::Bool(false))?,
            Some(b'n') => self.word("null", Value::Null)?,
            Some(b'-' | b'0'..=b'9') => Value::Number(self.number()?),
            Some(_) => return Err((at, "a JSON value must stand here")),
            None => return Err((at, "a JSON value must stand here, but the text ends")),
        };
        Ok(Node { at, value })
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value, Fault> {
        if !self.text[self.at..].starts_with(word) {
            return Err((self.at, "a JSON value must stand here"));
        }
        self.at += word.len();
        Ok(value)
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Node>, Fault> {
        let mut items = Vec::new();
        self.at += 1;
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(items);
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.ends(b']', "',' or ']' must stand here")? {
                return Ok(items);
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Vec<Member>, Fault> {
        let mut members = Vec::new();
        self.at += 1;
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(members);
        }
        loop {
            self.space();
            let at = self.at;
            if self.peek() != Some(b'"') {
                return Err((at, "the name of a member must stand here, in double quotes"));
            }
            let name = self.string()?;
            self.space();
            if self.peek() != Some(b':') {
                return Err((self.at, "':' must stand here"));
            }
            self.at += 1;
            members.push(Member { at, name, value: self.value(depth + 1)? });
            if self.ends(b'}', "',' or '}' must stand here")? {
                return Ok(members);
            }
        }
    }

    fn ends(&mut self, close: u8, fault: &'static str) -> Result<bool, Fault> {
        self.space();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(false)
            }
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(true)
            }
            _ => Err((self.at, fault)),
        }
    }

    /// Digits, a fraction, an exponent, as JSON has them.
    fn number(&mut self) -> Result<String, Fault> {
        let from = self.at;
        let fault = (from, "this is no JSON number");
        self.at += usize::from(self.peek() == Some(b'-'));
        let leading_zero = self.peek() == Some(b'0');
        let whole = self.digits();
        if whole == 0 || (leading_zero && 1 < whole) {
            return Err(fault);
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            if self.digits() == 0 {
                return Err(fault);
            }
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            if self.digits() == 0 {
                return Err(fault);
            }
        }
        Ok(self.text[from..self.at].to_owned())
    }

    fn digits(&mut self) -> usize {
        let from = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        self.at - from
    }

    fn string(&mut self) -> Result<String, Fault> {
        let from = self.at;
        let bytes = self.text.as_bytes();
        self.at += 1;
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.at += 1;
                    return unescaped(&self.text[from..self.at]).ok_or((from, "a text has an escape that JSON does not know"));
                }
                b'\\' => self.at += 2,
                0..=0x1f => return Err((self.at, "control characters in texts must be escaped")),
                _ => self.at += 1,
            }
        }
        self.at = self.text.len();
        Err((from, "a text without an end"))
    }
}

/// What a string says; no store keeps U+0000.
fn unescaped(written: &str) -> Option<String> {
    let inside = &written[1..written.len() - 1];
    if !inside.contains('\\') {
        return Some(inside.to_owned());
    }
    match Feel::from_json(written) {
        Ok(Feel::String(text)) if !text.contains('\0') => Some(text.to_string()),
        _ => None,
    }
}
