//! Expressions over the variables a scope sees. Only those an expression reads are decoded.

use std::sync::Arc;

use feel::{Budget, Expression, Value};
use model::Text;

use crate::step::Run;
use crate::{Document, ElementKey, IncidentKind, variables};

/// Why an element cannot go on, in words for a person.
#[derive(Debug)]
pub(crate) struct Trouble {
    pub(crate) kind: IncidentKind,
    pub(crate) message: String,
}

/// A value that is visible to one expression only.
pub(crate) type Given<'a> = (&'a str, Value);

impl Run<'_> {
    /// The value of an expression seen from a scope; `kind` is the incident it raises if it fails.
    pub(crate) fn evaluate(&self, scope: ElementKey, expression: &Expression, kind: IncidentKind) -> Result<Value, Trouble> {
        self.evaluate_given(scope, expression, kind, &[])
    }

    /// The same, with values that only this expression sees.
    pub(crate) fn evaluate_given(
        &self,
        scope: ElementKey,
        expression: &Expression,
        kind: IncidentKind,
        given: &[Given<'_>],
    ) -> Result<Value, Trouble> {
        let mut budget = Budget::default();
        let value = self.evaluate_within(scope, expression, kind, given, &mut budget);
        self.budget.evaluated(&budget);
        value
    }

    /// Reading the variables draws from the budget as well.
    fn evaluate_within(
        &self,
        scope: ElementKey,
        expression: &Expression,
        kind: IncidentKind,
        given: &[Given<'_>],
        budget: &mut Budget,
    ) -> Result<Value, Trouble> {
        let fail =
            |reason: String| Trouble { kind, message: format!("'{}' cannot be evaluated: {reason}", expression.excerpt()) };
        let mut values = Vec::with_capacity(expression.variables().len());
        for name in expression.variables() {
            if let Some((_, value)) = given.iter().find(|(given, _)| *given == &**name) {
                values.push(Some(value.clone()));
                continue;
            }
            let value = match variables::find(self.instance, scope, name) {
                Some((_, variable)) => {
                    Some(Value::from_json_within(&variable.value, budget).map_err(|e| fail(format!("variable '{name}': {e}")))?)
                }
                None => None,
            };
            values.push(value);
        }
        expression.evaluate_within(&values, &self.now(), budget, None).map_err(|e| fail(e.to_string()))
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

    /// A mapping: a context whose entries become variables. Writing them draws from what the evaluation was given as well.
    pub(crate) fn mapping(&self, scope: ElementKey, expression: &Expression) -> Result<Document, Trouble> {
        let mut budget = Budget::default();
        let document = self.mapping_within(scope, expression, &mut budget);
        self.budget.evaluated(&budget);
        document
    }

    fn mapping_within(&self, scope: ElementKey, expression: &Expression, budget: &mut Budget) -> Result<Document, Trouble> {
        let value = self.evaluate_within(scope, expression, IncidentKind::IoMapping, &[], budget)?;
        let Value::Context(context) = value else {
            let trouble = wrong_kind(expression, "the mapping", "variables", &value);
            return Err(Trouble { kind: IncidentKind::IoMapping, ..trouble });
        };
        let mut document = Document::with_capacity(context.len());
        for (name, value) in context.entries() {
            let json = value.to_json_within(budget).map_err(|e| Trouble {
                kind: IncidentKind::IoMapping,
                message: format!("variable '{name}' of '{}' cannot be written: {e}", expression.excerpt()),
            })?;
            document.push((name.clone(), json.into()));
        }
        Ok(document)
    }
}

/// An expression gave something of another kind than its place needs.
pub(crate) fn wrong_kind(expression: &Expression, what: &str, wanted: &str, found: &Value) -> Trouble {
    let message = format!("{what} '{}' must give {wanted}, but it gave {}", expression.excerpt(), found.json_excerpt());
    Trouble { kind: IncidentKind::ExtractValue, message }
}
