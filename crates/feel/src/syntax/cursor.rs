//! A position in the source, moving over space, comments, symbols and words.

use super::characters::{is_name_part, is_name_start, is_space};
use crate::error::{ParseError, Position};

/// A place where reading failed and what would have been right there. The furthest one is reported.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) offset: usize,
    pub(super) expected: String,
}

pub(super) type Parsed<T> = Result<T, Failure>;

#[derive(Clone)]
pub(super) struct Cursor<'s> {
    pub(super) source: &'s str,
    pub(super) at: usize,
}

impl<'s> Cursor<'s> {
    pub(super) fn rest(&self) -> &'s str {
        &self.source[self.at..]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn fail<T>(&self, expected: impl Into<String>) -> Parsed<T> {
        Err(Failure { offset: self.at, expected: expected.into() })
    }

    /// Moves over space and comments.
    pub(super) fn space(&mut self) -> Parsed<()> {
        loop {
            let rest = self.rest();
            let Some(c) = rest.chars().next() else {
                return Ok(());
            };
            if is_space(c) {
                self.at += c.len_utf8();
            } else if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                match comment.find("*/") {
                    Some(end) => self.at += end + 4,
                    None => {
                        self.at = self.source.len();
                        return self.fail("'*/' at the end of the comment");
                    }
                }
            } else {
                return Ok(());
            }
        }
    }

    /// Moves over a symbol if it comes next.
    pub(super) fn symbol(&mut self, symbol: &str) -> Parsed<bool> {
        self.space()?;
        let found = self.rest().starts_with(symbol);
        if found {
            self.at += symbol.len();
        }
        Ok(found)
    }

    /// Moves over a symbol that must come next.
    pub(super) fn expect(&mut self, symbol: &str) -> Parsed<()> {
        if self.symbol(symbol)? { Ok(()) } else { self.fail(format!("'{symbol}'")) }
    }

    /// The word at the cursor, if there is one; does not move.
    pub(super) fn peek_word(&self) -> Option<&'s str> {
        let rest = self.rest();
        let first = rest.chars().next()?;
        if !is_name_start(first) {
            return None;
        }
        let end = rest.find(|c: char| !is_name_part(c)).unwrap_or(rest.len());
        Some(&rest[..end])
    }

    /// Moves over a keyword if it comes next as a whole word.
    pub(super) fn keyword(&mut self, keyword: &str) -> Parsed<bool> {
        self.space()?;
        let found = self.peek_word() == Some(keyword);
        if found {
            self.at += keyword.len();
        }
        Ok(found)
    }

    /// Moves over a keyword that must come next.
    pub(super) fn expect_keyword(&mut self, keyword: &str) -> Parsed<()> {
        if self.keyword(keyword)? { Ok(()) } else { self.fail(format!("'{keyword}'")) }
    }

    /// The failure as an error for the author.
    pub(super) fn error(&self, failure: Failure) -> ParseError {
        let position = Position::of(self.source, failure.offset);
        let rest = &self.source[position.offset..];
        let found = match rest.chars().next() {
            None => String::from("the end"),
            Some(first) => {
                let word = rest.find(|c: char| !is_name_part(c)).filter(|end| 0 < *end).unwrap_or(0);
                let end = if is_name_part(first) { if word == 0 { rest.len() } else { word } } else { first.len_utf8() };
                let text: String = rest[..end].chars().take(30).collect();
                format!("'{text}'")
            }
        };
        ParseError { position, expected: failure.expected, found }
    }
}
