//! Attributes of BPMN elements: an expression behind `=`, or a value as it stands.

use crate::error::{ParseError, Position};
use crate::expression::{Expression, parse};
use crate::number::Number;
use crate::value::Value;

/// What an attribute holds.
#[derive(Clone, Debug)]
pub enum Attribute {
    /// No `=` in front: a number if it reads as one, else a text.
    Static(Value),
    /// What follows the `=`.
    Expression(Expression),
}

/// Reads an attribute that may be an expression.
pub fn parse_attribute(text: &str) -> Result<Attribute, ParseError> {
    // A lone `=` is a text.
    if let Some(source) = text.strip_prefix('=').filter(|source| !source.is_empty()) {
        return parse(source).map(Attribute::Expression);
    }
    if text.is_empty() {
        let position = Position::of(text, 0);
        return Err(ParseError { position, expected: String::from("a value or an expression"), found: String::from("nothing") });
    }
    let number = Number::parse(text).map(Value::Number);
    Ok(Attribute::Static(number.unwrap_or_else(|| Value::from(text))))
}
