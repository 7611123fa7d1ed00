//! Decision models that want to hurt: refused or evaluated, quickly, on the stack a server's thread has.
#![allow(clippy::disallowed_methods, reason = "an attack that takes minutes is not survived; the bound is far above any noise")]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use engine::decision::{Evaluation, REPORTED_MAX, Subject, evaluate, evaluate_within};
use feel::limits::{BYTES_MAX, STEPS_MAX};
use feel::{Budget, Context, Limit, Now, Value};

/// Far more than any of these needs even without optimisation, far less than an attack would like.
/// On a machine that is busy with twenty other things a second of work takes twenty.
const PATIENCE: Duration = Duration::from_secs(900);

/// What threads of a server have.
const STACK: usize = 2 << 20;

fn model(inside: &str) -> String {
    let namespace = "https://www.omg.org/spec/DMN/20230324/MODEL/";
    format!(r#"<definitions xmlns="{namespace}" id="g" name="g" namespace="n">{inside}</definitions>"#)
}

fn decision(id: &str, needs: &[String], logic: &str) -> String {
    let mut xml = format!(r#"<decision id="{id}" name="{id}">"#);
    for need in needs {
        let href = format!("<requiredDecision href=\"#{need}\"/>");
        write!(xml, "<informationRequirement>{href}</informationRequirement>").unwrap();
    }
    xml + logic + "</decision>"
}

fn literal(text: &str) -> String {
    format!("<literalExpression><text>{text}</text></literalExpression>")
}

/// On a small stack and within reason.
fn attacked<T: Send + 'static>(attack: impl FnOnce() -> T + Send + 'static) -> T {
    let begin = Instant::now();
    let outcome = std::thread::Builder::new().stack_size(STACK).spawn(attack).unwrap().join().unwrap();
    assert!(begin.elapsed() < PATIENCE, "took {:?}", begin.elapsed());
    outcome
}

fn evaluated(xml: String, id: &'static str) -> Evaluation {
    attacked(move || {
        let model = compile::dmn(xml.as_bytes()).unwrap_or_else(|found| panic!("refused: {}", found[0]));
        let index = model.find(id).unwrap();
        evaluate(&model, index, &Context::empty().with("x".into(), Value::integer(5)), &Now::utc(0))
    })
}

fn refused(xml: String) -> String {
    attacked(move || compile::dmn(xml.as_bytes()).expect_err("an attack ought to be refused")[0].to_string())
}

#[test]
fn contexts_in_contexts() {
    let (open, close) = ("<context><contextEntry><variable name=\"a\"/>", "</contextEntry></context>");
    let nested =
        |levels: usize| model(&decision("d", &[], &format!("{}{}{}", open.repeat(levels), literal("x"), close.repeat(levels))));
    assert!(evaluated(nested(100), "d").output.is_ok());
    assert!(refused(nested(200)).contains("levels of nesting"));
}

#[test]
fn a_table_of_ten_thousand_rules() {
    let mut table = String::from("<decisionTable hitPolicy=\"COLLECT\"><input><inputExpression><text>x</text></inputExpression>");
    table.push_str("</input><output name=\"o\"/>");
    for rule in 0..10_000 {
        let test = format!("<inputEntry><text>&gt;= {}</text></inputEntry>", rule % 10);
        write!(table, "<rule>{test}<outputEntry><text>{rule}</text></outputEntry></rule>").unwrap();
    }
    let evaluation = evaluated(model(&decision("d", &[], &(table + "</decisionTable>"))), "d");
    assert_eq!(evaluation.output.unwrap().as_list().unwrap().len(), 6_000);
}

#[test]
fn diamonds_upon_diamonds_are_evaluated_once_each() {
    let mut inside = decision("d0", &[], &literal("1"));
    for level in 1..60 {
        let below = format!("d{}", level - 1);
        inside += &decision(&format!("a{level}"), std::slice::from_ref(&below), &literal(&below));
        inside += &decision(&format!("b{level}"), std::slice::from_ref(&below), &literal(&below));
        let both = [format!("a{level}"), format!("b{level}")];
        inside += &decision(&format!("d{level}"), &both, &literal(&format!("a{level} + b{level}")));
    }
    let evaluation = evaluated(model(&inside), "d59");
    assert_eq!(evaluation.output.unwrap().to_json(), (1_u64 << 59).to_string());
    assert!(evaluation.decisions.len() <= REPORTED_MAX);
}

#[test]
fn chains_end() {
    let chain = |length: usize| {
        let mut inside = decision("d0", &[], &literal("1"));
        for level in 1..length {
            let below = format!("d{}", level - 1);
            inside += &decision(&format!("d{level}"), std::slice::from_ref(&below), &literal(&format!("{below} + 1")));
        }
        model(&inside)
    };
    assert_eq!(evaluated(chain(200), "d199").output.unwrap().to_json(), "200");
    assert!(refused(chain(201)).contains("at most 200 decisions may need each other in a row"));
    assert!(refused(chain(20_000)).contains("at most 200 decisions may need each other in a row"));
}

#[test]
fn functions_that_call_themselves_through_a_parameter() {
    let lambda = format!(r#"<functionDefinition><formalParameter name="g"/>{}</functionDefinition>"#, literal("g(g)"));
    let entry = |name: &str, value: &str| format!("<contextEntry><variable name=\"{name}\"/>{value}</contextEntry>");
    let context = format!("<context>{}{}</context>", entry("f", &lambda), entry("r", &literal("f(f)")));
    let knowledge = format!(
        r#"<businessKnowledgeModel id="k" name="k"><encapsulatedLogic><formalParameter name="g"/>{}</encapsulatedLogic>
        </businessKnowledgeModel>"#,
        literal("[g(g), g(g)]")
    );
    let service = r##"<inputData id="i" name="f"><variable name="f"/></inputData><decisionService id="s" name="s"><outputDecision
        href="#inner"/><inputData href="#i"/></decisionService>"##;
    let knows = |id: &str| format!("<knowledgeRequirement><requiredKnowledge href=\"#{id}\"/></knowledgeRequirement>");
    let inside = decision("boxed", &[], &context)
        + &knowledge
        + &decision("known", &[], &(knows("k") + &literal("k(k)")))
        + service
        + &decision("inner", &[], &literal("f(f)"))
        + &decision("served", &[], &(knows("s") + &literal("s(s)")));
    for id in ["boxed", "known", "served"] {
        let failure = evaluated(model(&inside), id).output.unwrap_err();
        assert!(failure.reason.contains("nested more than"), "{id}: {}", failure.reason);
    }
}

#[test]
fn a_function_called_thousands_of_times_does_not_fill_the_report() {
    let knowledge = format!(
        r#"<businessKnowledgeModel id="k" name="k"><encapsulatedLogic><formalParameter name="n"/>{}</encapsulatedLogic>
        </businessKnowledgeModel>"#,
        literal("n")
    );
    let knows = "<knowledgeRequirement><requiredKnowledge href=\"#k\"/></knowledgeRequirement>";
    let calls = decision("d", &[], &(knows.to_owned() + &literal("count(for i in 1..5000 return k(i))")));
    let evaluation = evaluated(model(&(knowledge + &calls)), "d");
    assert_eq!(evaluation.output.unwrap(), Value::integer(5000));
    assert_eq!(evaluation.decisions.len(), REPORTED_MAX + 1);
    assert_eq!(evaluation.decisions.last().unwrap().subject, Subject::Decision(0));
}

#[test]
fn circles_of_every_kind() {
    let knowledge = |id: &str, other: &str| {
        let knows = format!("<knowledgeRequirement><requiredKnowledge href=\"#{other}\"/></knowledgeRequirement>");
        let logic = format!("<encapsulatedLogic>{}</encapsulatedLogic>", literal("1"));
        format!(r#"<businessKnowledgeModel id="{id}" name="{id}">{logic}{knows}</businessKnowledgeModel>"#)
    };
    let service = r##"<decisionService id="s" name="s"><outputDecision href="#d"/></decisionService>"##;
    let circle = r##"<knowledgeRequirement><requiredKnowledge href="#s"/></knowledgeRequirement>"##;
    let plain = decision("d", &[], &literal("1"));
    assert!(refused(model(&(plain.clone() + &knowledge("a", "b") + &knowledge("b", "a")))).contains("needs itself"));
    assert!(refused(model(&(plain + &knowledge("a", "a")))).contains("needs itself"));
    let through = decision("d", &[], &(circle.to_owned() + &literal("s()")));
    assert!(refused(model(&(through + service))).contains("needs itself"));
}

#[test]
fn more_names_than_anyone_needs() {
    let mut inside = String::new();
    for name in 0..50_000 {
        write!(inside, r#"<inputData id="i{name}" name="a b {name}"/>"#).unwrap();
    }
    assert!(refused(model(&(inside + &decision("d", &[], &literal("1"))))).contains("too many names with spaces"));
}

#[test]
fn names_to_look_for_everywhere() {
    let mut inside = String::new();
    for name in 0..1_000 {
        write!(inside, r#"<inputData id="i{name}" name="a b {name}"/>"#).unwrap();
    }
    for number in 0..200 {
        inside += &decision(&format!("d{number}"), &[], &literal(&format!("\"{}\"", "a".repeat(20_000))));
    }
    assert!(refused(model(&inside)).contains("too many names with spaces and types for so many expressions"));
}

#[test]
fn a_context_in_which_every_entry_looks_past_all_others() {
    let mut context = String::from("<context>");
    for entry in 0..24_000 {
        write!(context, "<contextEntry><variable name=\"e{entry}\"/>{}</contextEntry>", literal("x")).unwrap();
    }
    let failure = evaluated(model(&decision("d", &[], &(context + "</context>"))), "d").output.unwrap_err();
    assert!(failure.reason.contains("steps"), "{}", failure.reason);
}

#[test]
fn types_that_double_with_every_level() {
    let mut inside = String::new();
    for level in 0..100 {
        let member = |name: &str| format!("<itemComponent name=\"{name}\"><typeRef>t{}</typeRef></itemComponent>", level + 1);
        write!(inside, "<itemDefinition name=\"t{level}\">{}{}</itemDefinition>", member("a"), member("b")).unwrap();
    }
    inside += "<itemDefinition name=\"t100\"><typeRef>t0</typeRef></itemDefinition>";
    let evaluation = evaluated(model(&(inside + &decision("d", &[], &literal("x instance of t0")))), "d");
    assert_eq!(evaluation.output.unwrap(), Value::Bool(false));
}

fn knowledge(id: &str, logic: &str) -> String {
    format!(
        r#"<businessKnowledgeModel id="{id}" name="{id}"><encapsulatedLogic><formalParameter name="n"/>{logic}</encapsulatedLogic>
        </businessKnowledgeModel>"#
    )
}

/// Steps taken of a whole budget.
fn steps(xml: &str, id: &str, variables: &Context) -> (u64, Evaluation) {
    let model = compile::dmn(xml.as_bytes()).unwrap_or_else(|found| panic!("refused: {}", found[0]));
    let mut budget = Budget::default();
    let evaluation = evaluate_within(&model, model.find(id).unwrap(), variables, &Now::utc(0), &mut budget);
    (STEPS_MAX - budget.steps_left(), evaluation)
}

#[test]
fn decisions_draw_from_the_budget_they_are_given() {
    let count = "count(for i in 1..10000 return i)";
    let chain = decision("first", &[], &literal(count))
        + &decision("second", &["first".to_owned()], &literal(&format!("first + {count}")));
    let model = compile::dmn(model(&chain).as_bytes()).unwrap();
    let mut budget = Budget::new(100_000, BYTES_MAX);
    let mut left = budget.steps_left();
    let mut done = 0;
    let failure = loop {
        match evaluate_within(&model, 1, &Context::empty(), &Now::utc(0), &mut budget).output {
            Ok(value) => assert_eq!(value, Value::integer(20_000)),
            Err(failure) => break failure,
        }
        assert!(budget.steps_left() + 20_000 <= left, "both decisions are charged for");
        (left, done) = (budget.steps_left(), done + 1);
    };
    assert!(0 < done && done < 5, "{done}");
    assert_eq!(failure.limit, Some(Limit::Steps), "{}", failure.reason);
    let wrong = decision("wrong", &[], &literal("assert(1, false)"));
    let (_, evaluation) = steps(&self::model(&wrong), "wrong", &Context::empty());
    assert_eq!(evaluation.output.unwrap_err().limit, None);
}

#[test]
fn a_limit_within_a_service_is_a_limit_outside() {
    let service = r##"<decisionService id="s" name="s"><outputDecision href="#inner"/></decisionService>"##;
    let knows = "<knowledgeRequirement><requiredKnowledge href=\"#s\"/></knowledgeRequirement>";
    let inside = decision("inner", &[], &literal("some i in 1..1000000000 satisfies false"))
        + service
        + &decision("outer", &[], &(knows.to_owned() + &literal("s()")));
    let failure = evaluated(model(&inside), "outer").output.unwrap_err();
    assert_eq!(failure.limit, Some(Limit::Steps), "{}", failure.reason);
}

#[test]
fn what_is_handed_to_functions_and_reported_is_charged_for() {
    let items: Vec<Value> = (0..10_000).map(Value::integer).collect();
    let variables = Context::empty().with("big".into(), Value::list(items));
    let knows = "<knowledgeRequirement><requiredKnowledge href=\"#k\"/></knowledgeRequirement>";
    let calls = decision("d", &[], &(knows.to_owned() + &literal("count(for i in 1..10 return count(k(big)))")));
    // Each answer is looked through for functions, which do not leave a decision.
    let (taken, evaluation) = steps(&model(&(knowledge("k", &literal("n")) + &calls)), "d", &variables);
    assert_eq!(evaluation.output.unwrap(), Value::integer(10));
    assert!(10 * 10_000 <= taken, "{taken} steps");
}

#[test]
fn results_that_are_compared_are_charged_for() {
    let items: Vec<Value> = (0..10_000).map(Value::integer).collect();
    let variables = Context::empty().with("big".into(), Value::list(items)).with("x".into(), Value::integer(1));
    let mut table = String::from("<decisionTable hitPolicy=\"ANY\"><input><inputExpression><text>x</text></inputExpression>");
    table.push_str("</input><output name=\"o\"/>");
    for _ in 0..10 {
        table.push_str("<rule><inputEntry><text>-</text></inputEntry><outputEntry><text>big</text></outputEntry></rule>");
    }
    let (taken, evaluation) = steps(&model(&decision("d", &[], &(table + "</decisionTable>"))), "d", &variables);
    assert!(evaluation.output.is_ok());
    assert!(10 * 10_000 <= taken, "{taken} steps");
}
