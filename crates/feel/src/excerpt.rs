//! Text that stops growing: what messages quote, and what is written out under a limit.

use crate::limits::{MESSAGE_BYTES_MAX, QUOTE_BYTES_MAX};
use std::fmt::{self, Display, Write};

/// Takes text up to so many bytes; what comes then is cut and refused, so that whoever writes can stop.
pub(crate) struct Bounded {
    text: String,
    bytes_max: usize,
    full: bool,
}

impl Bounded {
    pub(crate) fn new(bytes_max: usize) -> Bounded {
        Bounded { text: String::new(), bytes_max, full: false }
    }

    /// The whole text; nothing if it was cut.
    pub(crate) fn whole(self) -> Option<String> {
        (!self.full).then_some(self.text)
    }

    /// The text, with a mark where it was cut.
    fn cut(mut self) -> String {
        if self.full {
            self.text.push('…');
        }
        self.text
    }
}

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.bytes_max - self.text.len();
        if text.len() <= room && !self.full {
            self.text.push_str(text);
            return Ok(());
        }
        if !self.full {
            self.text.push_str(&text[..text.floor_char_boundary(room)]);
            self.full = true;
        }
        Err(fmt::Error)
    }
}

/// The beginning of something, as messages quote it.
pub(crate) fn quoted(thing: impl Display) -> String {
    shortened(|out| write!(out, "{thing}"))
}

/// The beginning of what is written.
pub(crate) fn shortened(write: impl FnOnce(&mut Bounded) -> fmt::Result) -> String {
    let mut out = Bounded::new(QUOTE_BYTES_MAX);
    // A refusal only says that the rest is not wanted.
    let _ = write(&mut out);
    out.cut()
}

/// A message of at most [`MESSAGE_BYTES_MAX`] bytes.
pub(crate) fn message(mut text: String) -> String {
    if MESSAGE_BYTES_MAX < text.len() {
        text.truncate(text.floor_char_boundary(MESSAGE_BYTES_MAX - '…'.len_utf8()));
        text.push('…');
    }
    text
}
