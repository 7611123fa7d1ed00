//! Expressions evaluated on their own, outside of any instance: on a thread of their own, bounded like all others.

use std::collections::HashMap;
use std::sync::Arc;

use engine::Document;
use feel::{Attribute, Budget, Now, Value, parse_attribute};
use store::log::{Code, Rejection};
use tokio::sync::Semaphore;

use crate::handle::{Error, Host};

/// Expressions evaluated at once; others wait. Each may take the memory of a whole budget.
const EVALUATIONS_MAX: usize = 4;
/// Bytes of a result as JSON.
const RESULT_BYTES_MAX: u64 = 4 * 1024 * 1024;

static EVALUATIONS: Semaphore = Semaphore::const_new(EVALUATIONS_MAX);

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
        let (text, now) = (Arc::<str>::from(text), self.now().await?);
        let permit = EVALUATIONS.acquire().await;
        let evaluating = tokio::task::spawn_blocking(move || {
            // Held until the end, also where nobody waits for the answer any more.
            let _permit = permit;
            evaluate(&text, &variables, now)
        });
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
    let mut budget = Budget::default();
    let given: HashMap<&str, &str> = variables.iter().map(|(name, json)| (&**name, &**json)).collect();
    let mut values = Vec::with_capacity(expression.variables().len());
    for name in expression.variables() {
        let given = given.get(&**name).map(|json| Value::from_json_within(json, &mut budget));
        values.push(given.transpose().map_err(|error| format!("variable '{name}': {error}"))?);
    }
    let failed = |error: feel::Error| format!("Failed to evaluate expression '{text}': {error}");
    let mut warnings = Vec::new();
    let result = expression.evaluate_within(&values, &Now::utc(now), &mut budget, Some(&mut warnings)).map_err(failed)?;
    let mut room = Budget::new(budget.steps_left(), budget.bytes_left().min(RESULT_BYTES_MAX));
    let result = result.to_json_within(&mut room).map_err(failed)?;
    Ok(EvaluatedExpression { result, warnings: warnings.into_iter().map(|warning| warning.message).collect() })
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

    /// A text of 16 << `doublings` bytes as the last of these names, and what comes of it.
    fn doubled(doublings: usize, expression: &str) -> String {
        let mut text = String::from("={a0:\"0123456789abcdef\"");
        for at in 1..=doublings {
            text += &format!(",a{at}:a{}+a{}", at - 1, at - 1);
        }
        text + &format!(",r:{expression}}}.r")
    }

    #[test]
    fn a_few_characters_do_not_take_the_memory_of_the_machine() {
        // Each of a hundred warnings used to quote sixteen megabytes.
        let text = doubled(20, "count(for i in 1..100 return number(a20))");
        let refused = evaluate(&text, &Document::new(), 0).unwrap_err();
        assert!(refused.ends_with("evaluation takes too many steps"), "{refused}");
        let evaluated = evaluate(&doubled(16, "count(for i in 1..100 return number(a16))"), &Document::new(), 0).unwrap();
        assert_eq!((evaluated.result.as_str(), evaluated.warnings.len()), ("100", 100));
        assert!(evaluated.warnings.iter().map(String::len).sum::<usize>() < 100_000);
        assert!(evaluate(&doubled(18, "a18 + a18"), &Document::new(), 0).unwrap_err().ends_with("too many bytes of values"));
    }
}
