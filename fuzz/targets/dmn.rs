//! Any bytes as a DMN file: refused with diagnostics or compiled; then every decision is evaluated over a few variables, and nothing may
//! panic or hang.
#![no_main]

use feel::{Now, Value};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(model) = compile::dmn(bytes) else { return };
    let variables = Value::from_json(r#"{"a": 1, "amount": 250, "name": "x", "list": [1, {"a": 2}]}"#).expect("it is JSON");
    let variables = variables.as_context().expect("it is an object");
    for decision in 0..model.decisions.len() {
        let _ = engine::decision::evaluate(&model, decision, variables, &Now::utc(1_714_979_289_000).seeded(7));
    }
});
