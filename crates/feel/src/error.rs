//! What can go wrong: in the text, in the evaluation, and what an evaluation went on in spite of.

use std::fmt::{self, Display, Formatter};

/// A place in a source text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Bytes from the start.
    pub offset: usize,
    /// From 1.
    pub line: u32,
    /// Characters from the start of the line, from 1.
    pub column: u32,
}

impl Position {
    /// The position of a byte offset in `source`.
    pub fn of(source: &str, offset: usize) -> Position {
        let mut end = offset.min(source.len());
        while !source.is_char_boundary(end) {
            end -= 1;
        }
        let before = &source[..end];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Position {
            offset: end,
            line: count(before.matches('\n').count() + 1),
            column: count(before[line_start..].chars().count() + 1),
        }
    }
}

impl Display for Position {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "line {}, column {}", self.line, self.column)
    }
}

/// A text that is not an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Where it stops making sense.
    pub position: Position,
    /// What would have made sense there.
    pub expected: String,
    /// What is there instead.
    pub found: String,
}

impl Display for ParseError {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}: expected {}, found {}", self.position, self.expected, self.found)
    }
}

impl std::error::Error for ParseError {}

/// An evaluation without a value. Most failures in FEEL are `null` and a [`Warning`]; these are not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// `assert` did not hold; its reason.
    Assertion(String),
    /// A limit was reached; which one.
    Limit(Limit),
    /// `?` was read where there is no input value.
    NoInput,
    /// A variable is not defined, in a language where that is an error.
    Undefined(String),
    /// An operation got what it cannot work with, in a language where that is an error.
    Invalid(String),
}

/// The bounds an evaluation may run into; the numbers are in [`limits`](crate::limits).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// [`STEPS_MAX`](crate::limits::STEPS_MAX), or those of the caller's [`Budget`](crate::Budget).
    Steps,
    /// [`BYTES_MAX`](crate::limits::BYTES_MAX), or those of the caller's [`Budget`](crate::Budget).
    Bytes,
    /// [`EVALUATION_DEPTH_MAX`](crate::limits::EVALUATION_DEPTH_MAX).
    Depth,
    /// [`VALUE_SIZE_MAX`](crate::limits::VALUE_SIZE_MAX).
    Size,
    /// [`VALUE_DEPTH_MAX`](crate::limits::VALUE_DEPTH_MAX).
    Nesting,
}

impl Error {
    /// Whether a limit was reached, rather than something wrong with the expression or what it works on.
    pub fn is_limit(&self) -> bool {
        matches!(self, Error::Limit(_))
    }
}

impl Display for Error {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Error::Assertion(reason) => write!(out, "assertion failed: {reason}"),
            Error::Limit(limit) => Display::fmt(limit, out),
            Error::NoInput => out.write_str("'?' has no input value outside of a unary test"),
            Error::Undefined(name) => write!(out, "variable '{name}' is not defined"),
            Error::Invalid(reason) => out.write_str(reason),
        }
    }
}

impl std::error::Error for Error {}

impl Display for Limit {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        use crate::limits::{EVALUATION_DEPTH_MAX, VALUE_DEPTH_MAX, VALUE_SIZE_MAX};
        match self {
            Limit::Steps => out.write_str("evaluation takes too many steps"),
            Limit::Bytes => out.write_str("evaluation makes too many bytes of values"),
            Limit::Depth => write!(out, "evaluation is nested more than {EVALUATION_DEPTH_MAX} deep"),
            Limit::Size => write!(out, "a value grew beyond {VALUE_SIZE_MAX} bytes"),
            Limit::Nesting => write!(out, "a value is nested more than {VALUE_DEPTH_MAX} deep"),
        }
    }
}

/// Something an evaluation went on in spite of, usually with `null`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// What sort of thing.
    pub kind: WarningKind,
    /// One line for the author of the expression.
    pub message: String,
}

/// Sorts of [`Warning`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarningKind {
    /// A variable that is not defined.
    NoVariable,
    /// A key the context does not have.
    NoContextEntry,
    /// A property the value does not have.
    NoProperty,
    /// A function that does not exist, or not with these parameters.
    NoFunction,
    /// Values that cannot be compared.
    NotComparable,
    /// A value of the wrong type.
    InvalidType,
    /// A function that could not do what it was asked to.
    FunctionFailed,
}

impl Display for Warning {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}
