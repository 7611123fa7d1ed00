//! Hostile input gets an error: not a panic, not an overflowing stack, not a hang.

use feel::limits::{BYTES_MAX, MESSAGE_BYTES_MAX, STEPS_MAX, WARNINGS_MAX};
use feel::{Budget, Context, Dialect, Error, Limit, Now, Value, parse, parse_unary_tests, parse_with, parse_workflow};

fn evaluate(source: &str) -> Result<Value, Error> {
    parse(source).unwrap().evaluate_in(&Context::empty(), &Now::utc(0))
}

fn limit(source: &str) -> Limit {
    limit_of(source, STEPS_MAX)
}

/// The limit that is reached with so many steps.
fn limit_of(source: &str, steps: u64) -> Limit {
    let mut budget = Budget::new(steps, BYTES_MAX);
    match parse(source).unwrap().evaluate_within(&[], &Now::utc(0), &mut budget, None) {
        Err(Error::Limit(limit)) => limit,
        other => panic!("{}: {other:?}", source.chars().take(200).collect::<String>()),
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
        let expression = parse(&format!(r#"matches("{text}!", "{pattern}")"#)).unwrap();
        let mut budget = Budget::default();
        let value = expression.evaluate_within(&[], &Now::utc(0), &mut budget, None);
        assert!(matches!(value, Ok(Value::Null | Value::Bool(false))), "{pattern}: {value:?}");
        // What can be done in a few moves for each character is; the rest was not for free.
        let linear = pattern == "^(a+)+$";
        assert_eq!(STEPS_MAX - budget.steps_left() < 10_000, linear, "{pattern}");
    }
    assert_eq!(evaluate(r#"matches("x", "((((x{1000}){1000}){1000}){1000})")"#), Ok(Value::Null));
    // Every match looks to the end of the text.
    let far = format!(r#"extract("{}", ".*[^A-Z]|[A-Z]")"#, "A".repeat(10_000));
    assert_eq!(limit_of(&far, STEPS_MAX / 10), Limit::Steps);
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

/// A text of 16 << `doublings` bytes as `big`, and what an expression makes of it.
fn doubled(doublings: usize, expression: &str) -> String {
    let mut source = String::from(r#"{a0: "0123456789abcdef", "#);
    for at in 1..=doublings {
        source += &format!("a{at}: a{} + a{}, ", at - 1, at - 1);
    }
    source + &format!("big: a{doublings}, r: {expression}}}.r")
}

/// Steps and bytes an expression takes, and what comes of it.
fn used(source: &str, dialect: Dialect) -> (u64, u64, Result<Value, Error>) {
    let expression = parse_with(source, dialect).unwrap();
    let mut budget = Budget::default();
    let values = vec![None; expression.variables().len()];
    let result = expression.evaluate_within(&values, &Now::utc(0), &mut budget, None);
    (STEPS_MAX - budget.steps_left(), BYTES_MAX - budget.bytes_left(), result)
}

#[test]
fn work_on_large_texts_is_charged_for() {
    let doublings = 16;
    let (made, ..) = used(&doubled(doublings, "1"), Dialect::Camunda);
    for call in [
        "substring before(big, \"zz\")",
        "number(big)",
        "contains(big, \"zz\")",
        "upper case(big)",
        "is blank(big)",
        "date(big)",
        "duration(big)",
        "from base64(big)",
        "from json(big)",
        "to json(big)",
        "split(big, \"zz\")",
        "big + \"z\" < big",
        "big = big + \"z\"",
        "big in [\"\"..big]",
        "max(big, big)",
    ] {
        let (steps, ..) = used(&doubled(doublings, call), Dialect::Camunda);
        assert!(made + (16 << doublings) / 256 <= steps, "{call}: {} steps", steps - made);
    }
    // A loop over such calls ends.
    assert_eq!(limit(&doubled(20, "for i in 1..100 return number(big)")), Limit::Steps);
    assert_eq!(limit(&doubled(20, "for i in 1..100 return contains(big, \"zz\")")), Limit::Steps);
}

#[test]
fn work_on_lists_and_contexts_is_charged_for() {
    let per_item = |source: &str, items: u64, dialect| {
        let (steps, _, result) = used(source, dialect);
        assert!(!matches!(result, Err(_) | Ok(Value::Null)), "{source}: {result:?}");
        assert!(items <= steps, "{source}: {steps} steps");
        assert!(steps < 100 * items, "{source}: {steps} steps");
    };
    let entries = "for i in 1..5000 return {key: string(i), value: i}";
    for dialect in [Dialect::Camunda, Dialect::Dmn] {
        per_item(&format!("context({entries})"), 5_000, dialect);
        per_item(&format!("context merge({entries})"), 5_000, dialect);
        per_item(&format!("get entries(context({entries}))"), 10_000, dialect);
        per_item(&format!("context({entries}) = context({entries})"), 15_000, dialect);
        per_item("(for i in 1..5000 return i) instance of list<number>", 10_000, dialect);
        per_item("median(for i in 1..5000 return i)", 15_000, dialect);
        per_item("append([], for i in 1..5000 return i)", 5_000, dialect);
        per_item("5000 in (for i in 1..5000 return i)", 10_000, dialect);
        per_item(&format!("{{f: function({0}) 1, r: f({1})}}.r", names(500, ""), names(500, ": 1")), 20_000, dialect);
        per_item(&vec!["1"; 50_000].join(" + "), 50_000, dialect);
        per_item(&vec!["true"; 50_000].join(" and "), 50_000, dialect);
        per_item(&format!("[{}]", vec!["1"; 50_000].join(", ")), 50_000, dialect);
    }
}

fn names(count: usize, behind: &str) -> String {
    (0..count).map(|at| format!("parameter{at}{behind}")).collect::<Vec<_>>().join(", ")
}

#[test]
fn work_on_numbers_is_charged_for() {
    let numbers = [
        ("1.0000000001 ** 999999999", 30),
        ("1 / 3", 4),
        ("2 ** 0.5", 8),
        ("sqrt(2)", 8),
        ("modulo(1e999999, 7)", 20),
        ("odd(1e999999)", 20),
        ("1.234567890123456789012345678901234 * 1.234567890123456789012345678901234", 4),
    ];
    for (source, least) in numbers {
        let (steps, ..) = used(source, Dialect::Camunda);
        assert!(least <= steps, "{source}: {steps} steps");
    }
    assert_eq!(limit_of("for i in 1..2000 return 1.0000000001 ** 999999999", STEPS_MAX / 50), Limit::Steps);
    // Large exponents are right, not refused.
    assert_eq!(evaluate("2 ** 100"), evaluate("1267650600228229401496703205376"));
    assert_eq!(evaluate("10 ** 999999"), evaluate("1e999999"));
    assert_eq!(evaluate("modulo(1e999999, 7)"), Ok(Value::integer(6)));
    assert_eq!(evaluate("modulo(12345e40, 997)"), Ok(Value::integer(574)));
    assert_eq!(evaluate("modulo(123456789e500, 1000000007)"), Ok(Value::integer(598282273)));
    assert_eq!(evaluate("modulo(5e300, 12345678901234567890123456789)"), evaluate("1797054300179705430017970548"));
    assert_eq!(evaluate("even(1e999999)"), Ok(Value::Bool(true)));
}

#[test]
fn bytes_of_values_are_bounded() {
    // Texts that nobody keeps.
    assert_eq!(limit(&doubled(16, "for i in 1..1000 return is defined(big + string(i))")), Limit::Bytes);
    // A list in itself many times, made flat.
    let nested = "for i in 1..17 return if i = 1 then [1] else [partial[-1], partial[-1]]";
    let (_, bytes, _) = used(&format!("flatten(({nested})[-1])"), Dialect::Camunda);
    assert!(32 << 16 <= bytes, "{bytes} bytes");
    // JSON in which two bytes are a value of forty times as many.
    let empty = "string join(for i in 1..100000 return \"[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[]\", \",\")";
    assert_eq!(limit(&format!("from json(\"[\" + {empty} + \"]\")")), Limit::Bytes);
    // A function is written with its parameters.
    let function = format!("function({}) 1", names(10_000, ""));
    assert_eq!(limit(&format!("{{f: {function}, r: string(for i in 1..10000 return f)}}.r")), Limit::Size);
    let (_, bytes, result) = used("for i in 1..1000 return [i]", Dialect::Camunda);
    assert!(result.is_ok() && (64_000..1_000_000).contains(&bytes), "{bytes} bytes");
}

#[test]
fn json_is_written_within_a_budget() {
    // A character of a text may be six of JSON.
    let value = Value::string("\u{1}".repeat(100_000));
    assert_eq!(value.to_json_within(&mut Budget::new(STEPS_MAX, 500_000)), Err(Error::Limit(Limit::Bytes)));
    let mut budget = Budget::new(STEPS_MAX, 700_000);
    let json = value.to_json_within(&mut budget).unwrap();
    assert_eq!((json.len(), budget.bytes_left()), (600_002, 99_998));
    assert_eq!(Value::from_json_within(&json, &mut Budget::new(STEPS_MAX, 50_000)), Err(Error::Limit(Limit::Bytes)));
    assert_eq!(Value::from_json_within(&json, &mut Budget::new(1_000, BYTES_MAX)), Err(Error::Limit(Limit::Steps)));
    assert_eq!(Value::from_json_within(&json, &mut Budget::default()), Ok(value));
    assert!(matches!(Value::from_json_within("[1", &mut Budget::default()), Err(Error::Invalid(_))));
}

#[test]
fn evaluations_share_a_budget() {
    let expression = parse("sum(for i in 1..10000 return i)").unwrap();
    let mut budget = Budget::new(100_000, BYTES_MAX);
    let mut done = 0;
    let error = loop {
        match expression.evaluate_within(&[], &Now::utc(0), &mut budget, None) {
            Ok(_) => done += 1,
            Err(error) => break error,
        }
        assert!(done < 10, "each of them takes more than ten thousand steps");
    };
    assert!(0 < done && error.is_limit() && error == Error::Limit(Limit::Steps), "{done}: {error}");
    assert!(!Error::NoInput.is_limit());
    // What failed deep inside leaves the others their depth.
    let deep = parse("{f: function(g, n) g(g, n + 1), r: f(f, 0)}.r").unwrap();
    let mut budget = Budget::default();
    for _ in 0..3 {
        assert_eq!(deep.evaluate_within(&[], &Now::utc(0), &mut budget, None), Err(Error::Limit(Limit::Depth)));
    }
    assert_eq!(expression.evaluate_within(&[], &Now::utc(0), &mut budget, None), Ok(Value::integer(50_005_000)));
}

#[test]
fn messages_are_bounded() {
    let sources = [
        "for i in 1..200 return number(big)",
        "for i in 1..200 return decimal(1, 1, big)",
        "for i in 1..200 return number(\"1\", big)",
        "for i in 1..200 return replace(\"a\", \"a\", \"$9\" + big)",
        "for i in 1..200 return matches(\"a\", \"(\" + big)",
        "for i in 1..200 return matches(\"a\", \"a\", 1)",
        "for i in 1..200 return context put({}, big, 1).x",
        "for i in 1..200 return {a: [big, big]} + 1",
        "for i in 1..200 return abs(big)",
        "for i in 1..200 return date(big)",
    ];
    for source in sources {
        let mut warnings = Vec::new();
        let expression = parse(&doubled(6, source)).unwrap();
        expression.evaluate_with(&[], &Now::utc(0), &mut warnings).unwrap();
        assert_eq!(warnings.len(), WARNINGS_MAX, "{source}");
        let longest = warnings.iter().map(|warning| warning.message.len()).max().unwrap();
        assert!(longest <= MESSAGE_BYTES_MAX, "{source}: {longest} bytes");
    }
    let Err(Error::Assertion(reason)) = evaluate(&doubled(10, "assert(1, false, big)")) else {
        panic!("it is not fulfilled");
    };
    assert!(reason.len() <= MESSAGE_BYTES_MAX && reason.ends_with('…'), "{reason}");
    // The beginning is quoted, not a description.
    let mut warnings = Vec::new();
    parse(&doubled(16, "number(big)")).unwrap().evaluate_with(&[], &Now::utc(0), &mut warnings).unwrap();
    assert!(warnings[0].message.starts_with("function 'number' failed: '0123456789abcdef0123"), "{}", warnings[0]);
    assert!(warnings[0].message.contains("…'"), "{}", warnings[0]);
}

#[test]
fn names_that_do_not_exist_are_quoted_by_their_beginning() {
    let name = "x".repeat(100_000);
    for source in [name.clone(), format!("{name}(1)"), format!("{{a: 1}}.{name}"), format!("[{{a: 1}}][{name} = 1]")] {
        let mut warnings = Vec::new();
        let expression = parse(&source).unwrap();
        expression.evaluate_with(&vec![None; expression.variables().len()], &Now::utc(0), &mut warnings).unwrap();
        let longest = warnings.iter().chain(expression.notes()).map(|warning| warning.message.len()).max().unwrap();
        assert!((1..=MESSAGE_BYTES_MAX).contains(&longest), "{longest} bytes");
    }
    let strict = parse_workflow(&name).unwrap().evaluate(&[None], &Now::utc(0)).unwrap_err();
    assert!(strict.to_string().len() <= MESSAGE_BYTES_MAX);
}

#[test]
fn many_names_are_found_at_once() {
    let many = |between: &str| (0..50_000).map(|at| format!("x{at}")).collect::<Vec<_>>().join(between);
    let nested = format!("{}{}{}", "list[".repeat(90), many("+"), "]".repeat(90));
    assert_eq!(parse(&nested).unwrap().variables().len(), 50_001);
    let captured = format!("(function(y) [{}])(1)", many(","));
    assert_eq!(parse(&captured).unwrap().variables().len(), 50_000);
    let entries = (0..50_000).map(|at| format!("x{at}: y")).collect::<Vec<_>>().join(", ");
    assert_eq!(parse(&format!("{{{entries}}}")).unwrap().variables().len(), 1);
}
