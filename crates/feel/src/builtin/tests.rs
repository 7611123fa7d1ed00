//! Every built-in charges for what it looks through and for what it makes.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::{Available, Builtin, Fault, Overload, table};
use crate::budget::Budget;
use crate::dialect::{Dialect, Library};
use crate::eval::{Machine, Policy};
use crate::expression::parse_with;
use crate::now::Now;
use crate::value::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes of large texts, and 32 times the items of large lists and contexts.
const LARGE: usize = 4_096;
/// Bytes of a large argument that one step may be charged for at most. Texts are compared with each other at this rate.
const BYTES_PER_STEP_MAX: u64 = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Text,
    List,
    Context,
}

/// What is handed on, or looked at in one place or from the outside only: there is nothing to charge for its size.
const UNTOUCHED: &[(&str, usize, Kind)] = &[
    ("not", 0, Kind::Text),
    ("not", 0, Kind::List),
    ("not", 0, Kind::Context),
    ("string", 0, Kind::Text),
    ("count", 0, Kind::List),
    ("is empty", 0, Kind::List),
    ("len", 0, Kind::List),
    ("len", 0, Kind::Context),
    ("contains", 0, Kind::Context),
    ("get value", 0, Kind::Context),
    ("number", 1, Kind::Text),
    ("number", 2, Kind::Text),
    ("number", 2, Kind::List),
    ("number", 2, Kind::Context),
    ("matches", 2, Kind::Text),
    ("replace", 3, Kind::Text),
    ("decimal", 2, Kind::Text),
];

/// Functions that hand on any argument.
const HAND_ON: &[&str] = &["is defined", "get or else", "assert", "fromAi"];
/// Parameters for a list, where another value is a list of one, and for what goes into a list as it is.
const LISTS: &[&str] = &["list", "lists", "contexts", "entries"];
const ITEMS: &[&str] = &["item", "items", "newItem"];

fn value(source: &str) -> Value {
    parse_with(source, Dialect::Dmn).unwrap().evaluate(&[], &Now::utc(0)).unwrap()
}

fn large_values() -> Vec<(Kind, Value)> {
    let items = LARGE / 32;
    let text = |text: &str| (Kind::Text, Value::string(text.repeat(LARGE / text.len())));
    let list = |item: &str| (Kind::List, value(&format!("for i in 1..{items} return {item}")));
    let entries: Vec<(Arc<str>, Value)> = (0..items).map(|at| (Arc::from(format!("k{at}")), Value::integer(1))).collect();
    vec![
        text("1"),
        text("é"),
        (Kind::Text, Value::string(format!("[{}1]", "1,".repeat(LARGE / 2)))),
        list("i"),
        list("\"text\""),
        list("true"),
        list("[i]"),
        list("{key: string(i), value: i}"),
        (Kind::Context, Value::Context(entries.into())),
    ]
}

fn small_values() -> Vec<Value> {
    let sources = [
        "null",
        "1",
        "2",
        "true",
        "\"z\"",
        "\"\"",
        "\",\"",
        "[1]",
        "[\"z\"]",
        "[[1]]",
        "{a: 1}",
        "function(a, b) a < b",
        "[1..3]",
        "@\"2024-01-01\"",
        "@\"P1D\"",
    ];
    sources.into_iter().map(value).collect()
}

fn size(value: &Value) -> u64 {
    match value {
        Value::String(text) => text.len() as u64,
        Value::List(list) => 32 * list.len() as u64,
        Value::Context(context) => 32 * context.len() as u64,
        _ => 0,
    }
}

fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::String(a), Value::String(b)) => Arc::ptr_eq(a, b),
        (Value::List(a), Value::List(b)) => a.same(b),
        (Value::Context(a), Value::Context(b)) => a.same(b),
        _ => false,
    }
}

