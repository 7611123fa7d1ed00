//! The parser: a cursor, the names known, and how deep it is.

use super::ast::{Expr, Test};
use super::cursor::{Cursor, Failure, Parsed};
use super::name::{Names, is_word};
use crate::dialect::Dialect;
use crate::error::ParseError;
use crate::limits::{HEIGHT_MAX, NESTING_MAX, SOURCE_BYTES_MAX};
use std::sync::Arc;

pub(super) struct Parser<'s> {
    pub(super) cursor: Cursor<'s>,
    pub(super) dialect: Dialect,
    pub(super) names: &'s Names,
    /// Names with spaces introduced by the expression itself and in scope here.
    pub(super) local: Vec<Arc<str>>,
    /// Context keys with spaces met so far, for paths.
    pub(super) keys: Vec<Arc<str>>,
    depth: u32,
    /// Height of the tree read so far in the part at hand.
    height: u32,
}

/// Reads a whole text as one expression.
pub(crate) fn parse_expression(source: &str, dialect: Dialect, names: &Names) -> Result<Expr, ParseError> {
    whole(source, dialect, names, Parser::expression)
}

/// Reads a whole text as unary tests.
pub(crate) fn parse_tests(source: &str, dialect: Dialect, names: &Names) -> Result<Vec<Test>, ParseError> {
    whole(source, dialect, names, Parser::unary_tests)
}

fn whole<'s, T>(
    source: &'s str,
    dialect: Dialect,
    names: &'s Names,
    read: impl FnOnce(&mut Parser<'s>) -> Parsed<T>,
) -> Result<T, ParseError> {
    let cursor = Cursor { source, at: 0 };
    let mut parser = Parser { cursor, dialect, names, local: Vec::new(), keys: Vec::new(), depth: 0, height: 0 };
    if SOURCE_BYTES_MAX < source.len() {
        let failure = Failure { offset: SOURCE_BYTES_MAX, expected: format!("at most {SOURCE_BYTES_MAX} bytes") };
        return Err(parser.cursor.error(failure));
    }
    let result = read(&mut parser).and_then(|tree| parser.end().map(|()| tree));
    result.map_err(|failure| parser.cursor.error(failure))
}

impl Parser<'_> {
    fn end(&mut self) -> Parsed<()> {
        self.cursor.space()?;
        if self.cursor.at < self.cursor.source.len() { self.cursor.fail("an operator or the end") } else { Ok(()) }
    }

    /// Runs a part one level deeper, or fails at the limit.
    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if NESTING_MAX <= self.depth {
            return self.cursor.fail(format!("at most {NESTING_MAX} levels of nesting"));
        }
        self.depth += 1;
        let result = self.measured(|parser| {
            let result = read(parser)?;
            parser.grow()?;
            Ok(result)
        });
        self.depth -= 1;
        result
    }

    /// Runs a part whose height is counted by itself, so that parts beside one another do not add up.
    pub(super) fn measured<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let beside = std::mem::replace(&mut self.height, 0);
        let result = read(self);
        self.height = self.height.max(beside);
        result
    }

    /// Notes that what was read becomes part of a larger expression. The height of the tree is bounded because
    /// later stages walk it recursively.
    pub(super) fn grow(&mut self) -> Parsed<()> {
        self.height += 1;
        if HEIGHT_MAX < self.height {
            return self.cursor.fail(format!("at most {HEIGHT_MAX} steps inside of one another"));
        }
        Ok(())
    }

    /// A variable's name.
    pub(super) fn name(&mut self) -> Parsed<Option<Arc<str>>> {
        self.cursor.space()?;
        if let Some(name) = self.cursor.backticked()? {
            return Ok(Some(name));
        }
        Ok(self.known_name().or_else(|| self.cursor.word()))
    }

    /// A name that is known although it is not a single word.
    pub(super) fn known_name(&mut self) -> Option<Arc<str>> {
        self.cursor.known(self.names.names().chain(self.local.iter()))
    }

    /// Whether such a name comes next.
    pub(super) fn known_name_follows(&self) -> bool {
        self.cursor.clone().known(self.names.names().chain(self.local.iter())).is_some()
    }

    /// Makes a name with spaces known to what follows, where the dialect has such names.
    pub(super) fn bring_into_scope(&mut self, name: &Arc<str>) {
        if self.dialect == Dialect::Dmn && !is_word(name) {
            self.local.push(Arc::clone(name));
        }
    }
}
