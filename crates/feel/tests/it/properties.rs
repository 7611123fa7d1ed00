//! What holds for expressions nobody wrote.

use feel::{Context, Dialect, Now, Number, Value, format, parse_unary_tests, parse_with, parse_workflow};
use proptest::prelude::*;

const DIALECTS: [Dialect; 2] = [Dialect::Camunda, Dialect::Dmn];

/// Evaluates if it parses; only a panic or a hang can fail here.
fn try_everything(source: &str) {
    let now = Now::utc(1_714_979_289_000);
    let context = Value::from_json(r#"{"a": 1, "b": "x", "c": [1, {"a": 2}], "d": {"e": null}}"#).unwrap();
    let context = context.as_context().unwrap();
    for dialect in DIALECTS {
        if let Ok(expression) = parse_with(source, dialect) {
            let mut warnings = Vec::new();
            if let Ok(value) = expression.evaluate_in_with(context, &now, &mut warnings) {
                let _ = Value::from_json(&value.to_json()).unwrap();
            }
        }
        if let Ok(tests) = parse_unary_tests(source, dialect) {
            let _ = tests.evaluate_in(context, &now);
        }
    }
    if let Ok(expression) = parse_workflow(source) {
        let _ = expression.evaluate_in(context, &now);
    }
}

fn evaluate(source: &str) -> Value {
    parse_with(source, Dialect::Camunda).unwrap().evaluate_in(&Context::empty(), &Now::utc(0)).unwrap()
}

/// Pieces of the language, two spaces apart.
const WORDS: &str = "a  b  c  d  item  partial  ?  1  -2.5  0  1e40  \"x\"  \"2024-02-29\"  true  null  +  -  *  /  **  =  \
    !=  <  <=  >  >=  and  or  in  between  instance of  if  then  else  for  return  some  every  satisfies  function(x)  (  \
    )  [  ]  {  }  :  ,  .  ..  @\"P1D\"  @\"10:00:00Z\"  @\"2024-02-29T10:00:00@Europe/Paris\"  not(  list<  `a b`  //  \
    /*  number  date(  ==  &&  ||  !  #a  ${a}  len(";

/// Pieces of the language, to be thrown together.
fn token() -> impl Strategy<Value = String> {
    let functions: Vec<String> = DIALECTS
        .into_iter()
        .flat_map(feel::functions)
        .map(|signature| {
            let arguments = ["1", "\"a\"", "[1, 2]", "{a: 1}", "c"].into_iter().cycle();
            let arguments: Vec<&str> = arguments.take(signature.parameters.len()).collect();
            format!("{}({})", signature.name, arguments.join(", "))
        })
        .collect();
    let words: Vec<&str> = WORDS.split("  ").collect();
    prop_oneof![prop::sample::select(words).prop_map(str::to_owned), prop::sample::select(functions),]
}

/// Well-formed expressions.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("a".to_owned()),
        Just("b.c".to_owned()),
        Just("null".to_owned()),
        any::<bool>().prop_map(|value| value.to_string()),
        (-1000i32..1000).prop_map(|number| number.to_string()),
        (0u32..1000, 0u32..100).prop_map(|(whole, fraction)| format!("{whole}.{fraction}")),
        "[a-z \\\\\"\n]{0,6}".prop_map(|text| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))),
        Just("@\"2024-02-29\"".to_owned()),
        Just("`odd name`".to_owned()),
    ];
    leaf.prop_recursive(5, 40, 3, |inner| {
        let operators = prop::sample::select(vec!["+", "-", "*", "/", "**", "=", "!=", "<", "<=", ">", ">=", "and", "or"]);
        prop_oneof![
            (inner.clone(), operators, inner.clone()).prop_map(|(a, operator, b)| format!("({a}) {operator} ({b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a}) + ({b}) * 2 - -({a})")),
            inner.clone().prop_map(|a| format!("-({a})")),
            inner.clone().prop_map(|a| format!("not({a})")),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("if {a} then {b} else {c}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("for x in [{a}, {b}] return ({b}) + x")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("some x in [{a}] satisfies x = ({b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("[{a}, {b}][item = ({a})]")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{{a: {a}, \"b c\": {b}}}.a")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a}) in (({b}), > ({a}), [1..({b})])")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a}) between ({b}) and 10")),
            inner.clone().prop_map(|a| format!("({a}) instance of list<number>")),
            inner.clone().prop_map(|a| format!("({a}) instance of context<a: number, `b: <`: string>")),
            inner.clone().prop_map(|a| format!("string join(list: [string({a})], delimiter: \"-\")")),
            inner.prop_map(|a| format!("(function(x, y: number) x = ({a}))(1, 2)")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_survived(source in "\\PC{0,60}") {
        try_everything(&source);
    }

    #[test]
    fn any_tokens_are_survived(tokens in prop::collection::vec(token(), 0..20)) {
        try_everything(&tokens.join(" "));
        try_everything(&tokens.concat());
    }

    #[test]
    fn printing_is_the_identity(source in expression()) {
        let printed = format(&source, Dialect::Camunda).unwrap();
        prop_assert_eq!(&format(&printed, Dialect::Camunda).unwrap(), &printed);
        let now = Now::utc(0);
        let evaluated = |source: &str| {
            parse_with(source, Dialect::Camunda).unwrap().evaluate_in(&Context::empty(), &now).map(|value| value.to_json())
        };
        prop_assert_eq!(evaluated(&source), evaluated(&printed), "{}", printed);
    }

    #[test]
    fn whole_numbers_agree_with_a_reference(a in -10i64.pow(16)..10i64.pow(16), b in -10i64.pow(16)..10i64.pow(16)) {
        let (wide_a, wide_b) = (i128::from(a), i128::from(b));
        let number = |value: i128| Value::Number(Number::parse(&value.to_string()).unwrap());
        prop_assert_eq!(evaluate(&format!("({a}) + ({b})")), number(wide_a + wide_b));
        prop_assert_eq!(evaluate(&format!("({a}) - ({b})")), number(wide_a - wide_b));
        prop_assert_eq!(evaluate(&format!("({a}) * ({b})")), number(wide_a * wide_b));
        prop_assert_eq!(evaluate(&format!("({a}) < ({b})")), Value::Bool(a < b));
        if b != 0 {
            prop_assert_eq!(evaluate(&format!("({a}) * ({b}) / ({b})")), number(wide_a));
            prop_assert_eq!(evaluate(&format!("modulo({a}, {b})")), number(wide_a.rem_euclid(wide_b) + if b < 0 && wide_a.rem_euclid(wide_b) != 0 { wide_b } else { 0 }));
        }
    }

    #[test]
    fn fractions_agree_with_a_reference(a in -10i64.pow(12)..10i64.pow(12), b in -10i64.pow(12)..10i64.pow(12), scale in 0u32..10) {
        // The same numbers scaled up to whole ones.
        let power = 10i64.pow(scale);
        let fraction = |value: i64| format!("(({value}) / {power})");
        let sum = evaluate(&format!("({} + {}) * {power}", fraction(a), fraction(b)));
        prop_assert_eq!(sum, Value::integer(a + b));
        let product = evaluate(&format!("{} * {} * {power} * {power}", fraction(a), fraction(b)));
        let expected = Number::parse(&(i128::from(a) * i128::from(b)).to_string()).unwrap();
        prop_assert_eq!(product, Value::Number(expected));
    }

    #[test]
    fn division_is_right_to_34_digits(a in 1u64.., b in 1u64..) {
        // The quotient times the divisor differs from the dividend by less than half a unit of the 34th digit.
        let back = evaluate(&format!("abs({a} / {b} * {b} - {a}) / {a} < {}", "0.000000000000000000000000000000002"));
        prop_assert_eq!(back, Value::Bool(true));
    }

    #[test]
    fn dates_agree_with_a_reference(days in -700_000i64..700_000, more in -50_000i64..50_000) {
        let first = jiff::civil::date(1970, 1, 1);
        let shown = |days: i64| first.checked_add(jiff::Span::new().days(days)).unwrap();
        let (start, end) = (shown(days), shown(days + more));
        let ours = evaluate(&format!("string(date(\"1970-01-01\") + duration(\"P1D\") * {days} + duration(\"P1D\") * {more})"));
        if 0 <= end.year() {
            prop_assert_eq!(ours, Value::from(end.to_string().as_str()));
            prop_assume!(0 <= start.year());
            let weekday = evaluate(&format!("date(\"{start}\").weekday"));
            prop_assert_eq!(weekday, Value::integer(i64::from(start.weekday().to_monday_one_offset())));
            let gap = evaluate(&format!("(date(\"{end}\") - date(\"{start}\")) / duration(\"P1D\")"));
            prop_assert_eq!(gap, Value::integer(more));
            let week = evaluate(&format!("week of year(date(\"{start}\"))"));
            prop_assert_eq!(week, Value::integer(i64::from(start.iso_week_date().week())));
        }
    }

    #[test]
    fn json_numbers_keep_their_digits(digits in "-?[1-9][0-9]{0,36}", fraction in "[0-9]{0,5}[1-9]", exponent in -20i32..20) {
        let whole = Value::from_json(&digits).unwrap();
        prop_assert_eq!(whole.to_json(), digits.clone());
        let short: String = digits.chars().take(20).collect();
        let text = format!("{short}.{fraction}");
        prop_assert_eq!(Value::from_json(&text).unwrap().to_json(), text.clone());
        let scaled = Value::from_json(&format!("{text}e{exponent}")).unwrap();
        prop_assert_eq!(Value::from_json(&scaled.to_json()).unwrap(), scaled);
    }

    #[test]
    fn json_texts_survive(text in any::<String>()) {
        let value = Value::from(text.as_str());
        prop_assert_eq!(Value::from_json(&value.to_json()).unwrap(), value);
    }

    #[test]
    fn any_json_is_survived(text in "[\\[\\]{}\":,0-9a-z\\\\ .eE+-]{0,40}") {
        if let Ok(value) = Value::from_json(&text) {
            prop_assert_eq!(Value::from_json(&value.to_json()).unwrap(), value);
        }
        let _ = feel::json::decode_members(&text, &["a"]);
    }
}
