//! `cargo xtask tck PATH [--all]`: how much of the DMN Technology Compatibility Kit ours gets right.
//!
//! PATH holds `cases.jsonl`, one line per node: the model's path below PATH, the inputs, the expected result with types.
//! A node is right if its value is the expected one; where an error is expected, `null` and a failure are both right. Numbers
//! may differ by as much as the kit's own runners allow. Other models in a model's folder are what it may import.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use engine::decision::{Evaluation, evaluate, evaluate_service};
use feel::{Context, Dialect, Now, Value};
use model::Requirements;

/// Numbers closer than this are the same.
const CLOSE: f64 = 1e-8;

/// The instant decisions that ask for the time are evaluated at: 2026-01-01.
const INSTANT: i64 = 1_767_225_600_000;

/// What is known to be wrong: the folder, the node or nothing for all of the folder, and why.
const LEFT_OUT: [(&str, &str, &str); 2] = [
    ("0076-feel-external-java", "", "functions in Java are not run"),
    ("0068-feel-equality", "range_010", "(= 10) and [10..10] are the same range here"),
];

/// How many nodes were right.
#[derive(Default, Clone, Copy)]
struct Tally {
    right: usize,
    all: usize,
}

/// Which folders are listed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    WithMisses,
    All,
}

/// Runs all nodes and prints what came of it; good if nothing is wrong but what is left out.
#[allow(clippy::print_stdout, reason = "a command prints its result")]
pub(crate) fn run(path: &str, shown: Shown) -> Result<bool, String> {
    let root = Path::new(path);
    let file = root.join("cases.jsonl");
    let cases = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut models: BTreeMap<String, Result<Requirements, String>> = BTreeMap::new();
    let mut folders: BTreeMap<(String, String), Tally> = BTreeMap::new();
    // A case is right if all its nodes are.
    let mut whole: BTreeMap<(String, String), bool> = BTreeMap::new();
    let (mut differences, mut left_out, mut good) = (String::new(), String::new(), true);
    for (number, line) in cases.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let case = Value::from_json(line).map_err(|error| format!("case {}: {error}", number + 1))?;
        let case = Case { row: case.as_context().ok_or_else(|| format!("case {} is not an object", number + 1))? };
        let model = models.entry(case.text("model").to_owned()).or_insert_with(|| read(root, case.text("model")));
        let verdict = model.as_ref().map_err(String::clone).and_then(|model| case.judge(model));
        let tally = folders.entry((case.level(), case.text("suite").to_owned())).or_default();
        tally.all += 1;
        tally.right += usize::from(verdict.is_ok());
        let key = (case.level(), format!("{} {}", case.text("file"), case.text("case")));
        *whole.entry(key).or_insert(true) &= verdict.is_ok();
        if let Err(reason) = verdict {
            let place = [case.text("suite"), case.text("case"), case.text("node")].join(" / ");
            let known = case.left_out();
            good &= known.is_some();
            match known {
                Some(why) => writeln!(left_out, "{place}: {why}"),
                None => writeln!(differences, "{place}  [{}]\n    {reason}", case.text("camunda")),
            }
            .expect("a string takes every text");
        }
    }
    println!("Left out:\n{left_out}\nDifferences:\n{differences}\n{}", summary(&folders, &whole, shown));
    Ok(good)
}

/// A model and what lies beside it.
fn read(root: &Path, path: &str) -> Result<Requirements, String> {
    let path = root.join(path);
    let content = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let folder = path.parent().unwrap_or(root);
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let beside = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let beside = beside.filter(|other| *other != path && other.extension().is_some_and(|ending| ending == "dmn"));
    let others: Vec<Vec<u8>> = beside.filter_map(|other| std::fs::read(other).ok()).collect();
    let others: Vec<&[u8]> = others.iter().map(Vec::as_slice).collect();
    compile::dmn_standard(&content, &others).map_err(|diagnostics| {
        let lines: Vec<String> = diagnostics.iter().take(3).map(ToString::to_string).collect();
        format!("does not compile: {}", lines.join("; "))
    })
}

struct Case<'a> {
    row: &'a Context,
}

