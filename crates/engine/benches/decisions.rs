//! What compiling and evaluating decisions costs. `cargo bench -p engine`

use std::fmt::Write as _;

use engine::decision::evaluate;
use feel::{Context, Now, Value};
use model::Requirements;

fn main() {
    divan::main();
}

/// A table of two inputs and two outputs; the last rule matches.
fn table(rules: usize) -> String {
    let mut xml = String::from(
        r#"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="g" name="g" namespace="n"><decision id="d"
        name="d"><decisionTable><input><inputExpression><text>amount</text></inputExpression></input><input>
        <inputExpression><text>customer.level</text></inputExpression></input><output name="percent"/><output name="reason"/>"#,
    );
    for rule in 0..rules {
        let tests = format!("<inputEntry><text>[{rule}..{})</text></inputEntry>", rule + 1);
        let level = r#"<inputEntry><text>"gold", "silver"</text></inputEntry>"#;
        let results =
            format!("<outputEntry><text>{rule} / 2</text></outputEntry><outputEntry><text>\"tier\"</text></outputEntry>");
        write!(xml, "<rule>{tests}{level}{results}</rule>").expect("a string takes every text");
    }
    xml + "</decisionTable></decision></definitions>"
}

fn compiled(rules: usize) -> Requirements {
    compile::dmn(table(rules).as_bytes()).expect("the benchmark's table compiles")
}

#[divan::bench(args = [10, 100, 1000])]
fn evaluate_table_of(bencher: divan::Bencher<'_, '_>, rules: usize) {
    let model = compiled(rules);
    let customer = Value::from_json(r#"{"level": "silver"}"#).expect("this is JSON");
    let variables = Context::empty().with("amount".into(), Value::integer(rules as i64 - 1)).with("customer".into(), customer);
    let now = Now::utc(0);
    bencher.bench_local(|| evaluate(&model, 0, divan::black_box(&variables), &now));
}

#[divan::bench(args = [10, 1000])]
fn compile_table_of(bencher: divan::Bencher<'_, '_>, rules: usize) {
    let xml = table(rules);
    bencher.bench_local(|| compile::dmn(divan::black_box(xml.as_bytes())).is_ok());
}
