//! Input that wants to hurt: it must be refused, quickly, and without taking the thread down.

#![allow(clippy::disallowed_methods, reason = "an attack that takes minutes is not refused; the bound is far above any noise")]

use std::time::{Duration, Instant};

const HEAD: &str =
    r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">"#;

/// Far more than any of these needs, without optimisation and on a busy machine; far less than an attack would like.
/// On a machine that is busy with twenty other things a second of work takes twenty.
const PATIENCE: Duration = Duration::from_secs(900);

fn refused(content: &[u8]) -> String {
    let begin = Instant::now();
    let diagnostics = compile::bpmn(content).expect_err("an attack ought to be refused");
    assert!(begin.elapsed() < PATIENCE, "took {:?}", begin.elapsed());
    assert!(diagnostics.len() <= compile::DIAGNOSTICS_MAX + 1);
    diagnostics[0].to_string()
}

fn accepted(content: &str) {
    let begin = Instant::now();
    compile::bpmn(content.as_bytes()).unwrap_or_else(|diagnostics| panic!("refused: {}", diagnostics[0]));
    assert!(begin.elapsed() < PATIENCE, "took {:?}", begin.elapsed());
}

fn process(inside: &str) -> String {
    format!(r#"{HEAD}<process id="p" isExecutable="true">{inside}</process></definitions>"#)
}

#[test]
fn a_hundred_megabytes_of_nesting() {
    let nesting = "<a>".repeat(100 << 20 >> 2);
    assert!(refused(nesting.as_bytes()).contains("at most 16777216 are allowed"));
    assert!(refused(&nesting.as_bytes()[..compile::RESOURCE_BYTES_MAX]).contains("too many levels of nesting: at most 256"));
}

#[test]
fn nesting_hidden_behind_comments_and_quotes() {
    for hidden in
        ["<a><!--></a>-->", "<a b='>'>", "<a b=\"/>\">", "<a><![CDATA[</a>]]>", "<a><?pi </a>?>", "<a><!--</a>--><!----></a><a>"]
    {
        let reason = refused(hidden.repeat(10_000).as_bytes());
        assert!(reason.contains("too many levels of nesting"), "{hidden}: {reason}");
    }
}

#[test]
fn nesting_up_to_the_limit_is_read_on_a_small_stack() {
    let depth = 120;
    let inside = |level: usize| format!(r#"<startEvent id="s{level}"/>"#);
    let open: String = (0..depth).map(|level| format!(r#"{}<subProcess id="b{level}">"#, inside(level))).collect();
    let xml = process(&format!("{open}{}{}", inside(depth), "</subProcess>".repeat(depth)));
    let small = std::thread::Builder::new().stack_size(1 << 20).spawn(move || accepted(&xml)).unwrap();
    small.join().unwrap();
    let deepest = format!("{}{}", "<a>".repeat(256), "</a>".repeat(256));
    let small = std::thread::Builder::new().stack_size(1 << 20).spawn(move || refused(deepest.as_bytes())).unwrap();
    assert!(small.join().unwrap().contains("not BPMN"));
}

#[test]
fn entities_and_document_types() {
    let laughs = r#"<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><definitions name="&b;"/>"#;
    assert!(refused(laughs.as_bytes()).contains("document type declarations and entities are not allowed"));
    let external = r#"<!DOCTYPE x SYSTEM "file:///etc/passwd"><definitions/>"#;
    assert!(refused(external.as_bytes()).contains("document type declarations"));
    assert!(refused(b"<definitions name='&undefined;'/>").contains("not well-formed"));
}

#[test]
fn encodings_other_than_utf8() {
    let text = process(r#"<startEvent id="s"/>"#);
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(refused(&utf16).contains("UTF-16: save it as UTF-8"));
    assert!(refused(&[&[0xFF, 0xFE], &*utf16].concat()).contains("UTF-16: save it as UTF-8"));
    let latin = [text.as_bytes(), b"\n<!-- \xE4 -->"].concat();
    assert!(refused(&latin).starts_with("line 2, column 6: the file is not UTF-8"));
    accepted(&format!("\u{FEFF}{text}"));
}

#[test]
fn too_many_elements_attributes_or_namespaces() {
    assert!(refused(process(&"<task/>".repeat(200_000)).as_bytes()).contains("too many elements: at most 100000"));
    let attributes: String = (0..100_000).map(|n| format!(" a{n} = ''")).collect();
    assert!(
        refused(format!("<definitions{attributes}/>").as_bytes()).contains("too many attributes of one element: at most 256")
    );
    let declared: String = (0..200).map(|n| format!(" xmlns:a{n} = 'urn:{n}'")).collect();
    let nested = format!("<a{declared}>").repeat(200);
    assert!(refused(nested.as_bytes()).contains("too many namespaces: at most 256"));
}

#[test]
fn more_problems_than_anybody_reads() {
    let diagnostics = compile::bpmn(process(&"<task/>".repeat(50_000)).as_bytes()).expect_err("tasks need ids");
    assert_eq!(diagnostics.len(), compile::DIAGNOSTICS_MAX + 1);
    assert_eq!(diagnostics.last().unwrap().reason, "and 49901 more problems");
}

#[test]
fn long_texts_are_quoted_shortly() {
    let long = "x".repeat(1 << 20);
    for xml in [
        process(&format!(r#"<startEvent id="s"/><coffee{long}/>"#)),
        process(&format!(r#"<startEvent id="s {long}"/>"#)),
        process(&format!(r#"<startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="{long}"/>"#)),
        process(&format!(
            r#"<startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="s"><conditionExpression>{long}</conditionExpression></sequenceFlow>"#
        )),
    ] {
        assert!(refused(xml.as_bytes()).len() < 1000);
    }
}

/// Everything that might be quadratic, at its largest.
#[test]
fn large_processes_are_read_in_linear_time() {
    let tasks: String = (0..40_000)
        .map(|n| format!(r#"<task id="t{n}"/><sequenceFlow id="f{n}" sourceRef="t{n}" targetRef="t{}"/>"#, n + 1))
        .collect();
    accepted(&process(&format!(r#"<startEvent id="s"/><task id="t40000"/>{tasks}"#)));
    let ends: String = (0..40_000).map(|n| format!(r#"<endEvent id="e{n}"/>"#)).collect();
    let ways: String =
        (0..25_000).map(|n| format!(r#"<task id="t{n}"/><sequenceFlow id="f{n}" sourceRef="b" targetRef="t{n}"/>"#)).collect();
    accepted(&process(&format!(r#"<startEvent id="s"/><subProcess id="b"><startEvent id="i"/>{ends}</subProcess>{ways}"#)));
    let circles: String =
        (0..25_000).map(|n| format!(r#"<task id="t{n}"/><sequenceFlow id="f{n}" sourceRef="t{n}" targetRef="t{n}"/>"#)).collect();
    refused(process(&format!(r#"<startEvent id="s"/>{circles}"#)).as_bytes());
    let caught: String = (0..25_000)
        .map(|n| format!(r#"<boundaryEvent id="b{n}" attachedToRef="t"><errorEventDefinition/></boundaryEvent>"#))
        .collect();
    refused(process(&format!(r#"<startEvent id="s"/><task id="t"/>{caught}"#)).as_bytes());
    let undone: String = (0..10_000)
        .map(|n| {
            format!(
                r#"<task id="t{n}"/><boundaryEvent id="c{n}" attachedToRef="t{n}"><compensateEventDefinition/></boundaryEvent>
                <task id="u{n}" isForCompensation="true"/><association id="a{n}" sourceRef="c{n}" targetRef="u{n}"/>
                <boundaryEvent id="e{n}" attachedToRef="u{n}"><errorEventDefinition/></boundaryEvent><task id="w{n}"/>
                <sequenceFlow id="f{n}" sourceRef="e{n}" targetRef="w{n}"/>"#
            )
        })
        .collect();
    accepted(&process(&format!(r#"<startEvent id="s"/>{undone}"#)));
    let waited: String = (0..10_000)
        .map(|n| {
            let timer = "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>";
            format!(
                r#"<eventBasedGateway id="g{n}"/><sequenceFlow id="a{n}" sourceRef="g{n}" targetRef="x{n}"/>
                <sequenceFlow id="b{n}" sourceRef="g{n}" targetRef="y{n}"/>
                <intermediateCatchEvent id="x{n}">{timer}</intermediateCatchEvent>
                <intermediateCatchEvent id="y{n}">{timer}</intermediateCatchEvent>"#
            )
        })
        .collect();
    accepted(&process(&format!(r#"<startEvent id="s"/>{waited}"#)));
    let chosen: String =
        (0..20_000).map(|n| format!(r#"<adHocSubProcess id="h{n}"><task id="t{n}"/></adHocSubProcess>"#)).collect();
    accepted(&process(&format!(r#"<startEvent id="s"/>{chosen}"#)));
}

/// Each join is a search through all that lies before it: a few are fine in the largest process, many are refused.
#[test]
fn more_joins_than_can_be_searched() {
    let flow = |from: &str, to: &str| format!(r#"<sequenceFlow id="{from}-{to}" sourceRef="{from}" targetRef="{to}"/>"#);
    let block = |n: usize| {
        let (fork, a, b, join) = (format!("f{n}"), format!("a{n}"), format!("b{n}"), format!("f{}", n + 1));
        let nodes = format!(r#"<inclusiveGateway id="{fork}"/><task id="{a}"/><task id="{b}"/>"#);
        let conditional =
            |to: &str| flow(&fork, to).replace("/>", "><conditionExpression>=x</conditionExpression></sequenceFlow>");
        [nodes, conditional(&a), conditional(&b), flow(&a, &join), flow(&b, &join)].concat()
    };
    let chain = |blocks: usize, tasks: usize| {
        let blocks_written: String = (0..blocks).map(block).collect();
        let line: String =
            (0..tasks).map(|n| format!(r#"<task id="t{n}"/>"#) + &flow(&format!("t{n}"), &format!("t{}", n + 1))).collect();
        let begin = format!(r#"<startEvent id="s"/>{}{line}<task id="t{tasks}"/>"#, flow("s", "t0"));
        process(&format!(r#"{begin}{}{blocks_written}<endEvent id="f{blocks}"/>"#, flow(&format!("t{tasks}"), "f0")))
    };
    accepted(&chain(50, 40_000));
    assert!(refused(chain(10_000, 0).as_bytes()).contains("too many inclusive and complex joins"));
}

#[test]
fn mappings_that_are_deep_or_long() {
    let mapped = |mappings: &str| {
        let mappings = format!("<zeebe:ioMapping>{mappings}</zeebe:ioMapping>");
        process(&format!(r#"<startEvent id="s"><extensionElements>{mappings}</extensionElements></startEvent>"#))
    };
    let target = |depth: usize| vec!["a"; depth].join(".");
    accepted(&mapped(&format!(r#"<zeebe:output source="=1" target="{}"/>"#, target(16))));
    assert!(refused(mapped(&format!(r#"<zeebe:output source="=1" target="{}"/>"#, target(17))).as_bytes()).contains("too deep"));
    assert!(
        refused(mapped(&format!(r#"<zeebe:output source="=1" target="{}"/>"#, target(1 << 20))).as_bytes()).contains("too deep")
    );
    let long = format!(r#"<zeebe:output source="=&quot;{}&quot;" target="{}"/>"#, "x".repeat(500_000), target(16));
    assert!(refused(mapped(&long).as_bytes()).contains("too long"));
    let many: String = (0..50_000).map(|n| format!(r#"<zeebe:output source="=1" target="o.v{n}"/>"#)).collect();
    refused(mapped(&many).as_bytes());
}

#[test]
fn a_source_cannot_close_the_context_around_it() {
    for source in ["1}, {b: 2", "1, b: 2", "1} // ", "(1", "1 /*", "\"x", "`x"] {
        let source = source.replace('"', "&quot;");
        let xml = process(&format!(
            r#"<startEvent id="s"><extensionElements><zeebe:ioMapping><zeebe:output source="={source}" target="a"/></zeebe:ioMapping></extensionElements></startEvent>"#
        ));
        let reason = refused(xml.as_bytes());
        assert!(reason.contains("the source of the mapping to 'a'"), "{source}: {reason}");
    }
}
