//! Process → text notation, so that `text(print(process))` is the process again.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

use model::{
    Binding, Call, DecisionTask, Element, EndEvent, Flow, JobTask, JobTaskFlavour, Kind, PassTask, Process, Retries, Scope, Text,
};

use super::event::{self, write_value as value};
use super::flow::usual_id;
use super::{ad_hoc, listener, repeat, several, user_task, words};
use crate::draft::RUN;

/// Writes a process in text notation.
///
/// What is read back is the same process, with its flows in the order of the elements they leave.
pub fn print(process: &Process) -> String {
    let mut text = String::new();
    for (index, element) in process.elements.iter().enumerate() {
        if let Kind::AdHocRun | Kind::EventPart(_) = element.kind {
            continue;
        }
        let scope = match element.scope {
            Process::ROOT => String::new(),
            scope => format!(" in {}", process.element(scope).id.trim_end_matches(RUN)),
        };
        line(&mut text, &format!("{}{scope}: {}", element.id, kind(process, index)));
        flows(&mut text, process, element);
        several::lines(process, &element.kind).into_iter().for_each(|one| option(&mut text, Some(one)));
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
        Kind::SubProcess(scope) => format!("subprocess {}", start(process, scope)),
        Kind::Transaction(scope) => format!("transaction {}", start(process, scope)),
        Kind::EventSubProcess(scope) => format!("event-subprocess {}", start(process, scope)),
        Kind::AdHoc(ad_hoc) => ad_hoc::write(ad_hoc),
        Kind::AdHocRun | Kind::EventPart(_) => String::new(),
        Kind::StartEvent(None) => "start".to_owned(),
        Kind::StartEvent(Some(catch)) => {
            let word = if catch.interrupting { "start" } else { "start-beside" };
            format!("{word} {}", event::write_trigger(&catch.trigger))
        }
        Kind::CatchEvent(trigger) => format!("catch {}", event::write_trigger(trigger)),
        Kind::ReceiveTask(message) => format!("receive {}", event::write_message(message)),
        Kind::SendTask(publish) => format!("publish {}", event::write_publish(publish)),
        Kind::EventGateway => "events".to_owned(),
        Kind::CallActivity(call) => format!("call {}", value(&call.process)),
        Kind::EndEvent(EndEvent::None) => "end".to_owned(),
        Kind::EndEvent(EndEvent::Terminate) => "terminate".to_owned(),
        Kind::EndEvent(EndEvent::Cancel) => "cancel".to_owned(),
        Kind::EndEvent(EndEvent::After { .. }) => "end several".to_owned(),
        Kind::EndEvent(EndEvent::Error { code }) => format!("error {}", value(code)),
        Kind::EndEvent(EndEvent::Throw(throw)) => event::write_throw(process, "end", throw),
        Kind::ThrowEvent(None) => "throw".to_owned(),
        Kind::ThrowEvent(Some(throw)) => event::write_throw(process, "throw", throw),
        Kind::PassTask(PassTask::Undefined) => "pass".to_owned(),
        Kind::PassTask(PassTask::Manual) => "manual".to_owned(),
        Kind::JobTask(task) => format!("{} {}", job_word(task.flavour), value(&task.job_type)),
        Kind::UserTask(_) => "user".to_owned(),
        Kind::ScriptTask(script) => format!("script {} = {}", words::write(&script.result), script.expression.source()),
        Kind::Transformation(entries) => transformation(entries),
        Kind::Wait => "wait".to_owned(),
        Kind::DecisionTask(task) => format!("decide {} by {}", words::write(&task.result), value(&task.decision)),
        Kind::ExclusiveGateway { .. } => "exclusive".to_owned(),
        Kind::ParallelGateway => "parallel".to_owned(),
        Kind::InclusiveGateway(_) => "inclusive".to_owned(),
        Kind::ComplexGateway(gateway) => match &gateway.activation {
            Some(activation) => format!("complex = {}", activation.source()),
            None => "complex".to_owned(),
        },
        Kind::LinkThrow(link) => format!("link-throw {}", words::write(&link.name)),
        Kind::LinkCatch(name) => format!("link-catch {}", words::write(name)),
        Kind::BoundaryEvent(catch) => {
            let word = if catch.interrupting { "on" } else { "beside" };
            format!("{word} {} {}", words::write(host(process, index)), event::write_trigger(&catch.trigger))
        }
        Kind::CompensationBoundary(compensated) => {
            format!("compensate by {} on {}", process.element(compensated.handler).id, host(process, index))
        }
    }
}

