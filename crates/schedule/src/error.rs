//! Why a text is no timer.

use crate::limits::TEXT_BYTES_MAX;
use std::fmt::{self, Display, Formatter};

/// What is wrong with an expression and what would be right, in words for the person who wrote it.
///
/// There is nothing to branch on: whoever parses shows the words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(String);

/// Characters of an expression that are quoted.
const QUOTED_MAX: usize = 80;

impl Error {
    /// `text` was meant to be a `what` and is none.
    pub(crate) fn not(what: &str, text: &str, why: impl Display) -> Error {
        Error(format!("{} is no {what}: {why}", quoted(text)))
    }

    pub(crate) fn new(words: String) -> Error {
        Error(words)
    }
}

impl Display for Error {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// The text in quotes, cut if it is long.
pub(crate) fn quoted(text: &str) -> String {
    match text.char_indices().nth(QUOTED_MAX) {
        Some((end, _)) => format!("'{}…'", &text[..end]),
        None => format!("'{text}'"),
    }
}

/// The text without the blanks around it, if it is short enough to look at.
pub(crate) fn trimmed<'a>(what: &str, text: &'a str) -> Result<&'a str, Error> {
    let text = text.trim_ascii();
    if TEXT_BYTES_MAX < text.len() {
        return Err(Error::not(what, text, format_args!("it has more than {TEXT_BYTES_MAX} bytes")));
    }
    Ok(text)
}
