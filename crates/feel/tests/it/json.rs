//! JSON in and out.

use feel::json::decode_members;
use feel::{Context, Now, Value, parse};

fn evaluate(source: &str) -> Value {
    parse(source).unwrap().evaluate_in(&Context::empty(), &Now::utc(0)).unwrap()
}

#[test]
fn whole_numbers_have_no_fraction_and_lose_no_digit() {
    for text in ["0", "-1", "9223372036854775808", "-170141183460469231731687303715884105", "99999999999999999999999999"] {
        assert_eq!(Value::from_json(text).unwrap().to_json(), text);
    }
    assert_eq!(Value::from_json("1.0").unwrap().to_json(), "1");
    assert_eq!(Value::from_json("1e3").unwrap().to_json(), "1000");
    assert_eq!(Value::from_json("0.10").unwrap().to_json(), "0.1");
    assert_eq!(Value::from_json("1e-9").unwrap().to_json(), "1E-9");
}

#[test]
fn members_keep_their_order_and_the_last_of_a_name_counts() {
    let text = r#"{"b":1,"a":{"z":[],"y":null},"c":"x"}"#;
    assert_eq!(Value::from_json(text).unwrap().to_json(), text);
    assert_eq!(Value::from_json(r#"{"a":1,"b":2,"a":3}"#).unwrap().to_json(), r#"{"a":3,"b":2}"#);
    let many: Vec<String> = (0..100).map(|at| format!("\"k{}\":{at}", at % 50)).collect();
    let value = Value::from_json(&format!("{{{}}}", many.join(","))).unwrap();
    let context = value.as_context().unwrap();
    assert_eq!(context.len(), 50);
    assert_eq!(context.get("k7").and_then(Value::as_i64), Some(57));
    assert_eq!(&*context.entries()[0].0, "k0");
}

#[test]
fn temporal_values_are_texts() {
    let shown = |source: &str| evaluate(source).to_json();
    assert_eq!(shown(r#"date("2024-02-29")"#), r#""2024-02-29""#);
    assert_eq!(shown(r#"time("10:00:00")"#), r#""10:00""#);
    assert_eq!(shown(r#"time("10:00:30+02:00")"#), r#""10:00:30+02:00""#);
    assert_eq!(shown(r#"date and time("2024-02-29T10:00:00Z")"#), r#""2024-02-29T10:00:00Z""#);
    let zoned = r#"date and time("2024-06-01T12:00:00@Europe/Berlin")"#;
    assert_eq!(shown(zoned), r#""2024-06-01T12:00:00+02:00[Europe/Berlin]""#);
    assert_eq!(shown(r#"duration("PT36H")"#), r#""P1DT12H""#);
    assert_eq!(shown(r#"duration("P14M")"#), r#""P1Y2M""#);
}

#[test]
fn ranges_and_functions_are_null() {
    assert_eq!(evaluate("[function(x) x, [1..2]]").to_json(), "[null,null]");
    assert_eq!(evaluate("{a: 1, f: function(x) x}").to_json(), r#"{"a":1}"#);
}

#[test]
fn texts_are_escaped() {
    let text = "quote \" backslash \\ newline \n tab \t bell \u{7} é 😀";
    let json = Value::from(text).to_json();
    assert_eq!(json, r#""quote \" backslash \\ newline \n tab \t bell \u0007 é 😀""#);
    assert_eq!(Value::from_json(&json).unwrap(), Value::from(text));
    assert_eq!(Value::from_json(r#""\u00e9\ud83d\ude00\/""#).unwrap(), Value::from("é😀/"));
}

#[test]
fn mistakes_have_a_place() {
    let problem = |text: &str| Value::from_json(text).unwrap_err().to_string();
    assert_eq!(problem("[1,\n 2,]"), "line 2, column 4: expected a JSON value");
    assert_eq!(problem("{\"a\" 1}"), "line 1, column 6: expected ':'");
    assert_eq!(problem("\"open"), "line 1, column 6: string without an end");
    assert_eq!(problem("01"), "line 1, column 1: expected a number");
    assert_eq!(problem("1 2"), "line 1, column 3: expected the end");
    assert_eq!(problem(""), "line 1, column 1: expected a JSON value, found the end");
}

#[test]
fn only_the_members_asked_for_are_built() {
    let text = r#"{"big": [{"x": "}\"]"}, [1, 2]], "a": 1, "b": {"c": 2}, "last": null}"#;
    let found = decode_members(text, &["b", "missing", "a"]).unwrap();
    assert_eq!(found[0].as_ref().map(Value::to_json).as_deref(), Some(r#"{"c":2}"#));
    assert_eq!(found[1], None);
    assert_eq!(found[2], Some(Value::integer(1)));
    assert!(decode_members("[1]", &["a"]).is_err());
    assert!(decode_members(r#"{"a": 1"#, &["a"]).is_err());
    assert_eq!(decode_members("{}", &["a"]).unwrap(), vec![None]);
}
