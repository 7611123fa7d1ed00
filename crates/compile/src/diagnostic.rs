//! Problems of a source: collected by byte offset while reading, told by line and column at the end.

use std::fmt;

/// More problems than this are counted, not listed.
pub const DIAGNOSTICS_MAX: usize = 100;

/// Longer reasons are cut: they quote the source, which may be anything.
const REASON_CHARS_MAX: usize = 600;
const QUOTE_CHARS_MAX: usize = 120;

/// One problem of a source, where it is and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Counted from 1.
    pub line: u32,
    /// In characters, counted from 1.
    pub column: u32,
    /// The id of the element concerned, where there is one.
    pub element: Option<String>,
    pub reason: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)?;
        if let Some(element) = &self.element {
            write!(f, ", element '{element}'")?;
        }
        write!(f, ": {}", self.reason)
    }
}

impl std::error::Error for Diagnostic {}

/// The problems found so far, in the order of finding.
#[derive(Default)]
pub(crate) struct Findings {
    found: Vec<Finding>,
    /// How many did not fit.
    more: usize,
}

struct Finding {
    at: usize,
    element: Option<String>,
    reason: String,
}

impl Findings {
    /// Notes a problem of an element at a byte offset of the source.
    pub(crate) fn add(&mut self, at: usize, element: &str, reason: impl AsRef<str>) {
        self.push(at, Some(element), reason.as_ref());
    }

    /// Notes a problem that belongs to no element, or to one without an id.
    pub(crate) fn add_anonymous(&mut self, at: usize, reason: impl AsRef<str>) {
        self.push(at, None, reason.as_ref());
    }

    fn push(&mut self, at: usize, element: Option<&str>, reason: &str) {
        if DIAGNOSTICS_MAX <= self.found.len() {
            self.more += 1;
            return;
        }
        let element = element.map(|id| one_line(id, QUOTE_CHARS_MAX));
        let reason = one_line(reason, REASON_CHARS_MAX);
        self.found.push(Finding { at, element, reason });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// All problems in the order of the source.
    pub(crate) fn diagnostics(mut self, source: &str) -> Vec<Diagnostic> {
        self.found.sort_by_key(|finding| finding.at);
        let mut places = Places::new(source);
        let mut diagnostics = Vec::with_capacity(self.found.len() + 1);
        for Finding { at, element, reason } in self.found {
            let (line, column) = places.advance(at);
            diagnostics.push(Diagnostic { line, column, element, reason });
        }
        if 0 < self.more {
            let (line, column) = (places.line, 1);
            diagnostics.push(Diagnostic { line, column, element: None, reason: format!("and {} more problems", self.more) });
        }
        diagnostics
    }
}

/// Walks a source once, turning rising offsets into lines and columns.
struct Places<'a> {
    source: &'a str,
    at: usize,
    line: u32,
    line_start: usize,
}

impl<'a> Places<'a> {
    fn new(source: &'a str) -> Self {
        Self { source, at: 0, line: 1, line_start: 0 }
    }

    fn advance(&mut self, at: usize) -> (u32, u32) {
        let at = at.min(self.source.len());
        let passed = &self.source.as_bytes()[self.at.min(at)..at];
        for (index, _) in passed.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
            self.line += 1;
            self.line_start = self.at + index + 1;
        }
        self.at = at;
        let column = self.source.get(self.line_start..at).map_or(0, |text| text.chars().count());
        (self.line, column as u32 + 1)
    }
}

/// A text of the source between quotes, short and on one line.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", one_line(text, QUOTE_CHARS_MAX))
}

fn one_line(text: &str, chars_max: usize) -> String {
    let mut line: String = text.chars().take(chars_max).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(chars_max).is_some() {
        line.push('…');
    }
    line
}
