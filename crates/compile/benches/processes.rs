//! What compiling processes costs, and drawing workflows. `cargo bench -p compile`

fn main() {
    divan::main();
}

/// As many elements: tasks in a row with a decision after every ninth.
fn bpmn(elements: usize) -> String {
    let mut inside = String::from(r#"<startEvent id="e0"/>"#);
    for number in 1..elements {
        let before = number - 1;
        let gateway = number % 10 == 0;
        let condition = r#"<conditionExpression>=amount &gt; 100 and customer.level = "gold"</conditionExpression>"#;
        let flow = match before.is_multiple_of(10) && 0 < before {
            true => {
                format!(r#"<sequenceFlow id="f{number}" sourceRef="e{before}" targetRef="e{number}">{condition}</sequenceFlow>"#)
            }
            false => format!(r#"<sequenceFlow id="f{number}" sourceRef="e{before}" targetRef="e{number}"/>"#),
        };
        let element = match gateway {
            true => format!(r#"<exclusiveGateway id="e{number}"/>"#),
            false => format!(
                r#"<serviceTask id="e{number}"><extensionElements><zeebe:taskDefinition type="work"/><zeebe:ioMapping>
                <zeebe:input source="=order.items" target="items"/></zeebe:ioMapping></extensionElements></serviceTask>"#
            ),
        };
        inside.push_str(&element);
        inside.push_str(&flow);
    }
    format!(
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"
        targetNamespace="t"><process id="p" isExecutable="true">{inside}</process></definitions>"#
    )
}

/// As many elements: tasks with something that undoes them, which may fail.
fn compensated(elements: usize) -> String {
    let group = |n: usize| {
        format!(
            r#"<task id="t{n}"/><boundaryEvent id="c{n}" attachedToRef="t{n}"><compensateEventDefinition/></boundaryEvent>
            <task id="u{n}" isForCompensation="true"/><association id="a{n}" sourceRef="c{n}" targetRef="u{n}"/>
            <boundaryEvent id="e{n}" attachedToRef="u{n}"><errorEventDefinition/></boundaryEvent><task id="w{n}"/>
            <sequenceFlow id="f{n}" sourceRef="e{n}" targetRef="w{n}"/>"#
        )
    };
    let groups: String = (0..elements / 5).map(group).collect();
    format!(
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">
        <process id="p" isExecutable="true"><startEvent id="s"/>{groups}</process></definitions>"#
    )
}

#[divan::bench(args = [100, 1_000, 10_000, 50_000])]
fn compile_compensated(bencher: divan::Bencher<'_, '_>, elements: usize) {
    let source = compensated(elements);
    bencher.bench(|| compile::bpmn(source.as_bytes()).map(|compiled| compiled.processes.len()).expect("the process is right"));
}

/// Tasks in a row, each with a timer that leads to the end.
fn json(steps: usize) -> String {
    let step = |number: usize| {
        let next = if number + 1 < steps { format!("s{}", number + 1) } else { "end".to_owned() };
        let timer = r#"{"type": "TIMER", "duration": "PT1H", "interrupting": true, "targetStepId": "end"}"#;
        format!(
            r#"{{"id": "s{number}", "name": "S", "type": "SERVICE_TASK", "jobType": "work", "nextStep": "{next}", "boundaryEvents": [{timer}]}}"#
        )
    };
    let steps: Vec<String> = (0..steps).map(step).collect();
    format!(r#"{{"id": "w", "name": "W", "steps": [{}, {{"id": "end", "name": "End", "type": "END"}}]}}"#, steps.join(", "))
}

#[divan::bench(args = [10, 100, 1_000, 10_000])]
fn compile_bpmn(bencher: divan::Bencher<'_, '_>, elements: usize) {
    let source = bpmn(elements);
    bencher.bench(|| compile::bpmn(source.as_bytes()).map(|compiled| compiled.processes.len()).expect("the process is right"));
}

#[divan::bench(args = [10, 100, 1_000])]
fn compile_json(bencher: divan::Bencher<'_, '_>, steps: usize) {
    let source = json(steps);
    bencher.bench(|| compile::json(source.as_bytes()).map(|process| process.elements.len()).expect("the workflow is right"));
}

#[divan::bench(args = [10, 100, 1_000])]
fn draw(bencher: divan::Bencher<'_, '_>, steps: usize) {
    let process = compile::json(json(steps).as_bytes()).expect("the workflow is right");
    bencher.bench(|| compile::drawn(&process).expect("it can be drawn").len());
}