fn job_word(flavour: JobTaskFlavour) -> &'static str {
    match flavour {
        JobTaskFlavour::Service => "task",
        JobTaskFlavour::Send => "send-task",
        JobTaskFlavour::Script => "script-task",
        JobTaskFlavour::BusinessRule => "rule-task",
        JobTaskFlavour::Throw => "throw-task",
        JobTaskFlavour::End => "end-task",
        JobTaskFlavour::User => "user-task",
        // Only inside an ad-hoc sub-process.
        JobTaskFlavour::AdHoc => "ad-hoc by",
    }
}

/// Those of JSON workflows are shown, and not read back: they speak another language, and may set several.
fn transformation(entries: &[(Arc<str>, Text)]) -> String {
    let source = |source: &Text| match source {
        Text::Fixed(json) => json.to_string(),
        Text::Computed(expression) => expression.source().to_owned(),
    };
    let set = entries.iter().map(|(name, value)| format!("set {} = {}", words::write(name), source(value)));
    set.collect::<Vec<_>>().join("; ")
}

fn start<'a>(process: &'a Process, scope: &Scope) -> &'a str {
    scope.start.map(|start| &*process.element(start).id).unwrap_or_default()
}

/// The id of the activity a boundary event sits on.
fn host(process: &Process, event: usize) -> &str {
    let carries = |element: &&Element| element.boundaries.iter().any(|boundary| boundary.0 as usize == event);
    process.elements.iter().find(carries).map(|element| &*element.id).unwrap_or_default()
}

fn flows(text: &mut String, process: &Process, element: &Element) {
    let default = match &element.kind {
        Kind::ExclusiveGateway { default } => *default,
        Kind::InclusiveGateway(gateway) => gateway.default,
        Kind::ComplexGateway(gateway) => gateway.default,
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
    for listened in element.listeners.iter().flatten().flat_map(listener::lines) {
        line(text, &format!("    {listened}"));
    }
    match &element.kind {
        Kind::JobTask(task) => job_options(text, task),
        Kind::AdHoc(ad_hoc) => {
            ad_hoc::options(ad_hoc).into_iter().for_each(|one| option(text, Some(one)));
            ad_hoc.directed.iter().for_each(|task| job_options(text, task));
        }
        Kind::UserTask(task) => user_task::options(task).into_iter().for_each(|one| option(text, Some(one))),
        Kind::DecisionTask(DecisionTask { binding, .. }) => option(text, binding_option(binding)),
        Kind::CallActivity(Call { binding, all_in, all_out, .. }) => {
            option(text, binding_option(binding));
            for (all, option) in [(all_in, "mapped-in"), (all_out, "mapped-out")] {
                if !all {
                    line(text, &format!("    only {option}"));
                }
            }
        }
        _ => {}
    }
}

fn option(text: &mut String, option: Option<String>) {
    if let Some(option) = option {
        line(text, &format!("    {option}"));
    }
}

pub(super) fn binding_option(binding: &Binding) -> Option<String> {
    match binding {
        Binding::Latest => None,
        Binding::Deployment => Some("binding deployment".to_owned()),
        Binding::VersionTag(tag) => Some(format!("binding tag {}", words::write_whole(tag))),
    }
}

fn job_options(text: &mut String, task: &JobTask) {
    if let Some(retries) = retries_option(&task.retries) {
        line(text, &format!("    retries {retries}"));
    }
    for (key, value) in &task.headers {
        line(text, &format!("    header {} = {}", words::write(key), words::write_whole(value)));
    }
    for header in &task.headers_computed {
        line(text, &format!("    {}", user_task::computed_header_option(header)));
    }
    if let Some(form) = &task.form {
        line(text, &format!("    form {}", super::event::write_value(&form.0)));
        if let Some(binding) = binding_option(&form.1) {
            line(text, &format!("    {binding}"));
        }
    }
}

/// Nothing for the usual number.
pub(super) fn retries_option(retries: &Retries) -> Option<String> {
    match retries {
        Retries::Fixed(3) => None,
        Retries::Fixed(number) => Some(number.to_string()),
        Retries::Computed(expression) => Some(format!("= {}", expression.source())),
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
