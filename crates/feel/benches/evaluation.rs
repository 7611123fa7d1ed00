//! What parsing, evaluating and decoding cost. `cargo bench -p feel`

use feel::json::decode_members;
use feel::{Now, Value, parse};

fn main() {
    divan::main();
}

fn bench_evaluation(bencher: divan::Bencher<'_, '_>, source: &str, values: &[&str]) {
    let expression = parse(source).expect("the benchmark's expression parses");
    let values: Vec<Option<Value>> = values.iter().map(|json| Value::from_json(json).ok()).collect();
    let now = Now::utc(0);
    bencher.bench_local(|| expression.evaluate(divan::black_box(&values), &now));
}

/// A condition on a sequence flow, the commonest expression there is.
#[divan::bench]
fn evaluate_comparison(bencher: divan::Bencher<'_, '_>) {
    bench_evaluation(bencher, "amount > 100", &["250"]);
}

#[divan::bench]
fn evaluate_text_comparison(bencher: divan::Bencher<'_, '_>) {
    bench_evaluation(bencher, "status = \"approved\"", &["\"approved\""]);
}

#[divan::bench]
fn evaluate_conjunction_with_path(bencher: divan::Bencher<'_, '_>) {
    let customer = r#"{"name": "Ann", "level": "gold", "since": 2019}"#;
    bench_evaluation(bencher, "amount > 100 and customer.level = \"gold\"", &["250", customer]);
}

#[divan::bench]
fn evaluate_arithmetic(bencher: divan::Bencher<'_, '_>) {
    bench_evaluation(bencher, "price * quantity * 1.19", &["19.99", "3"]);
}

#[divan::bench]
fn evaluate_filter_of_100(bencher: divan::Bencher<'_, '_>) {
    let items: Vec<String> = (0..100).map(|at| format!(r#"{{"id": {at}, "price": {at}.5}}"#)).collect();
    bench_evaluation(bencher, "sum(items[price > 50].price)", &[&format!("[{}]", items.join(","))]);
}

#[divan::bench]
fn parse_comparison(bencher: divan::Bencher<'_, '_>) {
    bencher.bench(|| parse(divan::black_box("amount > 100 and customer.level = \"gold\"")));
}

/// Ten kilobytes of variables, as a process may have them.
fn document() -> String {
    let member = |at: usize| {
        format!(r#""member{at}": {{"id": {at}, "name": "Customer number {at}", "tags": ["a", "b"], "total": {at}.25}}"#)
    };
    let members: Vec<String> = (0..115).map(member).collect();
    format!(r#"{{{}, "amount": 250, "status": "approved"}}"#, members.join(", "))
}

#[divan::bench]
fn decode_two_members_of_10_kb(bencher: divan::Bencher<'_, '_>) {
    let text = document();
    assert!((10_000..11_000).contains(&text.len()), "{} bytes", text.len());
    bencher.bench_local(|| decode_members(divan::black_box(&text), &["amount", "status"]));
}

#[divan::bench]
fn decode_all_of_10_kb(bencher: divan::Bencher<'_, '_>) {
    let text = document();
    bencher.bench_local(|| Value::from_json(divan::black_box(&text)));
}
