use super::*;

const LINEAR: &str = r#"{
  "id": "order:v-1", "name": "Order", "description": "Two tasks",
  "metadata": {"team": ["a", 1]},
  "steps": [
    {"id": "pack", "name": "Pack", "type": "SERVICE_TASK", "jobType": "pack", "retryCount": 2, "nextStep": "ship",
     "delegateClass": "com.example.Pack",
     "boundaryEvents": [{"type": "TIMER", "duration": "PT1H", "interrupting": true, "targetStepId": "done"}]},
    {"id": "ship", "name": "Ship", "type": "SERVICE_TASK", "jobType": "ship", "nextStep": "done"},
    {"id": "done", "name": "Done", "type": "END"}
  ]
}"#;

fn problems(text: &str) -> Vec<String> {
    json(text.as_bytes()).expect_err(text).iter().map(ToString::to_string).collect()
}

/// A workflow of these steps.
fn steps(steps: &str) -> String {
    format!(r#"{{"id": "w", "name": "W", "steps": [{steps}]}}"#)
}

#[test]
fn steps_become_elements_in_the_order_written() {
    let process = json(LINEAR.as_bytes()).unwrap();
    let ids: Vec<&str> = process.elements.iter().map(|element| &*element.id).collect();
    assert_eq!(ids, ["order:v-1", "#start", "pack", "pack#timer1", "ship", "done"]);
    assert_eq!(process.name.as_deref(), Some("Order"));
    assert_eq!(process.workflow.unwrap().description.as_deref(), Some("Two tasks"));
    let Kind::JobTask(task) = &process.elements[2].kind else { panic!("a service task") };
    assert!(matches!(task.retries, model::Retries::Fixed(3)));
    assert_eq!(process.elements[2].boundaries.len(), 1);
}

#[test]
fn branches_of_a_decision_stand_in_the_order_written() {
    let text = steps(
        r#"{"id": "d", "name": "D", "type": "DECISION", "conditionalNextSteps": {"z > 1": "b", "a == 'x'": "a", "true": "b"}},
           {"id": "a", "name": "A", "type": "END"}, {"id": "b", "name": "B", "type": "END"}"#,
    );
    let process = json(text.as_bytes()).unwrap();
    let gateway = &process.elements[2];
    let conditions: Vec<_> =
        gateway.outgoing.iter().map(|flow| process.flow(*flow).condition.as_ref().unwrap().source().to_owned()).collect();
    assert_eq!(conditions, ["z > 1", "a == 'x'", "true"]);
}

#[test]
fn a_transformation_takes_literals_and_expressions() {
    let text = steps(
        r#"{"id": "t", "name": "T", "type": "TRANSFORMATION", "nextStep": "e",
            "transformations": {"a": 1.50, "b": {"x" : [ null ]}, "c": "plain ${x}", "d": "${x + 1}", "e": "${x} + ${y}"}},
           {"id": "e", "name": "E", "type": "END"}"#,
    );
    let process = json(text.as_bytes()).unwrap();
    let Kind::Transformation(entries) = &process.elements[2].kind else { panic!("a transformation") };
    let shown: Vec<String> = entries
        .iter()
        .map(|(name, source)| match source {
            model::Text::Fixed(json) => format!("{name} {json}"),
            model::Text::Computed(expression) => format!("{name} = {}", expression.source()),
        })
        .collect();
    assert_eq!(shown, ["a 1.50", r#"b {"x":[null]}"#, r#"c "plain ${x}""#, "d = x + 1", "e = ${x} + ${y}"]);
}

#[test]
fn all_problems_are_listed_with_their_steps() {
    let text = r#"{"id": "no spaces", "steps": [
        {"id": "a", "name": "A", "type": "SERVICE_TASK", "nextStep": "gone", "retryCount": -1, "retryBackoff": "soon", "colour": 1},
        {"id": "b", "name": "B", "type": "LOOP"},
        {"id": "a", "name": "A", "type": "END"},
        {"id": "p", "type": "PARALLEL_GATEWAY", "parallelNextSteps": ["a"], "joinStep": "a"},
        {"id": "d", "name": "D", "type": "DECISION", "conditionalNextSteps": {"x >": "a"}},
        {"id": "w", "name": "W", "type": "WAIT", "nextStep": 5,
         "boundaryEvents": [{"type": "TIMER", "duration": "soon", "targetStepId": "a"}]},
        {"id": "e", "name": "E", "type": "END", "nextStep": "a"}
    ], "autoStartNextWorkflow": true}"#;
    let found = problems(text).join("\n");
    for expected in [
        "'no spaces': the id of a workflow",
        "name is missing",
        "nextWorkflowId is needed",
        "element 'a': steps[0].jobType is missing",
        "element 'a': steps[0].retryCount must be a whole number",
        "element 'a': retryBackoff is 'soon', but must be such as",
        "element 'a': there is no field 'steps[0].colour' here",
        "element 'a': nextStep names 'gone', which is no step",
        "element 'a': another step has this id already",
        "element 'b': there is no step type 'LOOP'",
        "element 'p': steps[3].name is missing",
        "element 'p': parallelNextSteps needs at least two steps",
        "element 'p': joinStep names 'a', which is no JOIN_GATEWAY",
        "element 'd': the condition 'x >' cannot be read",
        "element 'w': steps[5].nextStep must be a text",
        "element 'w': boundaryEvents[0].duration: the timer 'soon' cannot be used",
        "element 'e': steps[6].nextStep has no meaning in a step of type END",
        "element 'w': no way leads from the first step to this one",
    ] {
        assert!(found.contains(expected), "{expected} is not in:\n{found}");
    }
}

