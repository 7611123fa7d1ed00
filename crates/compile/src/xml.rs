//! XML text → tree, for input nobody vouches for.
//!
//! A linear scan comes first: the parser behind it recurses once per nesting level and compares every attribute of an
//! element with every other, so depth and numbers must be known to be small before it runs.

use roxmltree::{Document, ParsingOptions};

use crate::diagnostic::{Diagnostic, Findings};

/// A larger file is refused unread.
pub const RESOURCE_BYTES_MAX: usize = 16 << 20;
const NESTING_MAX: usize = 256;
const ELEMENTS_MAX: usize = 100_000;
/// Per element.
const ATTRIBUTES_MAX: usize = 256;
/// In force at one place of the document.
const NAMESPACES_MAX: usize = 256;

/// The text of a file.
pub(crate) fn decode(content: &[u8]) -> Result<&str, Vec<Diagnostic>> {
    let refused = |reason: String| Err(vec![Diagnostic { line: 1, column: 1, element: None, reason }]);
    if RESOURCE_BYTES_MAX < content.len() {
        return refused(format!("the file has {} bytes, but at most {RESOURCE_BYTES_MAX} are allowed", content.len()));
    }
    let utf16: [&[u8]; 4] = [&[0xFE, 0xFF], &[0xFF, 0xFE], b"<\0", b"\0<"];
    if utf16.iter().any(|begin| content.starts_with(begin)) {
        return refused("the file is UTF-16: save it as UTF-8".to_owned());
    }
    let content = content.strip_prefix(&[0xEF, 0xBB, 0xBF]).unwrap_or(content);
    match str::from_utf8(content) {
        Ok(text) => Ok(text),
        Err(error) => {
            let mut findings = Findings::default();
            findings.add_anonymous(error.valid_up_to(), "the file is not UTF-8 from here on: save it as UTF-8");
            let valid = str::from_utf8(&content[..error.valid_up_to()]).unwrap_or_default();
            Err(findings.diagnostics(valid))
        }
    }
}

/// The tree of a text.
pub(crate) fn parse(text: &str) -> Result<Document<'_>, Vec<Diagnostic>> {
    if let Err((at, reason)) = scan(text.as_bytes()) {
        let mut findings = Findings::default();
        findings.add_anonymous(at, reason);
        return Err(findings.diagnostics(text));
    }
    let options = ParsingOptions { allow_dtd: false, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).map_err(|error| {
        let place = error.pos();
        let message = error.to_string();
        let message = message.rsplit_once(" at ").map_or(&*message, |(message, _)| message);
        let reason = format!("the file is not well-formed XML: {message}");
        vec![Diagnostic { line: place.row, column: place.col, element: None, reason }]
    })
}

/// Refuses what the parser would not survive. What is merely wrong is left to the parser to describe.
fn scan(text: &[u8]) -> Result<(), (usize, String)> {
    let mut elements = 0;
    // How many namespaces each open element declares.
    let mut open: Vec<usize> = Vec::new();
    let mut namespaces = 0;
    let mut at = 0;
    while let Some(begin) = find(text, at, b"<") {
        let rest = &text[begin..];
        if rest.starts_with(b"<!--") {
            at = end_of(text, begin + 4, b"-->");
        } else if rest.starts_with(b"<![CDATA[") {
            at = end_of(text, begin + 9, b"]]>");
        } else if rest.starts_with(b"<?") {
            at = end_of(text, begin + 2, b"?>");
        } else if rest.starts_with(b"<!") {
            return Err((begin, "document type declarations and entities are not allowed".to_owned()));
        } else if rest.starts_with(b"</") {
            namespaces -= open.pop().unwrap_or(0);
            at = end_of(text, begin, b">");
        } else {
            let tag = Tag::scan(text, begin);
            elements += 1;
            namespaces += tag.namespaces;
            let depth = open.len() + 1;
            within("elements", elements, ELEMENTS_MAX, begin)?;
            within("levels of nesting", depth, NESTING_MAX, begin)?;
            within("attributes of one element", tag.attributes, ATTRIBUTES_MAX, begin)?;
            within("namespaces", namespaces, NAMESPACES_MAX, begin)?;
            if tag.closed {
                namespaces -= tag.namespaces;
            } else {
                open.push(tag.namespaces);
            }
            at = tag.end;
        }
    }
    Ok(())
}

fn within(what: &str, count: usize, max: usize, at: usize) -> Result<(), (usize, String)> {
    if max < count {
        return Err((at, format!("the file has too many {what}: at most {max} are allowed")));
    }
    Ok(())
}

struct Tag {
    attributes: usize,
    namespaces: usize,
    /// `<a/>`
    closed: bool,
    end: usize,
}

impl Tag {
    fn scan(text: &[u8], begin: usize) -> Self {
        let mut tag = Self { attributes: 0, namespaces: 0, closed: false, end: text.len() };
        // Where the last name began, and whether we are still in it.
        let (mut name, mut in_name) = (begin, true);
        let mut at = begin + 1;
        while let Some(&byte) = text.get(at) {
            match byte {
                b'"' | b'\'' => match find(text, at + 1, &[byte]) {
                    Some(quote) => (at, in_name) = (quote, false),
                    None => return tag,
                },
                b'>' => {
                    tag.closed = text[at - 1] == b'/';
                    tag.end = at + 1;
                    return tag;
                }
                b'=' => {
                    in_name = false;
                    tag.attributes += 1;
                    tag.namespaces += usize::from(text[name..].starts_with(b"xmlns"));
                }
                byte if byte.is_ascii_whitespace() => in_name = false,
                _ if !in_name => (name, in_name) = (at, true),
                _ => {}
            }
            at += 1;
        }
        tag
    }
}

fn find(text: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    let first = *what.first()?;
    let mut from = from;
    loop {
        let found = from + text.get(from..)?.iter().position(|byte| *byte == first)?;
        if text[found..].starts_with(what) {
            return Some(found);
        }
        from = found + 1;
    }
}

/// Behind the next `what`, or at the end of the text.
fn end_of(text: &[u8], from: usize, what: &[u8]) -> usize {
    find(text, from, what).map_or(text.len(), |at| at + what.len())
}
