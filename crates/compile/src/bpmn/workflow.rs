//! What JSON workflows have and BPMN lacks, as extensions of a namespace of our own: a workflow drawn as BPMN is that workflow.
//!
//! | where | what |
//! |---|---|
//! | process | `caudal:workflow`, with `next`: results are merged object by object; the documentation is its description |
//! | receive task | `caudal:wait`: waits until it is told to go on |
//! | script task | `caudal:set` with `name` and either `value` (JSON) or `expression` |
//! | condition | `language="urn:caudal:workflow:1"` |
//! | anything with an id | `caudal:id`, where the id of a step is none in XML |

use std::collections::HashMap;
use std::sync::Arc;

use model::{Kind, Text, Workflow};
use roxmltree::Node;

use super::site::Site;
use super::vocabulary::{bpmn_name, content};
use crate::diagnostic::{Findings, quoted};
use crate::draft::Draft;

/// The namespace, and the language of conditions.
pub(crate) const CAUDAL: &str = "urn:caudal:workflow:1";
const ID_CHARS_MAX: usize = 256;

/// The extensions of this name.
pub(super) fn all<'a, 'input>(node: Node<'a, 'input>, name: &str) -> Vec<Node<'a, 'input>> {
    let holders = node.children().filter(|child| bpmn_name(*child) == Some("extensionElements"));
    holders.flat_map(|holder| holder.children()).filter(|child| child.has_tag_name((CAUDAL, name))).collect()
}

/// What the process is as a workflow, if it is one.
pub(super) fn read(site: &Site<'_, '_, '_>) -> Option<Workflow> {
    let found = all(site.node, "workflow");
    let node = found.first()?;
    let documentation = site.node.children().find(|child| bpmn_name(*child) == Some("documentation"));
    let description = documentation.map(content).filter(|text| !text.is_empty()).map(Into::into);
    let next = node.attribute("next").filter(|next| !next.is_empty()).map(Into::into);
    Some(Workflow { description, next })
}

/// The variables a script task of a workflow sets; nothing if it is an ordinary one.
pub(super) fn transformation(site: &mut Site<'_, '_, '_>) -> Option<Kind> {
    let found = all(site.node, "set");
    let mut entries: Vec<(Arc<str>, Text)> = Vec::with_capacity(found.len());
    for node in &found {
        let entry = entry(*node);
        if let Some((name, text)) = site.note(*node, entry) {
            match entries.iter().any(|(known, _)| *known == name) {
                true => site.complain_at(*node, format!("{} is set twice", quoted(&name))),
                false => entries.push((name, text)),
            }
        }
    }
    (!found.is_empty()).then_some(Kind::Transformation(entries))
}

fn entry(node: Node<'_, '_>) -> Result<(Arc<str>, Text), String> {
    let name = node.attribute("name").filter(|name| !name.is_empty()).ok_or("caudal:set needs a name")?;
    let name = crate::expression::variable("the name", name)?;
    match (node.attribute("value"), node.attribute("expression")) {
        (Some(value), None) => match feel::Value::from_json(value) {
            Ok(_) => Ok((name, Text::Fixed(value.into()))),
            Err(error) => Err(format!("the value {} is not JSON: {error}", quoted(value))),
        },
        (None, Some(source)) => expression(source).map(|expression| (name, Text::Computed(expression))),
        (Some(_), Some(_)) | (None, None) => Err("caudal:set needs a value or an expression, one of the two".to_owned()),
    }
}

pub(super) fn expression(source: &str) -> Result<feel::Expression, String> {
    feel::parse_workflow(source).map_err(|error| format!("the expression {} cannot be read: {error}", quoted(source)))
}

