//! `caudal feel`: evaluates an expression.

use ::feel::{Context, Dialect, Expression, Now, ParseError, Value};
use clap::{Args, ValueEnum};

use crate::table::print;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  caudal feel 'amount * 1.2' --context '{\"amount\": 10}'\n  caudal feel '[1..5], > 10' --unary 3 --unary 7\n\nThe result is printed as JSON; what was tolerated on the way (a variable that does not exist, a comparison of different\ntypes) goes to standard error."
)]
pub(crate) struct Feel {
    /// The expression, without the leading `=` of BPMN
    #[arg(value_name = "EXPRESSION")]
    expression: String,
    /// Variables as a JSON object; @FILE reads them from a file, - from standard input
    #[arg(long, value_name = "JSON", default_value = "{}")]
    context: String,
    /// Take the expression for unary tests, as in a cell of a decision table, and test this JSON value; may be repeated
    #[arg(long, value_name = "JSON")]
    unary: Vec<String>,
    /// Whose rules hold where Camunda's processes and DMN differ
    #[arg(long, value_name = "DIALECT", default_value = "camunda")]
    dialect: Rules,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Rules {
    /// As in BPMN processes
    Camunda,
    /// As in DMN decisions
    Dmn,
}

pub(crate) fn run(options: &Feel) -> Result<(), String> {
    let dialect = match options.dialect {
        Rules::Camunda => Dialect::Camunda,
        Rules::Dmn => Dialect::Dmn,
    };
    let variables = variables("--context", &options.context)?;
    if options.unary.is_empty() {
        let parsed = ::feel::parse_with(&options.expression, dialect);
        let expression = parsed.map_err(|error| pointed(&options.expression, &error))?;
        return answer(&expression, &variables);
    }
    let parsed = ::feel::parse_unary_tests(&options.expression, dialect);
    let tests = parsed.map_err(|error| pointed(&options.expression, &error))?;
    for value in &options.unary {
        let value = Value::from_json(value).map_err(|error| format!("--unary '{value}' is not JSON: {error}"))?;
        answer(&tests, &variables.with("?".into(), value))?;
    }
    Ok(())
}

fn answer(expression: &Expression, variables: &Context) -> Result<(), String> {
    let mut warnings = Vec::new();
    let outcome = expression.evaluate_in_with(variables, &now(), &mut warnings);
    for warning in warnings {
        eprintln!("warning: {warning}");
    }
    print(&format!("{}\n", outcome.map_err(|error| error.to_string())?.to_json()));
    Ok(())
}

/// A JSON object as variables.
pub(crate) fn variables(flag: &str, json: &str) -> Result<Context, String> {
    let json = crate::variables::text(flag, json)?;
    let value = Value::from_json(&json).map_err(|error| format!("{flag} is not JSON: {error}"))?;
    value.as_context().cloned().ok_or_else(|| format!("{flag} must be a JSON object, as in {flag} '{{\"x\": 1}}'"))
}

/// The instant expressions see.
pub(crate) fn now() -> Now {
    Now::utc(crate::serve::system_now())
}

/// An error with the line it is in and a caret below its place.
fn pointed(source: &str, error: &ParseError) -> String {
    let line = source.lines().nth(error.position.line as usize - 1).unwrap_or_default();
    let caret = " ".repeat(error.position.column as usize - 1);
    format!("{error}\n  {line}\n  {caret}^")
}