impl Case<'_> {
    fn text(&self, name: &str) -> &str {
        self.row.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    fn level(&self) -> String {
        self.row.get("level").map_or(String::new(), Value::to_json)
    }

    fn left_out(&self) -> Option<&'static str> {
        let (suite, node) = (self.text("suite"), self.text("node"));
        let mut known = LEFT_OUT.iter();
        known.find(|(folder, one, _)| *folder == suite && (one.is_empty() || *one == node)).map(|(_, _, why)| *why)
    }

    /// Whether the node is right, or how it differs.
    fn judge(&self, model: &Requirements) -> Result<(), String> {
        let inputs = self.row.get("inputs").and_then(Value::as_context).cloned().unwrap_or_else(Context::empty);
        let mut variables = Vec::with_capacity(inputs.len());
        for (name, written) in inputs.entries() {
            variables.push((Arc::clone(name), decode(written)?));
        }
        let expected = self.row.get("expected").map_or(Ok(Value::Null), decode)?;
        let evaluation = self.evaluate(model, &Context::from(variables))?;
        let fails = self.row.get("error") == Some(&Value::Bool(true));
        match evaluation.output {
            Ok(value) if alike(&value, &expected) => Ok(()),
            Ok(value) => Err(format!("expected {}\n    got      {}", written(&expected), written(&value))),
            Err(_) if fails || expected.is_null() => Ok(()),
            Err(failure) => Err(format!("expected {}\n    failed   {}", written(&expected), failure.reason)),
        }
    }

    fn evaluate(&self, model: &Requirements, variables: &Context) -> Result<Evaluation, String> {
        let now = Now::utc(INSTANT);
        let node = self.text("node");
        if self.text("type") != "decisionService" {
            let named = model.decisions.iter().position(|decision| &*decision.name == node);
            let index = named.ok_or_else(|| format!("there is no decision '{node}'"))?;
            return Ok(evaluate(model, index, variables, &now));
        }
        let name = self.text("invocable");
        let service = model.services.iter().position(|service| &*service.name == name);
        let service = service.ok_or_else(|| format!("there is no decision service '{name}'"))?;
        let mut evaluation = evaluate_service(model, service, variables, &now);
        if 1 < model.services[service].outputs.len()
            && let Ok(Value::Context(outputs)) = &evaluation.output
        {
            evaluation.output = Ok(outputs.get(node).cloned().unwrap_or(Value::Null));
        }
        Ok(evaluation)
    }
}

/// A value with its type, as the cases write it.
fn decode(written: &Value) -> Result<Value, String> {
    let written = written.as_context().ok_or("a value is not an object")?;
    let kind = written.get("t").and_then(Value::as_str).unwrap_or_default();
    let value = written.get("v").unwrap_or(&Value::Null);
    let text = value.as_str().unwrap_or_default();
    let quoted = Value::string(text).to_json();
    let expression = match kind {
        "null" => return Ok(Value::Null),
        "string" => return Ok(Value::string(text)),
        "boolean" | "number" => text.to_owned(),
        "date" | "time" | "date and time" | "duration" => format!("{kind}({quoted})"),
        "list" => {
            let items = value.as_list().unwrap_or_default();
            return items.iter().map(decode).collect::<Result<Vec<_>, _>>().map(Value::list);
        }
        "context" => {
            let members = value.as_context().map_or(&[][..], Context::entries);
            let member = |(name, value): &(Arc<str>, Value)| Ok::<_, String>((Arc::clone(name), decode(value)?));
            return Ok(Value::Context(Context::from(members.iter().map(member).collect::<Result<Vec<_>, _>>()?)));
        }
        other => return Err(format!("a value of unknown type '{other}'")),
    };
    let parsed = feel::parse_with(&expression, Dialect::Dmn).map_err(|error| format!("'{expression}': {error}"))?;
    parsed.evaluate(&[], &Now::utc(INSTANT)).map_err(|error| format!("'{expression}': {error}"))
}

fn alike(ours: &Value, expected: &Value) -> bool {
    match (ours, expected) {
        (Value::Number(a), Value::Number(b)) => a == b || (a.to_f64() - b.to_f64()).abs() < CLOSE,
        (Value::List(a), Value::List(b)) => a.len() == b.len() && a.items().iter().zip(b.items()).all(|(a, b)| alike(a, b)),
        (Value::Context(a), Value::Context(b)) => {
            let same = |(key, value): &(Arc<str>, Value)| b.get(key).is_some_and(|other| alike(value, other));
            a.len() == b.len() && a.entries().iter().all(same)
        }
        _ => ours == expected,
    }
}

fn written(value: &Value) -> String {
    let text = format!("{} ({})", value.to_json(), value.type_name());
    text.chars().take(400).collect()
}

fn summary(folders: &BTreeMap<(String, String), Tally>, whole: &BTreeMap<(String, String), bool>, shown: Shown) -> String {
    let mut out = String::new();
    let mut line = |text: String| writeln!(out, "{text}").expect("a string takes every text");
    let mut levels: BTreeMap<&str, [Tally; 2]> = BTreeMap::new();
    for ((level, folder), tally) in folders {
        let total = levels.entry(level).or_default();
        total[0].right += tally.right;
        total[0].all += tally.all;
        if shown == Shown::All || tally.right < tally.all {
            line(format!("level {level}  {folder:<60} {:>4} of {:>4}", tally.right, tally.all));
        }
    }
    for ((level, _), right) in whole {
        let total = levels.entry(level).or_default();
        total[1].right += usize::from(*right);
        total[1].all += 1;
    }
    for (level, [nodes, cases]) in levels {
        line(format!("level {level}: {} of {} nodes right, {} of {} cases", nodes.right, nodes.all, cases.right, cases.all));
    }
    out
}
