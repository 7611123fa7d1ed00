//! The text notation: what it can say, and what it answers to mistakes.

use model::{Catch, CodeCatch, Kind, Process, Trigger};

const EXAMPLE: &str = r#"
# The example of the module's own description.
start:  start -> order
order:  subprocess s -> ok
s:      start -> fork
fork:   parallel -> pack, label
pack:   task pack -> join
    retries 5
    in  item = order.item
    out packed = result.at
label:  task label -> join
join:   parallel -> e
e:      end
late:   error too-late on order -> call
call:   script note = "late: -> " + string(order.id) -> again
again:  exclusive -> ok if order.kind = "gift, or so", bad if contains([order.id, 2], 1), default ok as never
ok:     end
bad:    error E42
"#;

fn id(process: &Process, ix: model::ElementIx) -> &str {
    &process.element(ix).id
}

#[test]
fn the_example_means_what_it_says() {
    let process = compile::text(EXAMPLE).unwrap();
    assert_eq!(&*process.id, "process");
    let scope = |name: &str| id(&process, process.element(process.find(name).unwrap()).scope).to_owned();
    assert_eq!(["s", "pack", "e"].map(scope), ["order", "order", "order"]);
    assert_eq!(["start", "order", "late", "call", "bad"].map(scope), ["process"; 5]);
    let again = process.element(process.find("again").unwrap());
    let ways: Vec<_> =
        again.outgoing.iter().map(|flow| process.flow(*flow)).map(|flow| (&*flow.id, id(&process, flow.target))).collect();
    assert_eq!(ways, [("again_ok", "ok"), ("again_bad", "bad"), ("never", "ok")]);
    let Kind::ExclusiveGateway { default: Some(default) } = again.kind else { panic!("no default") };
    assert_eq!(&*process.flow(default).id, "never");
    let late = process.element(process.find("late").unwrap());
    assert!(matches!(
        &late.kind,
        Kind::BoundaryEvent(Catch { trigger: Trigger::Error(CodeCatch::Code(code)), .. }) if &**code == "too-late"
    ));
    assert_eq!(process.element(process.find("order").unwrap()).boundaries, [process.find("late").unwrap()]);
}

#[test]
fn a_scope_comes_before_its_contents_wherever_it_is_written() {
    let process = compile::text("e: end\ns: start -> e\nstart: start -> box\nbox: subprocess s").unwrap();
    let ids: Vec<_> = process.elements.iter().map(|element| &*element.id).collect();
    assert_eq!(ids, ["process", "box", "e", "s", "start"]);
    assert!(process.elements.iter().enumerate().skip(1).all(|(index, element)| (element.scope.0 as usize) < index));
}

#[test]
fn the_example_prints_and_reads_back_the_same() {
    let process = compile::text(EXAMPLE).unwrap();
    let printed = compile::print(&process);
    let again = compile::text(&printed).unwrap();
    assert_eq!(format!("{again:?}"), format!("{process:?}"));
}

#[test]
fn odd_words_print_and_read_back_the_same() {
    let source = concat!(
        "on: process\n    name \" \\\"quoted\\\" \"\n    version-tag 1.0 beta\n",
        "default: start\n    -> as as if\n",
        "as: task \"on\"\n    -> in as \"->\"\n    header \"a = b\" = = c\n    header x = \"\"\n    retries -1\n",
        "in: exclusive -> if if if x then \"a, b\" else `c, d`, default default_end\n",
        "if: script \"a b\" = {a: \"x -> y\",\n    |  b: 1}\n    -> error\n",
        "error: error \"on\"\nend: error on as -> default_end\nterminate: error \"\" on if\ndefault_end: terminate\n",
    );
    let process = compile::text(source).unwrap_or_else(|diagnostics| panic!("{diagnostics:#?}"));
    let printed = compile::print(&process);
    let again = compile::text(&printed).unwrap_or_else(|diagnostics| panic!("{printed}\n{diagnostics:#?}"));
    assert_eq!(format!("{again:?}"), format!("{process:?}"), "{printed}");
}

