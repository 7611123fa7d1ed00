//! Expressions over the variables a scope sees. Only those an expression reads are decoded.

use std::sync::Arc;

use feel::{Expression, Value};
use model::Text;

use crate::step::Run;
use crate::{Document, ElementKey, IncidentKind, variables};

/// Why an element cannot go on, in words for a person.
#[derive(Debug)]
pub(crate) struct Trouble {
    pub(crate) kind: IncidentKind,
    pub(crate) message: String,
}

impl Run<'_> {
    /// The value of an expression seen from a scope; `kind` is the incident it raises if it fails.
    pub(crate) fn evaluate(&self, scope: ElementKey, expression: &Expression, kind: IncidentKind) -> Result<Value, Trouble> {
        let fail = |reason: String| Trouble { kind, message: format!("'{}' cannot be evaluated: {reason}", expression.source()) };
        let mut values = Vec::with_capacity(expression.variables().len());
        for name in expression.variables() {
            let value = match variables::find(self.instance, scope, name) {
                Some((_, variable)) => Some(
                    Value::from_json(&variable.value).map_err(|e| fail(format!("variable '{name}' is not valid JSON: {e}")))?,
                ),
                None => None,
            };
            values.push(value);
        }
        expression.evaluate(&values, &self.now()).map_err(|e| fail(e.to_string()))
    }

    /// A text that is written out or computed; anything but a string is trouble.
    pub(crate) fn text(&self, scope: ElementKey, text: &Text, what: &str) -> Result<Arc<str>, Trouble> {
        let expression = match text {
            Text::Fixed(text) => return Ok(text.clone()),
            Text::Computed(expression) => expression,
        };
        match self.evaluate(scope, expression, IncidentKind::ExtractValue)? {
            Value::String(text) => Ok(text),
            other => Err(wrong_kind(expression, what, "a string", &other)),
        }
    }

    /// A mapping: a context whose entries become variables.
    pub(crate) fn mapping(&self, scope: ElementKey, expression: &Expression) -> Result<Document, Trouble> {
        match self.evaluate(scope, expression, IncidentKind::IoMapping)? {
            Value::Context(context) => {
                Ok(context.entries().iter().map(|(name, value)| (name.clone(), Arc::from(value.to_json()))).collect())
            }
            other => Err(Trouble { kind: IncidentKind::IoMapping, ..wrong_kind(expression, "the mapping", "variables", &other) }),
        }
    }
}

/// An expression gave something of another kind than its place needs.
pub(crate) fn wrong_kind(expression: &Expression, what: &str, wanted: &str, found: &Value) -> Trouble {
    let message = format!("{what} '{}' must give {wanted}, but it gave {}", expression.source(), found.to_json());
    Trouble { kind: IncidentKind::ExtractValue, message }
}
