//! Texts that may be FEEL: a leading `=` says so.

use std::sync::Arc;

use feel::Expression;
use model::Text;

use crate::diagnostic::quoted;

/// The text behind `=`, if the value is an expression.
pub(crate) fn source(value: &str) -> Option<&str> {
    value.strip_prefix('=')
}

/// Parses FEEL without its `=`. `what` says what the expression is for: "the condition", "the job type".
pub(crate) fn parse(what: &str, source: &str) -> Result<Expression, String> {
    let source = source.trim();
    if source.is_empty() {
        return Err(format!("{what} is an empty expression: write FEEL behind '='"));
    }
    feel::parse(source).map_err(|error| format!("{what} {} is not valid FEEL: {error}", quoted(source)))
}

/// Parses a value that must be an expression.
pub(crate) fn required(what: &str, value: &str) -> Result<Expression, String> {
    let Some(source) = source(value) else {
        return Err(format!("{what} {} is plain text, but must be an expression: write '=' before it", quoted(value)));
    };
    parse(what, source)
}

/// Parses a value that is either plain text or an expression.
pub(crate) fn text(what: &str, value: &str) -> Result<Text, String> {
    match source(value) {
        Some(source) => parse(what, source).map(Text::Computed),
        None => Ok(Text::Fixed(Arc::from(value))),
    }
}

/// The name of a variable that a process sets.
pub(crate) fn variable(what: &str, name: &str) -> Result<Arc<str>, String> {
    match name.starts_with(model::KEPT) {
        true => Err(format!("{what} {} begins with '{}': the engine keeps such names for itself", quoted(name), model::KEPT)),
        false => Ok(name.into()),
    }
}

/// Plain text as a FEEL string literal.
pub(crate) fn literal(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('"');
    for c in text.chars() {
        match c {
            '"' => literal.push_str("\\\""),
            '\\' => literal.push_str("\\\\"),
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            '\t' => literal.push_str("\\t"),
            c => literal.push(c),
        }
    }
    literal.push('"');
    literal
}
