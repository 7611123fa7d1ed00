//! The interface: variables, warnings, notes, errors with positions, functions from outside, the small language.

use feel::{
    Attribute, Budget, Context, Dialect, Error, Function, Limit, Names, Now, Parameter, Type, Value, WarningKind, parse,
    parse_attribute, parse_in, parse_unary_tests, parse_with, parse_workflow,
};
use std::sync::Arc;

fn names(source: &str) -> Vec<String> {
    parse(source).unwrap().variables().iter().map(|name| name.to_string()).collect()
}

#[test]
fn expressions_and_values_go_between_threads() {
    fn shared<T: Send + Sync + Clone>() {}
    shared::<feel::Expression>();
    shared::<Value>();
    shared::<Now>();
}

#[test]
fn free_variables_are_listed_once_in_order() {
    assert_eq!(names("a + b * a"), ["a", "b"]);
    assert_eq!(names("order.items[price > limit]"), ["order", "price", "limit"]);
    assert_eq!(names("for x in list return x + y"), ["list", "y"]);
    assert_eq!(names("{a: 1, b: a + c}"), ["c"]);
    assert_eq!(names("function(x) x + y"), ["y"]);
    assert_eq!(names("count([1, 2])"), Vec::<String>::new());
}

#[test]
fn an_undefined_variable_is_null_and_a_warning() {
    let expression = parse("x > 5").unwrap();
    let mut warnings = Vec::new();
    let value = expression.evaluate_with(&[None], &Now::utc(0), &mut warnings).unwrap();
    assert_eq!(value, Value::Null);
    let kinds: Vec<WarningKind> = warnings.iter().map(|warning| warning.kind).collect();
    assert_eq!(kinds, [WarningKind::NoVariable, WarningKind::NotComparable]);
    assert_eq!(warnings[0].message, "no variable named 'x'");
    assert_eq!(warnings[1].message, "cannot compare 'null' with '5'");
}

