//! Hostile input gets an error: not a panic, not an overflowing stack, not a hang.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use feel::{Context, Dialect, Error, Limit, Now, Value, parse, parse_unary_tests, parse_with, parse_workflow};

fn evaluate(source: &str) -> Result<Value, Error> {
    parse(source).unwrap().evaluate_in(&Context::empty(), &Now::utc(0))
}

fn limit(source: &str) -> Limit {
    match evaluate(source) {
        Err(Error::Limit(limit)) => limit,
        other => panic!("{source}: {other:?}"),
    }
}

#[test]
fn nesting_of_the_source_is_bounded() {
    let shapes = [
        ("(", "1", ")"),
        ("[", "1", "]"),
        ("{a: ", "1", "}"),
        ("-", "x", ""),
        ("not(", "true", ")"),
        ("if true then ", "1", " else 2"),
        ("for i in [1] return ", "1", ""),
        ("some i in ", "[1]", " satisfies true"),
        ("function(x) ", "1", ""),
        ("x[", "1", "]"),
        ("1 in (", "1", ")"),
        ("1 + (", "1", ")"),
        ("x instance of list<", "number", ">"),
    ];
    for (open, middle, close) in shapes {
        for dialect in [Dialect::Camunda, Dialect::Dmn] {
            let deep = open.repeat(5_000) + middle + &close.repeat(5_000);
            assert!(parse_with(&deep, dialect).is_err(), "{open}");
            assert!(parse_unary_tests(&deep, dialect).is_err(), "{open}");
        }
    }
    for (open, middle, close) in [("(", "1", ")"), ("!", "x", ""), ("-", "x", ""), ("len(", "x", ")")] {
        assert!(parse_workflow(&(open.repeat(5_000) + middle + &close.repeat(5_000))).is_err(), "{open}");
    }
}

#[test]
fn height_of_the_tree_is_bounded() {
    let path = String::from("x") + &".a".repeat(5_000);
    let filters = String::from("x") + &"[1]".repeat(5_000);
    let calls = String::from("x") + &"()".repeat(5_000);
    let comparisons = String::from("1") + &" = 1".repeat(50_000);
    // Each level is short, but they add up.
    let steps = ".a".repeat(90);
    let nested = "(".repeat(90) + "x" + &format!("{steps})").repeat(90);
    for source in [path, filters, calls, comparisons, nested] {
        assert!(parse_with(&source, Dialect::Dmn).is_err(), "{}", &source[..20]);
    }
    // What is side by side does not add up.
    assert!(parse(&vec!["x.a.b.c[1] = 1"; 1_000].join(" and ")).is_ok());
    assert!(parse(&format!("[{}]", vec!["f(x.a.b.c)"; 1_000].join(", "))).is_ok());
    assert!(parse(&vec!["x.a.b"; 1_000].join(" + ")).is_ok());
}

#[test]
fn reasonable_nesting_works() {
    assert_eq!(evaluate(&("(".repeat(90) + "1" + &")".repeat(90))), Ok(Value::integer(1)));
    let nested = evaluate(&("[".repeat(90) + "1" + &"]".repeat(90))).unwrap();
    assert_eq!(nested.to_json(), "[".repeat(90) + "1" + &"]".repeat(90));
    assert!(evaluate(&("{a: ".repeat(90) + "1" + &"}".repeat(90))).is_ok());
}

#[test]
fn long_chains_are_not_deep() {
    assert_eq!(evaluate(&vec!["1"; 50_000].join(" + ")), Ok(Value::integer(50_000)));
    assert_eq!(evaluate(&vec!["true"; 50_000].join(" and ")), Ok(Value::Bool(true)));
    assert_eq!(evaluate(&vec!["false"; 50_000].join(" or ")), Ok(Value::Bool(false)));
    let conditions = "if false then 1 else ".repeat(20_000) + "2";
    assert_eq!(evaluate(&conditions), Ok(Value::integer(2)));
}

#[test]
fn steps_are_bounded() {
    assert_eq!(limit("some i in 1..1000000000000 satisfies false"), Limit::Steps);
    assert_eq!(limit("some a in 1..3000, b in 1..3000, c in 1..3000 satisfies false"), Limit::Steps);
    assert_eq!(limit("distinct values(for i in 1..20000 return i)"), Limit::Steps);
    assert_eq!(limit("every i in 1..100000000 satisfies true"), Limit::Steps);
}

#[test]
fn recursion_is_bounded() {
    assert_eq!(limit("{f: function(g, n) g(g, n + 1), r: f(f, 0)}.r"), Limit::Depth);
    assert_eq!(limit("{f: function(g, n) if n < 0 then 0 else 1 + g(g, n + 1), r: f(f, 0)}.r"), Limit::Depth);
    assert_eq!(limit("{f: function(g, l) [g(g, l)[item = 1]], r: f(f, 0)}.r"), Limit::Depth);
    assert_eq!(limit("{f: function(g) {a: for i in [1] return some x in [1] satisfies g(g)}, r: f(f)}.r"), Limit::Depth);
    assert_eq!(limit("{f: function(g) sort([2, 1], function(a, b) g(g)), r: f(f)}.r"), Limit::Depth);
}

#[test]
fn sizes_are_bounded() {
    assert_eq!(limit("for i in 1..1000000000000 return i"), Limit::Size);
    // A text that doubles with every round.
    let doubling = r#"for i in 1..100 return if i = 1 then "0123456789" else partial[-1] + partial[-1]"#;
    assert_eq!(limit(doubling), Limit::Size);
    let large = "string join(for i in 1..100000 return \"0123456789\")";
    assert_eq!(limit(&format!("replace({large}, \".+\", \"{}\")", "$0".repeat(1_000))), Limit::Size);
    // Lists that hold the one before twice: small in memory, but not when written out.
    assert_eq!(limit("for i in 1..60 return if i = 1 then [1] else [partial[-1], partial[-1]]"), Limit::Size);
    assert_eq!(limit("for i in 1..2000 return if i = 1 then [1] else [partial[-1]]"), Limit::Nesting);
    assert_eq!(limit(r#"for i in 1..2000 return if i = 1 then {} else context put({}, "a", partial[-1])"#), Limit::Nesting);
}

#[test]
fn patterns_that_explode_are_given_up() {
    let text = "a".repeat(60);
    for pattern in [r"^(a+)+$", r"(a*)*\\1b", r"(?=(a+)+b)a", r"(a|aa)+(?!a)b", r"(?:(a+)\\1?)+b"] {
        let value = evaluate(&format!(r#"matches("{text}!", "{pattern}")"#));
        assert!(matches!(value, Ok(Value::Null | Value::Bool(false))), "{pattern}: {value:?}");
        let many = format!(r#"for i in 1..5000 return matches("{text}!" + string(i), "{pattern}")"#);
        let linear = pattern == "^(a+)+$";
        assert_eq!(evaluate(&many).is_ok(), linear, "{pattern}");
    }
    assert_eq!(evaluate(r#"matches("x", "((((x{1000}){1000}){1000}){1000})")"#), Ok(Value::Null));
}

#[test]
fn json_is_bounded() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    assert!(Value::from_json(&deep).is_err());
    let deep = "{\"a\":".repeat(100_000) + "1" + &"}".repeat(100_000);
    assert!(Value::from_json(&deep).is_err());
    assert!(feel::json::decode_members(&format!("{{\"x\": {deep}}}"), &["y"]).is_ok());
    assert!(Value::from_json("1e999999999").is_err());
    assert_eq!(evaluate("10 ** 999999 * 10 ** 999999"), Ok(Value::Null));
}
