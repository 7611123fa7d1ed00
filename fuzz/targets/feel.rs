//! Any text as an expression, as unary tests and as a JSON-workflow expression, in both dialects, over a small context: nothing may
//! panic or hang, printing is the identity, and a result survives JSON.
#![no_main]

use feel::{Dialect, Now, Value, format, parse_unary_tests, parse_with, parse_workflow};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|source: &str| {
    let now = Now::utc(1_714_979_289_000).seeded(7);
    let context = Value::from_json(r#"{"a": 1, "b": "x", "c": [1, {"a": 2}], "d": {"e": null}}"#).expect("it is JSON");
    let context = context.as_context().expect("it is an object");
    for dialect in [Dialect::Camunda, Dialect::Dmn] {
        if let Ok(expression) = parse_with(source, dialect) {
            let mut warnings = Vec::new();
            if let Ok(value) = expression.evaluate_in_with(context, &now, &mut warnings) {
                Value::from_json(&value.to_json()).expect("a result is JSON");
            }
            let printed = format(source, dialect).expect("what parses can be printed");
            let again = format(&printed, dialect);
            assert_eq!(again.as_deref(), Ok(&*printed), "printing is the identity");
        }
        if let Ok(tests) = parse_unary_tests(source, dialect) {
            let _ = tests.evaluate_in(context, &now);
        }
    }
    if let Ok(expression) = parse_workflow(source) {
        let _ = expression.evaluate_in(context, &now);
    }
    if let Ok(value) = Value::from_json(source) {
        assert_eq!(Value::from_json(&value.to_json()).as_ref(), Ok(&value), "JSON there and back");
    }
});
