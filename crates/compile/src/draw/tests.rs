use model::{JobTask, Kind};

use super::*;

fn drawn_of(steps: &str) -> Result<String, String> {
    let text = format!(r#"{{"id": "w", "name": "W", "steps": [{steps}]}}"#);
    drawn(&crate::json(text.as_bytes()).unwrap_or_else(|diagnostics| panic!("{diagnostics:#?}")))
}

fn read_back(xml: &str) -> Process {
    crate::bpmn(xml.as_bytes()).unwrap_or_else(|diagnostics| panic!("{xml}\n{diagnostics:#?}")).processes.remove(0)
}

const END: &str = r#"{"id": "end", "name": "End", "type": "END"}"#;

#[test]
fn what_begins_like_an_expression_stays_text() {
    let task = r#"{"id": "a", "name": "A", "type": "SERVICE_TASK", "jobType": "=a \"b\"", "nextStep": "u"}"#;
    let user = r#"{"id": "u", "name": "U", "type": "USER_TASK", "jobType": " a, b", "nextStep": "end"}"#;
    let process = read_back(&drawn_of(&format!("{task}, {user}, {END}")).unwrap());
    let gives = |expression: &feel::Expression| expression.evaluate(&[], &feel::Now::utc(0)).unwrap().to_json();
    let Kind::JobTask(JobTask { job_type: Text::Computed(job_type), .. }) = &process.elements[2].kind else { panic!("computed") };
    assert_eq!(gives(job_type), r#""=a \"b\"""#);
    let Kind::UserTask(task) = &process.elements[3].kind else { panic!("a user task") };
    let Candidates::Computed(groups) = &task.candidate_groups else { panic!("computed") };
    assert_eq!(gives(groups), r#"[" a, b"]"#);
}

#[test]
fn what_xml_cannot_write_is_refused() {
    let task = r#"{"id": "a", "name": "A", "type": "SERVICE_TASK", "jobType": "a\u0001", "nextStep": "end"}"#;
    assert_eq!(
        drawn_of(&format!("{task}, {END}")).unwrap_err(),
        "a text of the workflow has the character U+0001, which XML cannot write"
    );
}

#[test]
fn only_workflows_are_drawn() {
    assert!(drawn(&crate::text("start: start -> end\nend: end").unwrap()).is_err());
}

#[test]
fn ids_that_differ_only_in_what_xml_has_not_stay_apart() {
    let steps = r#"{"id": "a b", "name": "1", "type": "WAIT", "nextStep": "a_b"}, {"id": "a_b", "name": "2", "type": "WAIT", "nextStep": "a?b"},
        {"id": "a?b", "name": "3", "type": "WAIT", "nextStep": "end"}"#;
    let process = read_back(&drawn_of(&format!("{steps}, {END}")).unwrap());
    let ids: Vec<&str> = process.elements.iter().map(|element| &*element.id).collect();
    assert_eq!(ids, ["w", "#start", "a b", "a_b", "a?b", "end"]);
}

#[test]
fn a_step_may_have_the_id_of_its_workflow() {
    let process = read_back(
        &drawn_of(r#"{"id": "w", "name": "1", "type": "WAIT", "nextStep": "end"}, {"id": "end", "name": "End", "type": "END"}"#)
            .unwrap(),
    );
    let ids: Vec<&str> = process.elements.iter().map(|element| &*element.id).collect();
    assert_eq!(ids, ["w", "#start", "w", "end"]);
    assert_eq!(process.find("w"), Some(ElementIx(2)));
}

/// Every step leads to the end as well: places for all those lines would be millions.
#[test]
fn a_long_workflow_with_lines_to_its_end_is_drawn() {
    const STEPS: usize = 2_000;
    let step = |number: usize| {
        let next = if number + 1 < STEPS { format!("s{}", number + 1) } else { "end".to_owned() };
        let timer = r#"{"type": "TIMER", "duration": "PT1H", "interrupting": true, "targetStepId": "end"}"#;
        format!(r#"{{"id": "s{number}", "name": "S", "type": "WAIT", "nextStep": "{next}", "boundaryEvents": [{timer}]}}"#)
    };
    let steps: Vec<String> = (0..STEPS).map(step).collect();
    let xml = drawn_of(&format!("{}, {END}", steps.join(", "))).unwrap();
    assert_eq!(xml.matches("<bpmndi:BPMNEdge").count(), 1 + 2 * STEPS);
    assert_eq!(read_back(&xml).elements.len(), 3 + 2 * STEPS);
}
