//! `cargo xtask feel CASES.jsonl`: how many recorded answers of Camunda's engine ours gives too.
//!
//! A case is one line of JSON with `group`, `expression`, `context` if there was one, and `result` or `error`.
//! Alike are equal results, numbers compared as the recording could hold them (doubles, and whole numbers wrapped at
//! 64 bits). Where the recording is an error there is nothing to agree with: such cases are counted apart.

use feel::{Context, Now, Number, Value};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

/// The least share of alike answers, in percent.
const ALIKE_MIN: f64 = 98.0;

/// The instant expressions that ask for the time are evaluated at: 2026-01-01.
const INSTANT: i64 = 1_767_225_600_000;

/// What became of the cases of one group.
#[derive(Default)]
struct Tally {
    alike: usize,
    different: usize,
    both_fail: usize,
    ours_null: usize,
    ours_value: usize,
}

enum Verdict {
    Alike,
    Different(String),
    BothFail,
    OursOnly(Value),
}

/// Compares a file of recorded cases; the answer is the report, and whether enough is alike.
fn report(cases: &str) -> Result<(String, bool), String> {
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    let (mut differences, mut apart) = (String::new(), String::new());
    for (number, line) in cases.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let case = Value::from_json(line).map_err(|error| format!("case {}: {error}", number + 1))?;
        let case = case.as_context().ok_or_else(|| format!("case {} is not an object", number + 1))?;
        let text = |name: &str| case.get(name).and_then(Value::as_str).unwrap_or_default();
        let tally = tallies.entry(text("group").to_owned()).or_default();
        let shown = described(case);
        match judge(case, text("expression")) {
            Verdict::Alike => tally.alike += 1,
            Verdict::BothFail => tally.both_fail += 1,
            Verdict::Different(ours) => {
                tally.different += 1;
                let theirs = case.get("result").map_or(String::new(), Value::to_json);
                line_to(&mut differences, &format!("{shown}\n    recorded {theirs}\n    ours     {ours}"));
            }
            Verdict::OursOnly(Value::Null) => tally.ours_null += 1,
            Verdict::OursOnly(value) => {
                tally.ours_value += 1;
                line_to(&mut apart, &format!("{shown}  →  {}", value.to_json()));
            }
        }
    }
    Ok(summary(&tallies, &differences, &apart))
}

/// Reads a file, prints the report, and fails when too little is alike.
#[allow(clippy::print_stdout, reason = "a command prints its result")]
pub(crate) fn run(path: &str) -> Result<(), String> {
    let cases = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let (report, enough) = report(&cases)?;
    println!("{report}");
    if enough { Ok(()) } else { Err(format!("less than {ALIKE_MIN} % alike")) }
}

fn judge(case: &Context, expression: &str) -> Verdict {
    let empty = Context::empty();
    let variables = case.get("context").and_then(Value::as_context).unwrap_or(&empty);
    let ours = match evaluate(expression, variables) {
        Ok(value) => value,
        Err(_) if case.get("error").is_some() => return Verdict::BothFail,
        Err(reason) => return Verdict::Different(reason),
    };
    // What reaches a caller is JSON, so that is what is compared.
    let json = ours.to_json();
    let answer = Value::from_json(&json).unwrap_or(Value::Null);
    match case.get("result") {
        None => Verdict::OursOnly(answer),
        Some(recorded) if alike(&answer, recorded) => Verdict::Alike,
        Some(_) => Verdict::Different(json),
    }
}

fn evaluate(expression: &str, variables: &Context) -> Result<Value, String> {
    match feel::parse_attribute(expression).map_err(|error| error.to_string())? {
        feel::Attribute::Static(value) => Ok(value),
        feel::Attribute::Expression(parsed) => {
            parsed.evaluate_in(variables, &Now::utc(INSTANT)).map_err(|error| error.to_string())
        }
    }
}

fn alike(ours: &Value, recorded: &Value) -> bool {
    match (ours, recorded) {
        (Value::Number(a), Value::Number(b)) => {
            a == b || a.to_f64() == b.to_f64() || (a.is_integer() && Some(wrapped(*a)) == b.to_i64())
        }
        (Value::List(a), Value::List(b)) => a.len() == b.len() && a.items().iter().zip(b.items()).all(|(a, b)| alike(a, b)),
        (Value::Context(a), Value::Context(b)) => {
            let same = |(key, value): &(Arc<str>, Value)| b.get(key).is_some_and(|other| alike(value, other));
            a.len() == b.len() && a.entries().iter().all(same)
        }
        _ => ours == recorded,
    }
}

/// A whole number as 64 bits hold it.
fn wrapped(number: Number) -> i64 {
    match number.truncate_to_i128() {
        Some(whole) => whole as i64,
        None => (0..number.exponent()).fold(number.coefficient() as i64, |low, _| low.wrapping_mul(10)),
    }
}

fn described(case: &Context) -> String {
    let expression = case.get("expression").and_then(Value::as_str).unwrap_or_default();
    let context = case.get("context").map_or(String::new(), |context| format!("  with {}", context.to_json()));
    let group = case.get("group").and_then(Value::as_str).unwrap_or_default();
    let line = format!("{group}: {}{context}", expression.escape_debug());
    line.chars().take(300).collect()
}

fn summary(tallies: &BTreeMap<String, Tally>, differences: &str, apart: &str) -> (String, bool) {
    let mut out = String::new();
    line_to(&mut out, "Recorded errors that are values here:");
    out.push_str(apart);
    line_to(&mut out, "\nDifferences:");
    out.push_str(differences);
    line_to(&mut out, "\ngroup                  alike  different    %   both fail  ours null  ours value");
    let mut total = Tally::default();
    for (group, tally) in tallies {
        line_to(&mut out, &row(group, tally));
        total.alike += tally.alike;
        total.different += tally.different;
        total.both_fail += tally.both_fail;
        total.ours_null += tally.ours_null;
        total.ours_value += tally.ours_value;
    }
    line_to(&mut out, &row("all", &total));
    (out, ALIKE_MIN <= percent(&total))
}

fn percent(tally: &Tally) -> f64 {
    let both = tally.alike + tally.different;
    if both == 0 { 100.0 } else { 100.0 * tally.alike as f64 / both as f64 }
}

fn row(group: &str, tally: &Tally) -> String {
    let Tally { alike, different, both_fail, ours_null, ours_value } = tally;
    let share = percent(tally);
    format!("{group:<22} {alike:>5}  {different:>9}  {share:>5.1}  {both_fail:>8}  {ours_null:>9}  {ours_value:>10}")
}

fn line_to(out: &mut String, line: &str) {
    writeln!(out, "{line}").expect("writing to a string cannot fail");
}
