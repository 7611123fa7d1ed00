//! Process → text notation, so that `text(print(process))` is the process again.

use std::collections::HashMap;
use std::fmt::Write;

use model::{
    Binding, Compensate, DecisionTask, Element, EndEvent, ErrorCatch, Flow, JobTask, JobTaskFlavour, Kind, PassTask, Process,
    Retries, Text,
};

use super::flow::usual_id;
use super::repeat;
use super::words;

/// Writes a process in text notation.
///
/// What is read back is the same process, with its flows in the order of the elements they leave.
pub fn print(process: &Process) -> String {
    let mut text = String::new();
    for (index, element) in process.elements.iter().enumerate() {
        let scope = match element.scope {
            Process::ROOT => String::new(),
            scope => format!(" in {}", process.element(scope).id),
        };
        line(&mut text, &format!("{}{scope}: {}", element.id, kind(process, index)));
        flows(&mut text, process, element);
        options(&mut text, element);
        if index == 0
            && let Some(tag) = &process.version_tag
        {
            line(&mut text, &format!("    version-tag {}", words::write_whole(tag)));
        }
    }
    text
}

fn kind(process: &Process, index: usize) -> String {
    match &process.elements[index].kind {
        Kind::Process(_) => "process".to_owned(),
        Kind::SubProcess(scope) => {
            let start = scope.start.map(|start| &*process.element(start).id);
            format!("subprocess {}", start.unwrap_or_default())
        }
        Kind::StartEvent => "start".to_owned(),
        Kind::EndEvent(EndEvent::None) => "end".to_owned(),
        Kind::EndEvent(EndEvent::Terminate) => "terminate".to_owned(),
        Kind::EndEvent(EndEvent::Error { code }) => format!("error {}", value(code)),
        Kind::ThrowEvent => "throw".to_owned(),
        Kind::PassTask(PassTask::Undefined) => "pass".to_owned(),
        Kind::PassTask(PassTask::Manual) => "manual".to_owned(),
        Kind::JobTask(JobTask { flavour, job_type, .. }) => {
            let word = match flavour {
                JobTaskFlavour::Service => "task",
                JobTaskFlavour::Send => "send-task",
                JobTaskFlavour::Script => "script-task",
                JobTaskFlavour::BusinessRule => "rule-task",
            };
            format!("{word} {}", value(job_type))
        }
        Kind::ScriptTask(script) => format!("script {} = {}", words::write(&script.result), script.expression.source()),
        Kind::DecisionTask(task) => format!("decide {} by {}", words::write(&task.result), value(&task.decision)),
        Kind::ExclusiveGateway { .. } => "exclusive".to_owned(),
        Kind::ParallelGateway => "parallel".to_owned(),
        Kind::ErrorBoundary(catch) => {
            let code = match catch {
                ErrorCatch::Any => String::new(),
                ErrorCatch::Code(code) => format!("{} ", words::write(code)),
            };
            format!("error {code}on {}", host(process, index))
        }
        Kind::CompensationBoundary(compensated) => {
            format!("compensate by {} on {}", process.element(compensated.handler).id, host(process, index))
        }
        Kind::CompensationThrow(compensate) => format!("compensate{}", undone(process, compensate)),
        Kind::EndEvent(EndEvent::Compensation(compensate)) => format!("compensate-end{}", undone(process, compensate)),
    }
}

/// The id of the activity a boundary event sits on.
fn host(process: &Process, event: usize) -> &str {
    let carries = |element: &&Element| element.boundaries.iter().any(|boundary| boundary.0 as usize == event);
    process.elements.iter().find(carries).map(|element| &*element.id).unwrap_or_default()
}

fn undone(process: &Process, compensate: &Compensate) -> String {
    compensate.activity.map(|activity| format!(" {}", process.element(activity).id)).unwrap_or_default()
}

fn value(text: &Text) -> String {
    match text {
        Text::Fixed(text) => words::write(text),
        Text::Computed(expression) => format!("= {}", expression.source()),
    }
}

fn flows(text: &mut String, process: &Process, element: &Element) {
    let default = match &element.kind {
        Kind::ExclusiveGateway { default } => *default,
        _ => None,
    };
    let mut pairs: HashMap<&str, usize> = HashMap::new();
    for ix in &element.outgoing {
        let Flow { id, target, condition, .. } = process.flow(*ix);
        let target = &*process.element(*target).id;
        let mut flow = String::from("    -> ");
        if default == Some(*ix) {
            flow.push_str("default ");
        }
        flow.push_str(&words::write(target));
        let count = pairs.get(target).copied().unwrap_or(0) + 1;
        if **id == usual_id(&element.id, target, count) {
            pairs.insert(target, count);
        } else {
            flow.push_str(&format!(" as {}", words::write(id)));
        }
        if let Some(condition) = condition {
            flow.push_str(&format!(" if {}", condition.source()));
        }
        line(text, &flow);
    }
}

fn options(text: &mut String, element: &Element) {
    if let Some(name) = &element.name {
        line(text, &format!("    name {}", words::write_whole(name)));
    }
    if let Some(inputs) = &element.inputs {
        line(text, &format!("    inputs {}", inputs.source()));
    }
    if let Some(outputs) = &element.outputs {
        line(text, &format!("    outputs {}", outputs.source()));
    }
    for repeated in element.repeat.iter().flat_map(repeat::lines) {
        line(text, &format!("    {repeated}"));
    }
    match &element.kind {
        Kind::JobTask(task) => job_options(text, task),
        Kind::DecisionTask(DecisionTask { binding: Binding::Deployment, .. }) => line(text, "    binding deployment"),
        Kind::DecisionTask(DecisionTask { binding: Binding::VersionTag(tag), .. }) => {
            line(text, &format!("    binding tag {}", words::write_whole(tag)));
        }
        _ => {}
    }
}

fn job_options(text: &mut String, task: &JobTask) {
    match &task.retries {
        Retries::Fixed(3) => {}
        Retries::Fixed(number) => line(text, &format!("    retries {number}")),
        Retries::Computed(expression) => line(text, &format!("    retries = {}", expression.source())),
    }
    for (key, value) in &task.headers {
        line(text, &format!("    header {} = {}", words::write(key), words::write_whole(value)));
    }
}

/// One line of the notation; what has line breaks goes on below.
fn line(text: &mut String, content: &str) {
    let mut lines = content.split('\n');
    writeln!(text, "{}", lines.next().unwrap_or_default()).expect("writing to a string does not fail");
    for more in lines {
        writeln!(text, "    |{more}").expect("writing to a string does not fail");
    }
}