#[test]
fn an_item_hides_outer_names() {
    let expression = parse("people[age > limit]").unwrap();
    let people = Value::from_json(r#"[{"age": 3}, {"age": 9, "limit": 10}]"#).ok();
    let values = [people, Some(Value::integer(100)), Some(Value::integer(2))];
    assert_eq!(expression.evaluate(&values, &Now::utc(0)).unwrap().to_json(), r#"[{"age":3}]"#);
}

#[test]
fn notes_tell_the_author_without_evaluating() {
    let notes = |source: &str| parse(source).unwrap().notes().iter().map(|note| note.to_string()).collect::<Vec<_>>();
    assert_eq!(notes("lenght(x)"), ["no built-in function named 'lenght'"]);
    assert_eq!(notes("abs(1, 2)"), ["no function named 'abs' with 2 parameters"]);
    assert_eq!(notes("x < null"), ["a comparison with null is always null"]);
    assert_eq!(notes("@\"2024-02-30\""), ["'2024-02-30' is no date, time or duration"]);
    assert_eq!(notes("abs(x) < 2"), Vec::<String>::new());
}

#[test]
fn mistakes_have_a_place_and_an_expectation() {
    let problem = |source: &str| parse(source).unwrap_err().to_string();
    assert_eq!(problem("1 +"), "line 1, column 4: expected an expression, found the end");
    assert_eq!(problem("if a then b"), "line 1, column 12: expected 'else', found the end");
    assert_eq!(problem("[1, 2"), "line 1, column 6: expected ']', found the end");
    assert_eq!(problem("a\n  b"), "line 2, column 3: expected an operator or the end, found 'b'");
    assert_eq!(problem("x ! y"), "line 1, column 3: expected an operator or the end, found '!'");
    assert_eq!(problem(""), "line 1, column 1: expected an expression, found the end");
}

#[test]
fn attributes_are_static_or_expressions() {
    let shown = |text: &str| match parse_attribute(text).unwrap() {
        Attribute::Static(value) => value.to_json(),
        Attribute::Expression(expression) => format!("expression {}", expression.source()),
    };
    assert_eq!(shown("= a + 1"), "expression  a + 1");
    assert_eq!(shown("a + 1"), "\"a + 1\"");
    assert_eq!(shown("42"), "42");
    assert_eq!(shown("="), "\"=\"");
    assert!(parse_attribute("=1 +").is_err());
}

#[test]
fn unary_tests_take_their_input_first() {
    let test = |source: &str, dialect, input: &str| {
        let expression = parse_unary_tests(source, dialect).unwrap();
        assert_eq!(&*expression.variables()[0], "?");
        let mut values = vec![Value::from_json(input).ok()];
        values.resize(expression.variables().len(), None);
        expression.evaluate(&values, &Now::utc(0)).unwrap().to_json()
    };
    for dialect in [Dialect::Camunda, Dialect::Dmn] {
        assert_eq!(test("-", dialect, "1"), "true");
        assert_eq!(test("> 5", dialect, "6"), "true");
        assert_eq!(test("[1..5]", dialect, "6"), "false");
        assert_eq!(test("1, 2, 3", dialect, "2"), "true");
        assert_eq!(test("not(1, 2)", dialect, "2"), "false");
        assert_eq!(test("\"a\", \"b\"", dialect, "\"b\""), "true");
        assert_eq!(test("? > 3 and ? < 7", dialect, "5"), "true");
        assert_eq!(test("contains(?, \"a\")", dialect, "\"cat\""), "true");
        assert_eq!(test("[1, 2]", dialect, "2"), "true");
        assert_eq!(test("null", dialect, "null"), "true");
        assert_eq!(test("< 5", dialect, "\"a\""), "null");
        assert_eq!(test("true", dialect, "false"), "false");
        assert_eq!(test("? > 5", dialect, "null"), "null");
        assert_eq!(test("contains(?, \"a\")", dialect, "null"), "null");
        assert_eq!(test("1 < 2", dialect, "7"), "true");
        assert_eq!(test("true", dialect, "7"), "null");
    }
    // In decisions a computed truth value is compared with an input that is one.
    assert_eq!(test("1 < 2", Dialect::Camunda, "false"), "true");
    assert_eq!(test("1 < 2", Dialect::Dmn, "false"), "false");
}

#[test]
fn names_with_spaces_are_read_where_they_are_known() {
    let mut known = Names::default();
    known.add("Full Name");
    known.add("Full Name Length");
    known.add("a-b");
    let expression = parse_in("\"Hi \" + Full  Name + string(a-b) + string(a - b)", Dialect::Dmn, &known).unwrap();
    let names: Vec<&str> = expression.variables().iter().map(|name| &**name).collect();
    assert_eq!(names, ["Full Name", "a-b", "a", "b"]);
    known.add("for sale");
    known.add("function code");
    let expression = parse_in("for sale and function code = 1", Dialect::Dmn, &known).unwrap();
    let names: Vec<&str> = expression.variables().iter().map(|name| &**name).collect();
    assert_eq!(names, ["for sale", "function code"]);
    known.add_type("tAge", Type::Number);
    let expression = parse_in("1 instance of tAge", Dialect::Dmn, &known).unwrap();
    assert_eq!(expression.evaluate(&[], &Now::utc(0)), Ok(Value::Bool(true)));
}

#[test]
fn functions_come_from_outside_and_share_the_budget() {
    let twice = Function::native(vec![Parameter::new("x", Some(Type::Number))], |arguments, now, budget| {
        let inner = parse("x * 2").map_err(|error| Error::Invalid(error.to_string()))?;
        inner.evaluate_within(&[arguments.first().cloned()], now, budget, None)
    });
    let context = Context::from(vec![(Arc::from("twice"), Value::Function(twice.clone()))]);
    let now = Now::utc(0);
    let evaluate = |source: &str| parse_with(source, Dialect::Dmn).unwrap().evaluate_in(&context, &now);
    assert_eq!(evaluate("twice(4)"), Ok(Value::integer(8)));
    assert_eq!(evaluate("twice(x: 4)"), Ok(Value::integer(8)));
    assert_eq!(evaluate("twice(\"a\")"), Ok(Value::Null));
    assert_eq!(evaluate("twice([4])"), Ok(Value::integer(8)));
    assert_eq!(twice.call(vec![Value::integer(3)], &now, &mut Budget::default()), Ok(Value::integer(6)));
    let mut small = Budget::default();
    small.charge(feel::limits::STEPS_MAX).unwrap();
    assert_eq!(twice.call(vec![Value::integer(3)], &now, &mut small), Err(Error::Limit(Limit::Steps)));
}

#[test]
fn values_are_coerced_to_types() {
    let numbers = Type::List(Some(Box::new(Type::Number)));
    let coerce = |declared: &Type, value: Value| declared.coerce(value, &mut Budget::default()).unwrap();
    assert_eq!(coerce(&numbers, Value::integer(1)), Some(Value::list(vec![Value::integer(1)])));
    assert_eq!(coerce(&Type::Number, Value::list(vec![Value::integer(1)])), Some(Value::integer(1)));
    assert_eq!(coerce(&Type::Number, Value::from("1")), None);
    assert_eq!(coerce(&Type::Number, Value::Null), Some(Value::Null));
}

#[test]
fn chance_depends_on_the_seed() {
    let expression = parse("uuid()").unwrap();
    let drawn = |seed| expression.evaluate(&[], &Now::utc(1_000).seeded(seed)).unwrap();
    assert_eq!(drawn(1), drawn(1));
    assert_ne!(drawn(1), drawn(2));
    let two = parse("uuid() = uuid()").unwrap().evaluate(&[], &Now::utc(1_000)).unwrap();
    assert_eq!(two, Value::Bool(false));
}

#[test]
fn the_small_language_of_json_workflows() {
    let context = Value::from_json(r#"{"n": 5, "name": "Ann", "tags": ["a", "b"], "order": {"total": 12.5, "ok": true}}"#);
    let context = context.unwrap();
    let evaluate = |source: &str| {
        parse_workflow(source).unwrap().evaluate_in(context.as_context().unwrap(), &Now::utc(0)).map(|value| value.to_json())
    };
    let gives = |source: &str, result: &str| assert_eq!(evaluate(source), Ok(result.to_owned()), "{source}");
    gives("n == 5 && name == 'Ann'", "true");
    gives("#n + ${n} * 2", "15");
    gives("${order.total} > 10 || false", "true");
    gives("order.total / 2", "6.25");
    gives("!(order.ok) || n != 4", "true");
    gives("'a' in tags", "true");
    gives("contains(tags, \"z\")", "false");
    gives("contains(name, 'nn')", "true");
    gives("len(tags) + len(name)", "5");
    gives("-n + 1", "-4");
    gives("name == 5", "false");
    gives("'Hi ' + name + n", "\"Hi Ann5\"");
    gives("n >= 5.0", "true");
    let fails = |source: &str| evaluate(source).unwrap_err();
    assert_eq!(fails("missing == 1"), Error::Undefined(String::from("missing")));
    assert!(matches!(fails("order.missing == 1"), Error::Invalid(_)));
    assert!(matches!(fails("name < 5"), Error::Invalid(_)));
    assert!(matches!(fails("n && true"), Error::Invalid(_)));
    assert!(matches!(fails("n / 0"), Error::Invalid(_)));
    assert_eq!(evaluate("false && missing"), Ok(String::from("false")));
    for source in ["", "n ==", "size(tags)", "n = 5", "(n", "'open", "${n", "n n"] {
        assert!(parse_workflow(source).is_err(), "{source}");
    }
}
