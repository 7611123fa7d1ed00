//! Runs the tables in `tests/tables`: one expression and its result a line.
//!
//! ```text
//! # a comment
//! dialect dmn            from here on; a file begins with camunda
//! given x = {"a": 1}     a variable as JSON, from here on
//! x.a + 1  →  2          the result is an expression too
//! 1 +  →  no expression  what does not parse
//! assert(1, false)  →  error
//! ```

use feel::{Context, Dialect, Now, Value, parse_with};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

/// 2024-05-06T07:08:09Z.
const INSTANT: i64 = 1_714_979_289_000;

fn tables() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/tables");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|path| (path.display().to_string(), fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn every_line_holds() {
    let mut failures = Vec::new();
    let mut lines = 0;
    for (file, table) in tables() {
        let mut dialect = Dialect::Camunda;
        let mut variables = Context::empty();
        for (number, line) in table.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            if line.starts_with('#') {
                continue;
            }
            if let Some(name) = line.strip_prefix("dialect ") {
                dialect = if name.trim() == "dmn" { Dialect::Dmn } else { Dialect::Camunda };
                continue;
            }
            if let Some((name, json)) = line.strip_prefix("given ").and_then(|given| given.split_once(" = ")) {
                variables = variables.with(Arc::from(name), Value::from_json(json).unwrap());
                continue;
            }
            lines += 1;
            let Some((source, expected)) = line.split_once("  →  ") else { panic!("{file}:{}: {line}", number + 1) };
            if let Err(reason) = check(source.trim(), expected.trim(), dialect, &variables) {
                failures.push(format!("{file}:{}: {line}\n    {reason}", number + 1));
            }
        }
    }
    assert!(failures.is_empty(), "{} of {lines} lines\n{}", failures.len(), failures.join("\n"));
}

fn check(source: &str, expected: &str, dialect: Dialect, variables: &Context) -> Result<(), String> {
    let now = Now::utc(INSTANT);
    let ours = match parse_with(source, dialect) {
        Err(_) if expected == "no expression" => return Ok(()),
        Err(error) => return Err(error.to_string()),
        Ok(parsed) => parsed.evaluate_in(variables, &now),
    };
    let value = match ours {
        Err(_) if expected == "error" => return Ok(()),
        Err(error) => return Err(error.to_string()),
        Ok(value) => value,
    };
    let wanted = parse_with(expected, dialect).map_err(|error| format!("the result: {error}"))?;
    let wanted = wanted.evaluate_in(&Context::empty(), &now).map_err(|error| format!("the result: {error}"))?;
    if value == wanted { Ok(()) } else { Err(format!("is {value}")) }
}

/// Every built-in function is called in a table, in its dialect.
#[test]
fn every_function_is_in_a_table() {
    let text: String = tables().into_iter().map(|(_, table)| table).collect();
    let missing = |dialect| {
        let names: BTreeSet<&str> = feel::functions(dialect).iter().map(|signature| signature.name).collect();
        names.into_iter().filter(|name| !text.contains(&format!("{name}("))).collect::<Vec<_>>()
    };
    assert_eq!(missing(Dialect::Camunda), Vec::<&str>::new());
    assert_eq!(missing(Dialect::Dmn), Vec::<&str>::new());
}
