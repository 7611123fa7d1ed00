//! What holds for input nobody wrote: nothing panics, and every process that is printed reads back as itself, in both
//! notations.

mod blocks;
mod workflows;
mod xml;

use proptest::prelude::*;

use blocks::{blocks, written};
use xml::{file, xml};

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = compile::bpmn(&bytes);
        let _ = compile::text(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn arbitrary_markup_never_panics(parts in prop::collection::vec(prop::sample::select(MARKUP), 0..60)) {
        let inside = parts.concat();
        let _ = compile::bpmn(inside.as_bytes());
        let _ = compile::bpmn(file(&inside).as_bytes());
    }

    #[test]
    fn arbitrary_lines_never_panic(parts in prop::collection::vec(prop::sample::select(LINES), 0..60)) {
        let source = parts.concat();
        if let Ok(process) = compile::text(&source) {
            let printed = compile::print(&process);
            prop_assert!(compile::text(&printed).is_ok(), "{}\n---\n{}", source, printed);
        }
    }

    #[test]
    fn a_process_printed_as_text_reads_back_the_same(block in blocks()) {
        let source = written(&block);
        let process = compile::text(&source).unwrap_or_else(|diagnostics| panic!("{source}\n{diagnostics:#?}"));
        let again = compile::text(&compile::print(&process)).unwrap();
        prop_assert_eq!(format!("{:?}", again), format!("{:?}", process));
    }

    #[test]
    fn a_process_printed_as_xml_compiles_the_same(block in blocks()) {
        let process = compile::text(&written(&block)).unwrap();
        let compiled = compile::bpmn(xml(&process).as_bytes()).unwrap_or_else(|diagnostics| panic!("{diagnostics:#?}"));
        prop_assert_eq!(compile::print(&compiled.processes[0]), compile::print(&process));
    }

    #[test]
    fn a_workflow_drawn_as_bpmn_is_the_same_workflow(block in workflows::any_blocks()) {
        let process = workflow(&block);
        let xml = compile::drawn(&process).unwrap();
        let compiled = compile::bpmn(xml.as_bytes()).unwrap_or_else(|diagnostics| panic!("{xml}\n{diagnostics:#?}"));
        prop_assert_eq!(format!("{:?}", compiled.processes[0]), format!("{:?}", process));
        prop_assert_eq!(workflows::picture(&xml).fault(), None);
    }

    #[test]
    fn lines_of_a_structured_workflow_do_not_cross(block in workflows::structured()) {
        let picture = workflows::picture(&compile::drawn(&workflow(&block)).unwrap());
        prop_assert_eq!(picture.fault(), None);
        prop_assert_eq!(picture.crossing(), None);
    }
}

fn workflow(block: &workflows::Block) -> model::Process {
    let text = workflows::written(block);
    compile::json(text.as_bytes()).unwrap_or_else(|diagnostics| panic!("{text}\n{diagnostics:#?}"))
}

const MARKUP: &[&str] = &[
    "<",
    ">",
    "/>",
    "</process>",
    "</subProcess>",
    "<subProcess id=\"",
    "<task id=\"a\">",
    "</task>",
    "<startEvent id=\"s\"/>",
    "<endEvent id=\"e\">",
    "</endEvent>",
    "<errorEventDefinition/>",
    "<sequenceFlow id=\"f\" sourceRef=\"s\" targetRef=\"e\"/>",
    "<extensionElements>",
    "</extensionElements>",
    "<zeebe:ioMapping>",
    "</zeebe:ioMapping>",
    "<zeebe:input source=\"=a\" target=\"b.c\"/>",
    "<zeebe:taskDefinition type=\"=",
    "<![CDATA[",
    "]]>",
    "<!--",
    "-->",
    "<?x",
    "?>",
    "<!DOCTYPE",
    "\"",
    "'",
    "=",
    "a",
    " ",
    "\n",
    "&amp;",
    "&#0;",
    "\u{0}",
    "é",
    "<boundaryEvent id=\"b\" attachedToRef=\"b\">",
    "</boundaryEvent>",
    "id=\"a\" ",
    "xmlns=\"\" ",
    "<exclusiveGateway id=\"g\" default=\"f\"/>",
    "<conditionExpression>=x</conditionExpression>",
    "<scriptTask id=\"a\">",
    "<inclusiveGateway id=\"g\"/>",
    "<complexGateway id=\"a\">",
    "<activationCondition>=x</activationCondition>",
    "<intermediateThrowEvent id=\"b\">",
    "<intermediateCatchEvent id=\"a\">",
    "<linkEventDefinition name=\"l\"/>",
];

const LINES: &[&str] = &[
    "a: ",
    "b: ",
    "c: ",
    "s: ",
    "start",
    "end",
    "exclusive",
    "parallel",
    "inclusive",
    "complex = x",
    "link-throw l",
    "link-catch l",
    "pass",
    "task t",
    "subprocess s",
    "subprocess a",
    "error x on a",
    "error x",
    "error on b",
    "script v = 1",
    " -> ",
    "a",
    "b",
    "c",
    ", ",
    " if x",
    "default ",
    " as f",
    "\n",
    "\n    ",
    "\n    | ",
    "in x = 1",
    "out x.y = 2",
    "retries 2",
    "header k = v",
    "\"",
    "`",
    "(",
    ")",
    "# c\n",
    "a in b: ",
    "process",
    "é",
    ":",
    "->",
];
