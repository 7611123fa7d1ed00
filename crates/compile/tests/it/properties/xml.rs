//! A generated process written as BPMN XML.

use model::{Catch, CodeCatch, ElementIx, EndEvent, Flow, JobTask, Kind, PassTask, Process, Text, Trigger};

/// A file with this inside.
pub(crate) fn file(inside: &str) -> String {
    let namespaces = r#"xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0""#;
    format!("<definitions {namespaces}>{inside}</definitions>")
}

/// A process as a file.
pub(crate) fn xml(process: &Process) -> String {
    let errors: String = all(process).filter_map(|ix| error(process, ix)).collect();
    let inside = scope(process, Process::ROOT);
    let id = &process.id;
    file(&format!(r#"{errors}<process id="{id}" isExecutable="true">{inside}</process>"#))
}

fn all(process: &Process) -> impl Iterator<Item = ElementIx> {
    (1..process.elements.len()).map(|index| ElementIx(index as u32))
}

/// Flows go backwards, since the last of a file is taken first.
fn scope(process: &Process, scope: ElementIx) -> String {
    let inside = |ix: &ElementIx| process.element(*ix).scope == scope;
    let elements = all(process).filter(inside).map(|ix| element(process, ix));
    let flows = process.flows.iter().rev().filter(|flow| inside(&flow.source));
    elements.chain(flows.map(|written| flow(process, written))).collect()
}

fn element(process: &Process, ix: ElementIx) -> String {
    let element = process.element(ix);
    let thrown = || format!(r#"<errorEventDefinition errorRef="error_{}"/>"#, element.id);
    let (tag, attributes, body) = match &element.kind {
        Kind::StartEvent(None) => ("startEvent", String::new(), String::new()),
        Kind::EndEvent(EndEvent::None) => ("endEvent", String::new(), String::new()),
        Kind::EndEvent(EndEvent::Error { .. }) => ("endEvent", String::new(), thrown()),
        Kind::PassTask(PassTask::Undefined) => ("task", String::new(), String::new()),
        Kind::ScriptTask(script) => {
            let source = script.expression.source();
            ("scriptTask", String::new(), mapped_script(source))
        }
        Kind::JobTask(task) => ("serviceTask", String::new(), job(task)),
        Kind::ExclusiveGateway { default } => {
            let default = default.map(|flow| format!(r#" default="{}""#, process.flow(flow).id));
            ("exclusiveGateway", default.unwrap_or_default(), String::new())
        }
        Kind::ParallelGateway => ("parallelGateway", String::new(), String::new()),
        Kind::InclusiveGateway(gateway) => {
            let default = gateway.default.map(|flow| format!(r#" default="{}""#, process.flow(flow).id));
            ("inclusiveGateway", default.unwrap_or_default(), String::new())
        }
        Kind::ComplexGateway(gateway) => {
            let activation = gateway.activation.as_ref().map(|condition| escaped(condition.source()));
            let activation = activation.map(|source| format!("<activationCondition>={source}</activationCondition>"));
            ("complexGateway", String::new(), activation.unwrap_or_default())
        }
        Kind::SubProcess(_) => ("subProcess", String::new(), scope(process, ix)),
        Kind::BoundaryEvent(Catch { trigger: Trigger::Error(catch), .. }) => {
            let mut hosts = process.elements.iter();
            let host = hosts.find(|host| host.boundaries.contains(&ix)).unwrap();
            let definition = match catch {
                CodeCatch::Any => "<errorEventDefinition/>".to_owned(),
                CodeCatch::Code(_) => thrown(),
            };
            let attached = format!(r#" attachedToRef="{}""#, host.id);
            ("boundaryEvent", attached, definition)
        }
        other => unreachable!("{other:?} is not generated"),
    };
    let name = element.name.as_deref();
    let name = name.map(|name| format!(r#" name="{}""#, escaped(name)));
    let name = name.unwrap_or_default();
    let id = &element.id;
    format!(r#"<{tag} id="{id}"{name}{attributes}>{body}</{tag}>"#)
}

/// The error an element throws or catches by code.
fn error(process: &Process, ix: ElementIx) -> Option<String> {
    let element = process.element(ix);
    let code = match &element.kind {
        Kind::EndEvent(EndEvent::Error { code: Text::Fixed(code) })
        | Kind::BoundaryEvent(Catch { trigger: Trigger::Error(CodeCatch::Code(code)), .. }) => escaped(code),
        _ => return None,
    };
    let id = &element.id;
    Some(format!(r#"<error id="error_{id}" errorCode="{code}"/>"#))
}

/// Every generated script has the same mappings.
fn mapped_script(source: &str) -> String {
    let script = format!(r#"<zeebe:script expression="={source}" resultVariable="v"/>"#);
    let input = r#"<zeebe:input source="=v" target="a.b"/>"#;
    let output = r#"<zeebe:output source="=a" target="c.d"/>"#;
    let mappings = format!("<zeebe:ioMapping>{input}{output}</zeebe:ioMapping>");
    format!("<extensionElements>{script}{mappings}</extensionElements>")
}

fn job(task: &JobTask) -> String {
    let Text::Fixed(job_type) = &task.job_type else {
        unreachable!("job types are not computed here");
    };
    let definition = format!(r#"<zeebe:taskDefinition type="{}"/>"#, escaped(job_type));
    let headers = task.headers.iter().map(|(key, value)| {
        let (key, value) = (escaped(key), escaped(value));
        format!(r#"<zeebe:header key="{key}" value="{value}"/>"#)
    });
    let headers: String = headers.collect();
    let headers = format!("<zeebe:taskHeaders>{headers}</zeebe:taskHeaders>");
    format!("<extensionElements>{definition}{headers}</extensionElements>")
}

fn flow(process: &Process, flow: &Flow) -> String {
    let id = &flow.id;
    let source = &process.element(flow.source).id;
    let target = &process.element(flow.target).id;
    let condition = flow.condition.as_ref().map(|condition| {
        let source = escaped(condition.source());
        format!("<conditionExpression>={source}</conditionExpression>")
    });
    let condition = condition.unwrap_or_default();
    format!(r#"<sequenceFlow id="{id}" sourceRef="{source}" targetRef="{target}">{condition}</sequenceFlow>"#)
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('"', "&quot;").replace('\n', "&#10;")
}
