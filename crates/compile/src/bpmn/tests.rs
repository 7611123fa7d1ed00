//! What is read of compensation, and names that are refused.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::bpmn;

fn file(inside: &str) -> String {
    let namespaces = r#"xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0""#;
    format!(
        r#"<definitions {namespaces}><process id="p" isExecutable="true"><startEvent id="start"/>{inside}</process></definitions>"#
    )
}

fn told(content: &str) -> String {
    match bpmn(content.as_bytes()) {
        Ok(compiled) => compiled.processes.iter().map(crate::print).collect(),
        Err(diagnostics) => diagnostics.iter().map(|diagnostic| format!("{}\n", diagnostic.reason)).collect(),
    }
}

const UNDONE: &str = r#"
    <task id="a"/><boundaryEvent id="ba" attachedToRef="a"><compensateEventDefinition/></boundaryEvent>
    <manualTask id="undo" isForCompensation="true"/><textAnnotation id="note"/>
    <association id="x" sourceRef="ba" targetRef="note"/><association id="y" sourceRef="ba" targetRef="undo"/>
    <intermediateThrowEvent id="back"><compensateEventDefinition activityRef="a" waitForCompletion="true"/></intermediateThrowEvent>
    <endEvent id="end"><compensateEventDefinition/></endEvent>
    <sequenceFlow id="f1" sourceRef="start" targetRef="a"/><sequenceFlow id="f2" sourceRef="a" targetRef="back"/>
    <sequenceFlow id="f3" sourceRef="back" targetRef="end"/>"#;

#[test]
fn events_handlers_and_associations_are_read() {
    let expected = "p: process\nstart: start\n    -> a as f1\na: pass\n    -> back as f2\nba: compensate by undo on a\nundo: manual\n\
                    back: compensate a\n    -> end as f3\nend: compensate-end\n";
    assert_eq!(told(&file(UNDONE)), expected);
    assert_eq!(crate::print(&crate::text(expected).unwrap()), expected);
}

