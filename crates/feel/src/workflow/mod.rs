//! The small expression language of JSON workflows: a second parser to the same compiled form.
//!
//! `== != < <= > >= + - * / && || ! ( ) in`, `contains(collection, element)`, `len(x)`; numbers, `true`, `false`,
//! `null`, texts in either quotes; variables as `name`, `#name` or `${name}`, with dots into objects. Nothing is
//! tolerated here: an undefined variable, a missing member or a value of the wrong type is an error.

mod parser;

use crate::compile::compile_expression;
use crate::dialect::{Dialect, Library};
use crate::error::ParseError;
use crate::eval::Policy;
use crate::expression::Expression;

/// Parses an expression of a JSON workflow.
pub fn parse_workflow(source: &str) -> Result<Expression, ParseError> {
    let tree = parser::parse(source)?;
    let compiled = compile_expression(&tree, Dialect::Dmn, Library::Workflow);
    // What is called but does not exist can never work, so it is refused at once.
    match compiled.notes.first() {
        Some(note) => Err(parser::refused(source, note.message.clone())),
        None => Ok(Expression::new(source, Dialect::Dmn, Policy::Strict, compiled)),
    }
}