/// Steps and bytes a call takes; nothing if it does not take such arguments.
fn call(overload: &Overload, dialect: Dialect, arguments: &[Value]) -> Option<(u64, u64)> {
    let now = Now::utc(0);
    let mut budget = Budget::new(u64::MAX, u64::MAX);
    let mut machine = Machine::new(&[], &[], &now, (dialect, Policy::Tolerant), &mut budget);
    let gathered = overload.gathered(arguments.to_vec());
    let outcome = (overload.run)(&mut machine, &gathered);
    let (steps, bytes) = (u64::MAX - budget.steps_left(), u64::MAX - budget.bytes_left());
    match outcome {
        Err(Fault::Arguments) => None,
        Err(Fault::Reason(reason)) => {
            assert!(reason.len() < 1_000, "a message quotes too much: {} bytes", reason.len());
            Some((steps, bytes))
        }
        Err(Fault::Error(_)) => Some((steps, bytes)),
        Ok(value) => {
            let large = LARGE as u64 / 4 < size(&value);
            let made = !gathered.iter().chain(arguments).any(|argument| same(argument, &value));
            assert!(!large || !made || size(&value) <= bytes, "{overload:?} makes {} bytes, but takes {bytes}", size(&value));
            Some((steps, bytes))
        }
    }
}

/// The most steps charged for one large argument, whatever the others are.
fn charged(overload: &Overload, dialect: Dialect, at: usize, large: &Value, small: &[Value]) -> Option<u64> {
    let others = overload.parameters.len() - 1;
    let small: Vec<Value> = small.iter().cloned().chain([large.clone(), Value::list(vec![large.clone()])]).collect();
    let rounds = small.len().pow(u32::try_from(others.min(2)).unwrap());
    let calls = (0..rounds).filter_map(|round| {
        // Of more than two others, the rest are as the first.
        let mut others = (0..others).map(|other| match other {
            1 => &small[round / small.len()],
            _ => &small[round % small.len()],
        });
        let given = (0..=others.len()).map(|place| if place == at { large } else { others.next().unwrap() });
        call(overload, dialect, &given.cloned().collect::<Vec<_>>())
    });
    calls.map(|(steps, _)| steps).max()
}

fn dialects(builtin: &Builtin) -> &'static [Dialect] {
    match builtin.available {
        Available::Everywhere => &[Dialect::Camunda, Dialect::Dmn],
        Available::Only(Library::Feel(Dialect::Camunda)) => &[Dialect::Camunda],
        Available::Only(Library::Feel(Dialect::Dmn) | Library::Workflow) => &[Dialect::Dmn],
    }
}

#[test]
fn large_arguments_are_charged_for() {
    let (large_values, small) = (large_values(), small_values());
    let mut charges: BTreeMap<(&str, usize, Kind), u64> = BTreeMap::new();
    for builtin in table::ALL.iter().copied().flatten().filter(|builtin| !HAND_ON.contains(&builtin.name)) {
        for (overload, dialect) in
            builtin.overloads.iter().flat_map(|overload| dialects(builtin).iter().map(move |one| (overload, *one)))
        {
            for (at, parameter) in overload.parameters.iter().enumerate().filter(|(_, name)| !ITEMS.contains(name)) {
                let is_meant = |kind: Kind| kind == Kind::List || !LISTS.contains(parameter);
                for (kind, large) in large_values.iter().filter(|(kind, _)| is_meant(*kind)) {
                    if let Some(steps) = charged(overload, dialect, at, large, &small) {
                        let most = charges.entry((builtin.name, at, *kind)).or_default();
                        *most = steps.max(*most);
                    }
                }
            }
        }
    }
    let free = |steps: u64| steps < LARGE as u64 / BYTES_PER_STEP_MAX;
    let unpaid: Vec<String> = charges
        .iter()
        .filter(|(place, steps)| free(**steps) && !UNTOUCHED.contains(place))
        .map(|((name, at, kind), steps)| format!("{name}, argument {}, {kind:?}: {steps} steps", at + 1))
        .collect();
    assert!(unpaid.is_empty(), "large arguments that cost next to nothing:\n{}", unpaid.join("\n"));
    assert!(100 < charges.len(), "only {} places were tried", charges.len());
    let stale: Vec<_> = UNTOUCHED.iter().filter(|place| !charges.get(*place).is_some_and(|steps| free(*steps))).collect();
    assert!(stale.is_empty(), "not free any more: {stale:?}");
}
