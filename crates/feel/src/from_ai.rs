//! `fromAi(toolCall.city, "Where to", "string")` gives the value of `toolCall.city`. What else it says is for whoever fills that in.

use std::cell::RefCell;
use std::sync::Arc;

use crate::dialect::Dialect;
use crate::excerpt::quoted;
use crate::expression::{Expression, parse};
use crate::now::Now;
use crate::syntax::ast::{Arguments, Expr};
use crate::syntax::walk::mentions;
use crate::syntax::{Names, parse_expression, print};
use crate::value::Value;

const FUNCTION: &str = "fromAi";
/// Its parameters, in their order.
const PARAMETERS: [&str; 5] = ["value", "description", "type", "schema", "options"];

/// What a call says.
#[derive(Debug, Clone, PartialEq)]
pub struct FromAi {
    /// The variable or the path that is filled in, as written.
    pub name: Arc<str>,
    /// `description`, `type`, `schema` and `options`, as far as they are given.
    pub facts: Vec<(&'static str, Value)>,
}

impl Expression {
    /// The calls of `fromAi` in it, as they are written.
    ///
    /// # Errors
    /// What is wrong with one: its value must be a variable or a path, the rest must be there without variables.
    pub fn from_ai(&self) -> Result<Vec<FromAi>, String> {
        if !self.source().contains(FUNCTION) {
            return Ok(Vec::new());
        }
        let Ok(tree) = parse_expression(self.source(), Dialect::Camunda, &Names::default()) else { return Ok(Vec::new()) };
        let found = RefCell::new(Vec::new());
        mentions(&tree, &|expr| {
            if let Expr::Call(callee, arguments) = expr
                && matches!(&**callee, Expr::Name(name) if &**name == FUNCTION)
            {
                found.borrow_mut().push(read(arguments));
            }
            false
        });
        found.into_inner().into_iter().collect()
    }
}

fn read(arguments: &Arguments) -> Result<FromAi, String> {
    let argument = |wanted: &str| match arguments {
        Arguments::Positional(values) => values.iter().zip(PARAMETERS).find(|(_, name)| *name == wanted).map(|(value, _)| value),
        Arguments::Named(values) => values.iter().find(|(name, _)| &**name == wanted).map(|(_, value)| value),
    };
    let [value, facts @ ..] = PARAMETERS;
    let name = argument(value).and_then(reference);
    let name = name.ok_or_else(|| format!("the value of {FUNCTION} must be a variable or a path, like toolCall.city"))?;
    let mut given = Vec::new();
    for fact in facts {
        let Some(written) = argument(fact) else { continue };
        let value = constant(written);
        let (fits, wanted) = match fact {
            "description" | "type" => (matches!(value, Some(Value::String(_))), "a string"),
            _ => (matches!(value, Some(Value::Context(_))), "a context"),
        };
        match value.filter(|value| fits || *value == Value::Null) {
            Some(Value::Null) => {}
            Some(value) => given.push((fact, value)),
            None => return Err(format!("the {fact} of {FUNCTION} must be {wanted}, but it is '{}'", quoted(print(written)))),
        }
    }
    Ok(FromAi { name: name.into(), facts: given })
}

fn reference(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Name(name) => Some(name.to_string()),
        Expr::Path(of, name) => Some(format!("{}.{name}", reference(of)?)),
        _ => None,
    }
}

/// What it comes to without any variable.
fn constant(expr: &Expr) -> Option<Value> {
    let expression = parse(&print(expr)).ok()?;
    expression.variables().is_empty().then(|| expression.evaluate(&[], &Now::utc(0)).ok())?
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use crate::parse;

    fn told(source: &str) -> String {
        match parse(source).unwrap().from_ai() {
            Ok(calls) => calls.iter().map(|call| format!("{} {:?}\n", call.name, facts(call))).collect(),
            Err(reason) => reason,
        }
    }

    fn facts(call: &super::FromAi) -> Vec<String> {
        call.facts.iter().map(|(name, value)| format!("{name}={}", value.to_json())).collect()
    }

    #[test]
    fn calls_are_found_wherever_they_stand() {
        assert_eq!(told("toolCall.city"), "");
        assert_eq!(told("fromAi(city)"), "city []\n");
        let nested = r#"{a: [1 + number(fromAi(toolCall.n, "How many", "integer"))], b: fromAi(type: "string", value: x.y.z)}"#;
        let expected =
            "toolCall.n [\"description=\\\"How many\\\"\", \"type=\\\"integer\\\"\"]\nx.y.z [\"type=\\\"string\\\"\"]\n";
        assert_eq!(told(nested), expected);
        let whole = r#"fromAi(toolCall.kind, "Which", "string", {enum: ["a", "b"]}, {required: false})"#;
        let expected = "toolCall.kind [\"description=\\\"Which\\\"\", \"type=\\\"string\\\"\", \"schema={\\\"enum\\\":[\\\"a\\\",\\\"b\\\"]}\", \
                        \"options={\\\"required\\\":false}\"]\n";
        assert_eq!(told(whole), expected);
    }

    #[test]
    fn what_cannot_be_told_is_refused() {
        assert_eq!(told("fromAi(10)"), "the value of fromAi must be a variable or a path, like toolCall.city");
        assert_eq!(told("fromAi(x, 10)"), "the description of fromAi must be a string, but it is '10'");
        assert_eq!(told("fromAi(x, y)"), "the description of fromAi must be a string, but it is 'y'");
        assert_eq!(told(r#"fromAi(value: x, schema: "s")"#), r#"the schema of fromAi must be a context, but it is '"s"'"#);
    }
}