#[test]
fn what_is_no_workflow_is_refused() {
    for (text, why) in [
        ("", "this is not JSON"),
        ("[]", "a workflow must be a JSON object"),
        ("{} {}", "more than one JSON value"),
        (r#"{"id": "w", "id": "w", "name": "W", "steps": []}"#, "id is there twice"),
        (r#"{"id": "w", "name": "W", "steps": []}"#, "steps must not be empty"),
        (r#"{"id": "w", "name": "W"}"#, "steps is missing"),
        (r#"{"id": "w", "name": "W", "steps": 5}"#, "steps must be a list"),
        (
            r#"{"id": "w", "name": "W", "metadata": [], "steps": [{"id": "e", "name": "E", "type": "END"}]}"#,
            "metadata must be an object",
        ),
        (&steps(r##"{"id": "#e", "name": "E", "type": "END"}"##), "and no '#'"),
        (&steps(r#"{"id": "s", "name": "S", "type": "SERVICE_TASK", "jobType": "t"}"#), "no END is reached"),
        (
            &steps(
                r#"{"id": "d", "name": "D", "type": "DECISION", "conditionalNextSteps": {"x": "e", "x": "f"}}, {"id": "e", "name": "E", "type": "END"}, {"id": "f", "name": "F", "type": "END"}"#,
            ),
            "the condition 'x' is there twice",
        ),
        (&"[".repeat(100_000), "nested too deep"),
    ] {
        let found = problems(text).join("\n");
        assert!(found.contains(why), "{why} is not in: {found}");
    }
}

#[test]
fn a_loop_that_never_waits_is_refused() {
    let text = steps(
        r#"{"id": "t", "name": "T", "type": "TRANSFORMATION", "transformations": {"n": "${n + 1}"}, "nextStep": "d"},
           {"id": "d", "name": "D", "type": "DECISION", "conditionalNextSteps": {"n < 5": "t", "true": "e"}},
           {"id": "e", "name": "E", "type": "END"}"#,
    );
    assert!(problems(&text)[0].contains("this loop never waits"), "{:?}", problems(&text));
}

#[test]
fn names_the_engine_keeps_for_itself_are_not_set() {
    let text = steps(
        r#"{"id": "t", "name": "T", "type": "TRANSFORMATION", "transformations": {"caudal:told": 1}, "nextStep": "e"},
           {"id": "e", "name": "E", "type": "END"}"#,
    );
    assert_eq!(
        problems(&text),
        [
            "line 1, column 107, element 't': transformations: the name 'caudal:told' begins with 'caudal:': the engine keeps such names for itself"
        ]
    );
}