/// Refuses what only a workflow may have, and in a workflow what none has. Then gives steps their own ids.
pub(super) fn finish(process: Node<'_, '_>, workflow: Option<&Workflow>, draft: &mut Draft, findings: &mut Findings) {
    for element in &draft.elements {
        let Some(kind) = element.kind() else { continue };
        match (is_of_workflow(kind), workflow) {
            (Place::WorkflowOnly, None) => {
                findings.add(element.at, &element.id, "only a workflow has this: the process needs a caudal:workflow");
            }
            (Place::ProcessOnly, Some(_)) => findings.add(element.at, &element.id, "a workflow has no such element"),
            (Place::Both | Place::WorkflowOnly, Some(_)) | (Place::Both | Place::ProcessOnly, None) => {}
        }
        let more = element.inputs.is_some() || element.outputs.is_some() || element.repeat.is_some();
        if workflow.is_some() && (more || !element.listeners.is_empty()) {
            findings.add(element.at, &element.id, "a step of a workflow has neither mappings nor listeners, and is not repeated");
        }
    }
    if workflow.is_some() {
        rename(process, draft, findings);
    }
}

enum Place {
    Both,
    WorkflowOnly,
    ProcessOnly,
}

/// Which kinds JSON workflows are compiled to.
fn is_of_workflow(kind: &Kind) -> Place {
    match kind {
        Kind::Wait | Kind::Transformation(_) => Place::WorkflowOnly,
        Kind::Process(_)
        | Kind::StartEvent(None)
        | Kind::EndEvent(model::EndEvent::None)
        | Kind::CallActivity(_)
        | Kind::JobTask(_)
        | Kind::UserTask(_)
        | Kind::ExclusiveGateway { .. }
        | Kind::ParallelGateway
        | Kind::InclusiveGateway(_) => Place::Both,
        Kind::BoundaryEvent(catch) if matches!(catch.trigger, model::Trigger::Timer(_)) => Place::Both,
        Kind::SubProcess(_)
        | Kind::Transaction(_)
        | Kind::EventSubProcess(_)
        | Kind::AdHoc(_)
        | Kind::AdHocRun
        | Kind::StartEvent(Some(_))
        | Kind::EndEvent(_)
        | Kind::ThrowEvent(_)
        | Kind::CatchEvent(_)
        | Kind::ReceiveTask(_)
        | Kind::EventGateway
        | Kind::SendTask(_)
        | Kind::PassTask(_)
        | Kind::ScriptTask(_)
        | Kind::DecisionTask(_)
        | Kind::LinkThrow(_)
        | Kind::LinkCatch(_)
        | Kind::ComplexGateway(_)
        | Kind::BoundaryEvent(_)
        | Kind::CompensationBoundary(_)
        | Kind::EventPart(_) => Place::ProcessOnly,
    }
}

/// Ids of steps are freer than those of XML.
fn rename(process: Node<'_, '_>, draft: &mut Draft, findings: &mut Findings) {
    let nodes = std::iter::once(process).chain(process.children());
    let mut names: HashMap<&str, Arc<str>> = HashMap::new();
    for node in nodes {
        let (Some(id), Some(own)) = (node.attribute("id"), node.attribute((CAUDAL, "id"))) else { continue };
        if own.is_empty() || ID_CHARS_MAX < own.chars().count() || own.chars().any(char::is_control) {
            findings.add(node.range().start, id, format!("caudal:id has 1 to {ID_CHARS_MAX} characters, none of them control"));
        }
        names.insert(id, own.into());
    }
    let rename = |id: &mut Arc<str>| {
        if let Some(name) = names.get(&**id) {
            *id = name.clone();
        }
    };
    for element in &mut draft.elements {
        rename(&mut element.id);
        element.attached_to.iter_mut().for_each(rename);
        element.default.iter_mut().for_each(rename);
    }
    for flow in &mut draft.flows {
        rename(&mut flow.id);
        rename(&mut flow.source);
        rename(&mut flow.target);
    }
    let mut seen = std::collections::HashSet::new();
    // A step may have the id of the workflow itself.
    let all = draft.elements.iter().skip(1).map(|element| (element.at, &element.id));
    for (at, id) in all.chain(draft.flows.iter().map(|flow| (flow.at, &flow.id))) {
        if !seen.insert(id.clone()) {
            findings.add(at, id, "the id is used more than once");
        }
    }
}
