//! What must hold for decision tables nobody wrote.

use std::fmt::Write as _;

use engine::decision::evaluate;
use feel::{Context, Now, Value};
use proptest::prelude::*;

const POLICIES: [&str; 11] =
    ["UNIQUE", "ANY", "FIRST", "PRIORITY", "RULE ORDER", "OUTPUT ORDER", "COLLECT", "SUM", "MIN", "MAX", "COUNT"];

/// The allowed outputs, the most important first.
const PRIORITIES: [i64; 5] = [3, 1, 4, 0, 2];

/// Matches `low..=high`, gives `output`.
#[derive(Debug, Clone)]
struct Rule {
    low: i64,
    high: i64,
    output: i64,
}

fn rule() -> impl Strategy<Value = Rule> {
    (-3..8_i64, 0..8_i64, 0..5_i64).prop_map(|(low, length, output)| Rule { low, high: low + length, output })
}

/// What the standard says, put as simply as possible; nothing is a failure.
fn expected(policy: &str, rules: &[Rule], x: i64) -> Option<String> {
    let hits: Vec<i64> = rules.iter().filter(|rule| (rule.low..=rule.high).contains(&x)).map(|rule| rule.output).collect();
    if hits.is_empty() {
        return Some("null".to_owned());
    }
    let mut ranked = hits.clone();
    ranked.sort_by_key(|output| PRIORITIES.iter().position(|one| one == output));
    let list = |values: &[i64]| format!("[{}]", values.iter().map(i64::to_string).collect::<Vec<_>>().join(","));
    match policy {
        "UNIQUE" => (hits.len() == 1).then(|| hits[0].to_string()),
        "ANY" => hits.iter().all(|hit| *hit == hits[0]).then(|| hits[0].to_string()),
        "FIRST" => Some(hits[0].to_string()),
        "PRIORITY" => Some(ranked[0].to_string()),
        "RULE ORDER" | "COLLECT" => Some(list(&hits)),
        "OUTPUT ORDER" => Some(list(&ranked)),
        "SUM" => Some(hits.iter().sum::<i64>().to_string()),
        "MIN" => hits.iter().min().map(i64::to_string),
        "MAX" => hits.iter().max().map(i64::to_string),
        "COUNT" => Some(hits.len().to_string()),
        other => panic!("there is no policy {other}"),
    }
}

fn table(policy: &str, rules: &[(String, String)]) -> String {
    let policy = match policy {
        "SUM" | "MIN" | "MAX" | "COUNT" => format!(r#"hitPolicy="COLLECT" aggregation="{policy}""#),
        plain => format!(r#"hitPolicy="{plain}""#),
    };
    let mut xml = format!(
        r#"<definitions xmlns="https://www.omg.org/spec/DMN/20230324/MODEL/" id="g" name="g" namespace="n"><decision id="d"
        name="d"><decisionTable {policy}><input><inputExpression><text>x</text></inputExpression></input><output
        name="o"><outputValues><text>3, 1, 4, 0, 2</text></outputValues></output>"#
    );
    for (test, result) in rules {
        let [test, result] = [test, result].map(|text| text.replace('&', "&amp;").replace('<', "&lt;"));
        write!(xml, "<rule><inputEntry><text>{test}</text></inputEntry>").unwrap();
        write!(xml, "<outputEntry><text>{result}</text></outputEntry></rule>").unwrap();
    }
    xml + "</decisionTable></decision></definitions>"
}

fn variables(x: Value) -> Context {
    Context::empty().with("x".into(), x)
}

/// Words cells are made of, sensible or not.
fn cell() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("-"),
        Just("?"),
        Just("x"),
        Just("5"),
        Just("not("),
        Just(")"),
        Just("("),
        Just("["),
        Just("]"),
        Just(".."),
        Just("<"),
        Just(">="),
        Just("="),
        Just(","),
        Just("\"a\""),
        Just("null"),
        Just("true"),
        Just("and"),
        Just("function(x)"),
        Just("for x in"),
        Just("return"),
        Just("@\"P1D\""),
        Just("1e400"),
        Just("{a:"),
        Just("}"),
        Just("é✓"),
    ];
    proptest::collection::vec(word, 0..5).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn hit_policies_choose_as_the_standard_says(
        rules in proptest::collection::vec(rule(), 0..8),
        policy in proptest::sample::select(&POLICIES[..]),
        x in -4..16_i64,
    ) {
        let cells: Vec<(String, String)> =
            rules.iter().map(|rule| (format!("[{}..{}]", rule.low, rule.high), rule.output.to_string())).collect();
        let model = compile::dmn(table(policy, &cells).as_bytes()).unwrap();
        let evaluation = evaluate(&model, 0, &variables(Value::integer(x)), &Now::utc(0));
        prop_assert_eq!(evaluation.output.as_ref().ok().map(Value::to_json), expected(policy, &rules, x));
        let matching = rules.iter().enumerate().filter(|(_, rule)| (rule.low..=rule.high).contains(&x));
        let mut matching: Vec<usize> = matching.map(|(index, _)| index + 1).collect();
        if policy == "FIRST" {
            matching.truncate(1);
        }
        let reported: Vec<usize> = evaluation.decisions[0].rules.iter().map(|rule| rule.index).collect();
        prop_assert_eq!(reported, matching);
    }

    #[test]
    fn whatever_cells_hold_is_refused_or_evaluated(
        rules in proptest::collection::vec((cell(), cell()), 0..4),
        policy in proptest::sample::select(&POLICIES[..]),
        x in prop_oneof![Just("null"), Just("5"), Just("\"a\""), Just("[1, [2]]"), Just("{\"a\": {}}"), Just("true")],
    ) {
        let xml = table(policy, &rules);
        let x = Value::from_json(x).unwrap();
        let lenient = compile::dmn_standard(xml.as_bytes(), &[]).unwrap();
        let first = evaluate(&lenient, 0, &variables(x.clone()), &Now::utc(0));
        let again = evaluate(&lenient, 0, &variables(x.clone()), &Now::utc(0));
        prop_assert_eq!(first.output, again.output);
        if let Ok(deployed) = compile::dmn(xml.as_bytes()) {
            let evaluation = evaluate(&deployed, 0, &variables(x), &Now::utc(0));
            prop_assert_eq!(evaluation.decisions.len(), 1);
        }
    }
}

/// Not even at the end of a range: two evaluations would not give the same.
#[test]
fn functions_do_not_leave_a_decision() {
    for cell in
        ["function(x) \"a\"", "[ function(x) \"a\" ]", "< function(x) \"a\"", "= function(x) \"a\"", ">= [ function(x) 5 ]"]
    {
        let model = compile::dmn_standard(table("FIRST", &[("-".to_owned(), cell.to_owned())]).as_bytes(), &[]).unwrap();
        let [first, again] = [(), ()].map(|()| evaluate(&model, 0, &variables(Value::Null), &Now::utc(0)).output);
        assert_eq!(first, again, "{cell}");
        assert!(!format!("{first:?}").contains("Function"), "{cell}: {first:?}");
    }
}
