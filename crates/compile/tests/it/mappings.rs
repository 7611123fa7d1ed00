//! What mappings give when they are evaluated, as recorded from Camunda 8.9: one row each of sources and targets, the
//! variables there, and the variables made.

use feel::{Now, Value};

const INPUTS: &[(&str, &str, &str)] = &[
    // Each mapping sees the ones before it.
    ("=a -> b, =b + 1 -> c, =c + 1 -> a", r#"{"a": 1, "b": 10}"#, r#"{"b":1,"c":2,"a":3}"#),
    // Nested targets make new objects; inside, the variable of that name is still the old one.
    ("=1 -> o.a, =2 -> o.b.c, =o.a + 1 -> o.d", r#"{"o": {"old": true}}"#, r#"{"o":{"a":1,"b":{"c":2},"d":null}}"#),
    ("=missing -> i", "{}", r#"{"i":null}"#),
    ("plain text -> i, 12 -> n", "{}", r#"{"i":"plain text","n":"12"}"#),
    (r#"a "b" \ c\n -> i"#, "{}", r#"{"i":"a \"b\" \\ c\\n"}"#),
    // A target mapped twice takes the later source, which cannot see the earlier one.
    ("=1 -> i, =i + 1 -> i", "{}", r#"{"i":null}"#),
    ("=1 -> i, =2 -> j, =3 -> i", "{}", r#"{"i":3,"j":2}"#),
    ("=1 -> o, =2 -> o.a", "{}", r#"{"o":{"a":2}}"#),
    ("=1 -> o.a, =2 -> o", "{}", r#"{"o":2}"#),
    // Words that FEEL keeps for itself are fine as names.
    ("=1 -> in, =2 -> o.and, =3 -> o.if.return", "{}", r#"{"in":1,"o":{"and":2,"if":{"return":3}}}"#),
    // A comment ends with its mapping.
    ("=1 // one -> a, =\"//\" -> b, =2 /* two */ -> c", "{}", r#"{"a":1,"b":"//","c":2}"#),
    ("=for i in 1..2, j in 1..2 return i * j -> a, =if true then 1 else 2 -> b", "{}", r#"{"a":[1,2,2,4],"b":1}"#),
];

const OUTPUTS: &[(&str, &str, &str)] = &[
    ("=a -> b", r#"{"a": 1, "b": 0}"#, r#"{"b":1}"#),
    (
        "=r.x -> o.x, =r.y -> o.deep.y",
        r#"{"r": {"x": 1, "y": 2}, "o": {"x": 0, "old": true, "deep": {"z": 1}}}"#,
        r#"{"o":{"x":1,"old":true,"deep":{"z":1,"y":2}}}"#,
    ),
    ("=r.x -> o.x, =r.y -> o.deep.y", r#"{"r": {"x": 1, "y": 2}}"#, r#"{"o":{"x":1,"deep":{"y":2}}}"#),
    ("=r.y -> o.deep.y", r#"{"r": {"y": 2}, "o": {"x": 0}}"#, r#"{"o":{"x":0,"deep":{"y":2}}}"#),
    // An output into something that is no object.
    ("=1 -> o.x", r#"{"o": 5}"#, r#"{"o":null}"#),
    ("=r -> o, =o + 1 -> o", r#"{"r": 5}"#, r#"{"o":null}"#),
    ("=1 -> o.or.not", r#"{"o": {"or": {"and": 2}}}"#, r#"{"o":{"or":{"and":2,"not":1}}}"#),
];

#[test]
fn inputs() {
    for row in INPUTS {
        assert_eq!(evaluated("input", row), row.2, "{}", row.0);
    }
}

#[test]
fn outputs() {
    for row in OUTPUTS {
        assert_eq!(evaluated("output", row), row.2, "{}", row.0);
    }
}

fn evaluated(way: &str, (mappings, variables, _): &(&str, &str, &str)) -> String {
    let escaped = mappings.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
    let xml: String =
        split(&escaped).map(|(source, target)| format!(r#"<zeebe:{way} source="{source}" target="{target}"/>"#)).collect();
    let file = format!(
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">
        <process id="p" isExecutable="true"><startEvent id="s"/><serviceTask id="t"><extensionElements>
        <zeebe:taskDefinition type="t"/><zeebe:ioMapping>{xml}</zeebe:ioMapping></extensionElements></serviceTask></process></definitions>"#
    );
    let compiled = compile::bpmn(file.as_bytes()).unwrap_or_else(|diagnostics| panic!("{mappings}: {}", diagnostics[0]));
    let task = &compiled.processes[0].elements[2];
    let context = if way == "input" { &task.inputs } else { &task.outputs }.as_ref().unwrap();
    let variables = Value::from_json(variables).unwrap();
    context.evaluate_in(variables.as_context().unwrap(), &Now::utc(0)).unwrap().to_json()
}

/// `source -> target, source -> target`; a comma divides only where a target ends.
fn split(mappings: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = mappings;
    std::iter::from_fn(move || {
        let (source, after) = rest.split_once(" -> ")?;
        let (target, more) = after.split_once(", ").unwrap_or((after, ""));
        rest = more;
        Some((source, target))
    })
}
