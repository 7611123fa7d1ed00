//! Expressions evaluated on their own, outside of any instance: on a thread of their own, bounded like all others.

use std::sync::Arc;

use engine::Document;
use feel::{Attribute, Now, Value, parse_attribute};
use store::log::{Code, Rejection};

use crate::handle::{Error, Host};

/// What became of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvaluatedExpression {
    /// JSON text.
    pub result: String,
    /// What was tolerated on the way.
    pub warnings: Vec<String>,
}

impl Host {
    /// Evaluates FEEL behind `=`; anything else is a value as it stands.
    pub async fn evaluate_expression(&self, text: &str, variables: Document) -> Result<EvaluatedExpression, Error> {
        let (text, now) = (Arc::<str>::from(text), self.store().now().await?);
        let evaluating = tokio::task::spawn_blocking(move || evaluate(&text, &variables, now));
        let evaluated = evaluating.await.unwrap_or_else(|_| Err("the engine hit a fault of its own".to_owned()));
        evaluated.map_err(|reason| Error::Rejected(Rejection { code: Code::InvalidArgument, reason }))
    }
}

fn evaluate(text: &str, variables: &Document, now: i64) -> Result<EvaluatedExpression, String> {
    let parsed = parse_attribute(text).map_err(|error| format!("Failed to parse expression '{text}': {error}"))?;
    let expression = match parsed {
        Attribute::Static(value) => return Ok(EvaluatedExpression { result: value.to_json(), warnings: Vec::new() }),
        Attribute::Expression(expression) => expression,
    };
    let mut values = Vec::with_capacity(expression.variables().len());
    for name in expression.variables() {
        let given = variables.iter().find(|(given, _)| given == name).map(|(_, json)| Value::from_json(json));
        values.push(given.transpose().map_err(|error| format!("variable '{name}' is not valid JSON: {error}"))?);
    }
    let mut warnings = Vec::new();
    let result = expression.evaluate_with(&values, &Now::utc(now), &mut warnings);
    let result = result.map_err(|error| format!("Failed to evaluate expression '{text}': {error}"))?;
    Ok(EvaluatedExpression { result: result.to_json(), warnings: warnings.into_iter().map(|warning| warning.message).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables() -> Document {
        vec![("x".into(), "3".into()), ("a".into(), "{\"b\": [1, 2]}".into())]
    }

    #[test]
    fn what_an_expression_gives() {
        for (text, result) in [("=x + 1", "4"), ("=a.b[2]", "2"), ("=\"t\"", "\"t\""), ("plain", "\"plain\""), ("7", "7")] {
            let evaluated = evaluate(text, &variables(), 0).unwrap();
            assert_eq!((evaluated.result.as_str(), evaluated.warnings.len()), (result, 0), "{text}");
        }
    }

    #[test]
    fn what_is_tolerated_is_told() {
        let evaluated = evaluate("=missing", &variables(), 0).unwrap();
        assert_eq!(evaluated, EvaluatedExpression { result: "null".into(), warnings: evaluated.warnings.clone() });
        assert_eq!(evaluated.warnings.len(), 1);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for text in ["=1 +", "=assert(x, x > 5)", "=for i in 1..100000000 return i", ""] {
            assert!(evaluate(text, &variables(), 0).is_err(), "{text}");
        }
    }
}