#[test]
fn mistakes_are_named() {
    let event = |inside: &str| {
        let event = r#"<boundaryEvent id="ba" attachedToRef="a"><compensateEventDefinition/></boundaryEvent>"#;
        told(&file(&format!(r#"<task id="a"/>{event}{inside}"#)))
    };
    let associated = |target: &str| format!(r#"<association id="{target}_" sourceRef="ba" targetRef="{target}"/>"#);
    let handler = r#"<task id="undo" isForCompensation="true"/>"#;
    assert_eq!(event(""), "a compensation boundary event needs an association with its handler\n");
    let plain = format!(r#"<task id="undo"/>{}"#, associated("undo"));
    assert_eq!(event(&plain), "a compensation boundary event needs an association with its handler\n");
    let two = format!(r#"{handler}<task id="more" isForCompensation="true"/>{}{}"#, associated("undo"), associated("more"));
    assert_eq!(event(&two), "a compensation boundary event has one handler\n");
    let flow = format!(r#"{handler}{}<sequenceFlow id="f" sourceRef="a" targetRef="undo"/>"#, associated("undo"));
    assert_eq!(event(&flow), "its handler 'undo' must have no flows\n");
    let out = format!(r#"{handler}{}<sequenceFlow id="f" sourceRef="ba" targetRef="a"/>"#, associated("undo"));
    assert_eq!(event(&out), "no flow may leave a compensation boundary event: associate it with a handler\n");
    let inner = r#"<subProcess id="s"><startEvent id="i"/><task id="b"/></subProcess>"#;
    let throw = |attributes: &str| {
        let throw = format!(r#"<endEvent id="t"><compensateEventDefinition {attributes}/></endEvent>"#);
        told(&file(&format!("{inner}{throw}")))
    };
    assert_eq!(throw(r#"activityRef="b""#), "it refers to 'b', which is no activity beside it\n");
    let never_waits = "compensation is always waited for: remove waitForCompletion=\"false\"\n";
    assert_eq!(throw(r#"waitForCompletion="false""#), never_waits);
}

/// What would be ignored otherwise.
#[test]
fn attributes_that_say_how_it_runs_are_followed_or_refused() {
    let extensions = r#"<extensionElements><zeebe:loopCharacteristics inputCollection="=[1]"/></extensionElements>"#;
    let each = |behavior: &str| {
        let marker = format!("<multiInstanceLoopCharacteristics {behavior}>{extensions}</multiInstanceLoopCharacteristics>");
        told(&file(&format!(r#"<task id="a">{marker}</task>"#)))
    };
    assert_eq!(each(r#"behavior="One""#), "the behavior 'One' is not supported: throw events from inside the activity\n");
    assert_eq!(each(r#"behavior="All""#), each(""));
    let room = |ordering: &str| told(&file(&format!(r#"<adHocSubProcess id="a" {ordering}><task id="b"/></adHocSubProcess>"#)));
    let refused = "its activities run side by side: an ordering other than Parallel is not supported\n";
    assert_eq!(room(r#"ordering="Sequential""#), refused);
    assert_eq!(room(r#"ordering="Parallel""#), room(""));
}

#[test]
fn variables_of_the_engine_are_nobody_elses() {
    for (inside, what) in [
        (
            r#"<scriptTask id="a"><extensionElements><zeebe:script expression="=1" resultVariable="caudal:x"/></extensionElements></scriptTask>"#,
            "resultVariable",
        ),
        (
            r#"<businessRuleTask id="a"><extensionElements><zeebe:calledDecision decisionId="d" resultVariable="caudal:x"/></extensionElements></businessRuleTask>"#,
            "resultVariable",
        ),
        (
            r#"<manualTask id="a"><multiInstanceLoopCharacteristics><extensionElements><zeebe:loopCharacteristics inputCollection="=[1]" inputElement="caudal:x"/></extensionElements></multiInstanceLoopCharacteristics></manualTask>"#,
            "inputElement",
        ),
        (
            r#"<manualTask id="a"><multiInstanceLoopCharacteristics><extensionElements><zeebe:loopCharacteristics inputCollection="=[1]" outputCollection="caudal:x" outputElement="=1"/></extensionElements></multiInstanceLoopCharacteristics></manualTask>"#,
            "outputCollection",
        ),
    ] {
        let told = told(&file(&format!(r#"{inside}<sequenceFlow id="f" sourceRef="start" targetRef="a"/>"#)));
        assert_eq!(told, format!("the {what} 'caudal:x' begins with 'caudal:': the engine keeps such names for itself\n"));
    }
}

#[test]
fn what_comes_after_a_handler_stays_with_it() {
    let told = |behind: &str| {
        let oops = r#"<boundaryEvent id="oops" attachedToRef="undo"><timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition></boundaryEvent>"#;
        let way = format!(r#"<sequenceFlow id="w" sourceRef="oops" targetRef="fix"/><manualTask id="fix"/>{behind}"#);
        told(&file(&format!("{UNDONE}{oops}{way}")))
    };
    assert!(told("").starts_with("p: process"));
    let shared = r#"<sequenceFlow id="g1" sourceRef="fix" targetRef="end"/>"#;
    assert!(told(shared).starts_with("p: process"));
    let join = r#"<parallelGateway id="j"/><sequenceFlow id="g1" sourceRef="fix" targetRef="j"/>"#;
    assert!(told(join).starts_with("p: process"));
    let joined = format!(r#"{join}<sequenceFlow id="g2" sourceRef="start" targetRef="j"/>"#);
    let reason = "what comes after an event on a compensation handler cannot be joined with anything else: end it by itself\n";
    assert_eq!(told(&joined), reason);
    let stop =
        r#"<endEvent id="stop"><terminateEventDefinition/></endEvent><sequenceFlow id="g1" sourceRef="fix" targetRef="stop"/>"#;
    assert_eq!(told(stop), "what comes after an event on a compensation handler cannot terminate the rest\n");
}

#[test]
fn those_who_choose_in_an_ad_hoc_sub_process_are_told_what_is_said_about_each() {
    let tool = |inputs: &str| {
        let about =
            r#"<zeebe:properties><zeebe:property name="kind" value="tool"/><zeebe:property name="none"/></zeebe:properties>"#;
        let mapping = format!("<zeebe:ioMapping>{inputs}</zeebe:ioMapping>");
        let tool = format!(
            r#"<serviceTask id="book" name="Book a room"><documentation>Books a room for one night.</documentation>
               <extensionElements><zeebe:taskDefinition type="book"/>{about}{mapping}</extensionElements></serviceTask>"#
        );
        bpmn(file(&format!(r#"<adHocSubProcess id="agent"><manualTask id="think"/>{tool}</adHocSubProcess>"#)).as_bytes())
    };
    let input = r#"<zeebe:input source="=fromAi(toolCall.city, &quot;Where&quot;, &quot;string&quot;)" target="city"/>"#;
    let compiled = tool(input).unwrap();
    let described = compiled.processes[0].elements.iter().find_map(|element| match &element.kind {
        model::Kind::AdHoc(ad_hoc) => Some(ad_hoc.described.to_string()),
        _ => None,
    });
    let expected = r#"[{"elementId":"think"},{"elementId":"book","elementName":"Book a room","documentation":"Books a room for one night.","properties":{"kind":"tool","none":null},"parameters":[{"name":"toolCall.city","description":"Where","type":"string"}]}]"#;
    assert_eq!(described.unwrap(), expected);
    let wrong = tool(r#"<zeebe:input source="=fromAi(1)" target="city"/>"#).unwrap_err();
    assert_eq!(wrong[0].reason, "the value of fromAi must be a variable or a path, like toolCall.city");
}