#[test]
fn repeated_and_undone_activities_print_and_read_back_the_same() {
    let source = concat!(
        "s: start -> a\na: task a -> b\n    in-turn \"odd name\" = items[item > 1]\n    collect r = x +\n    | 1\n    until r = 2\n",
        "ba: compensate by box on a\nbox: subprocess i\n    loop-while n < 3\n    at-most 7\ni: start -> t\nt: compensate-end\n",
        "b: pass -> c\n    each = [1]\nc: compensate a -> d\nd: compensate -> e\ne: manual\n    loop\n",
    );
    let process = compile::text(source).unwrap_or_else(|diagnostics| panic!("{diagnostics:#?}"));
    assert_eq!(id(&process, process.element(process.find("t").unwrap()).scope), "box", "a handler is found by its event");
    let printed = compile::print(&process);
    let again = compile::text(&printed).unwrap_or_else(|diagnostics| panic!("{printed}\n{diagnostics:#?}"));
    assert_eq!(format!("{again:?}"), format!("{process:?}"), "{printed}");
}

const MISTAKES: &[(&str, &str)] = &[
    ("", "line 1, column 1, element 'process': a process needs a start event"),
    ("s: start -> x", "line 1, column 1, element 's_x': the target 'x' is no flow node of process 'process'"),
    ("s: start\ns: end", "line 2, column 1, element 's': the id is used more than once"),
    ("s: start\nt: dance", "line 2, column 1, element 't': there is no kind 'dance'"),
    ("s: start now", "line 1, column 1, element 's': write 'at DATE', 'after DURATION'"),
    ("s: start\n    dance", "line 2, column 1, element 's': there is no option 'dance'"),
    ("s: start\n    retries 3", "line 2, column 1, element 's': only a task has retries"),
    ("s: start\nt: task", "line 2, column 1, element 't': a task needs a job type: 'task TYPE'"),
    ("s: start\nt: task a\n    retries lots", "line 3, column 1, element 't': 'lots' is no number"),
    ("s: start\nt: task a\n    until x", "line 3, column 1, element 't': this goes below 'each' or 'in-turn'"),
    ("s: start\nt: task a\n    at-most 3", "line 3, column 1, element 't': this goes below 'loop' or 'loop-while'"),
    ("s: start\nt: task a\n    each items", "line 3, column 1, element 't': write 'NAME = FEEL'"),
    ("s: start\n    loop", "line 1, column 1, element 's': only an activity can be repeated"),
    ("s: start\nt: compensate by a", "line 2, column 1, element 't': write 'compensate'"),
    ("s: start\nt: compensate x", "line 2, column 1, element 't': it refers to 'x', which is no activity beside it"),
    ("    retries 3", "line 1, column 1: an indented line needs a line 'id: kind' above it"),
    ("start", "line 1, column 1: a line is 'id: kind arguments -> targets'"),
    ("a b: start", "line 1, column 1: before the colon stands 'id' or 'id in scope'"),
    ("a,b: start", "line 1, column 1: 'a,b' cannot be an id"),
    ("s: start\nb: subprocess x", "line 2, column 1, element 'b': the first element 'x' does not exist"),
    ("s: start\nb: subprocess b", "line 2, column 1, element 'b': the sub-process contains itself"),
    ("s: start -> b\nb: subprocess s2 -> e\ns2: start -> e\ne: end", "line 2, column 1, element 'b_e'"),
    (
        "s: start\na: subprocess x\nb: subprocess y\nx: start -> e\ny: start -> e\ne: end",
        "line 6, column 1, element 'e': it can be reached from inside 'a' and from inside 'b'",
    ),
    ("s: start -> a, , b\na: end\nb: end", "line 1, column 1, element 's': a flow is 'target'"),
    ("s: start -> e as x, e as x\ne: end", "line 1, column 1, element 's': the flow id 'x' is used more than once"),
    ("p: process\nq: process\ns: start", "line 2, column 1, element 'q': there is one process in a text"),
    ("s: start -> t\nt: pass -> t", "line 2, column 1, element 't': this loop never waits: t > t"),
    ("s: start -> g\ng: exclusive -> e, e if x\ne: end", "line 2, column 1, element 'g_e': the flow needs a condition"),
    ("s: start -> g\ng: exclusive -> e if x +\ne: end", "line 2, column 1, element 'g': the condition 'x +' is not valid FEEL"),
];

#[test]
fn mistakes_are_named_by_line_and_element() {
    for (source, expected) in MISTAKES {
        let diagnostics = compile::text(source).expect_err(source);
        let found: Vec<_> = diagnostics.iter().map(ToString::to_string).collect();
        assert!(found.iter().any(|found| found.starts_with(expected)), "{source}\n{found:#?}");
    }
}

#[test]
fn all_mistakes_are_told_at_once() {
    let diagnostics = compile::text("s: begin\nt: task\n\nu: script x\n").unwrap_err();
    assert_eq!(diagnostics.iter().map(|diagnostic| diagnostic.line).collect::<Vec<_>>(), [1, 1, 2, 4]);
}
