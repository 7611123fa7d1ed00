//! `extensionElements`: those of the `zeebe` namespace, by name. Those of other products are not looked at.

use std::sync::Arc;

use feel::Expression;
use model::Binding;
use roxmltree::Node;

use super::site::Site;
use super::vocabulary::{ZEEBE, bpmn_name};
use crate::diagnostic::quoted;
use crate::expression;
use crate::mapping::{Direction, Mappings};

/// Header keys that begin so belong to the engine.
const RESERVED_HEADERS: &str = "io.camunda.zeebe:";

/// Extensions that change what an engine does, in ways this one does not know yet.
const UNSUPPORTED: [(&str, &str); 3] = [
    ("linkedResources", "linked resources are"),
    ("jobPriorityDefinition", "job priorities are"),
    ("agentDefinition", "agents are"),
];

/// Extensions that are read where they mean something, or only matter to other programs.
const KNOWN: [&str; 21] = [
    "adHoc",
    "assignmentDefinition",
    "calledDecision",
    "calledElement",
    "conditionalFilter",
    "executionListeners",
    "formDefinition",
    "ioMapping",
    "loopCharacteristics",
    "priorityDefinition",
    "properties",
    "publishMessage",
    "script",
    "subscription",
    "taskDefinition",
    "taskHeaders",
    "taskListeners",
    "taskSchedule",
    "userTask",
    "userTaskForm",
    "versionTag",
];

/// The `zeebe` extensions of a BPMN element that have this name.
pub(super) fn all<'a, 'input>(node: Node<'a, 'input>, name: &str) -> Vec<Node<'a, 'input>> {
    of(node).filter(|child| child.tag_name().name() == name).collect()
}

/// The extension of this name; a second one is refused.
pub(super) fn only<'a, 'input>(site: &mut Site<'a, 'input, '_>, name: &str) -> Option<Node<'a, 'input>> {
    let found = all(site.node, name);
    if let Some(second) = found.get(1) {
        site.complain_at(*second, format!("there is more than one zeebe:{name}"));
    }
    found.first().copied()
}

/// Refuses extensions that would be ignored although they mean something.
pub(super) fn check(site: &mut Site<'_, '_, '_>) {
    for child in of(site.node) {
        let name = child.tag_name().name();
        if let Some((_, what)) = UNSUPPORTED.iter().find(|(unsupported, _)| *unsupported == name) {
            site.complain_at(child, format!("{what} not supported yet"));
        } else if !KNOWN.contains(&name) {
            site.complain_at(child, format!("there is no extension {}", quoted(&format!("zeebe:{name}"))));
        }
    }
}

/// The input and output mappings of an element, as one expression each.
pub(super) fn mappings(site: &mut Site<'_, '_, '_>) -> (Option<Expression>, Option<Expression>) {
    let Some(node) = only(site, "ioMapping") else {
        return (None, None);
    };
    let mut inputs = Mappings::new(Direction::Input);
    let mut outputs = Mappings::new(Direction::Output);
    for child in zeebe_children(node) {
        let (source, target) = (child.attribute("source"), child.attribute("target").unwrap_or_default());
        let added = match child.tag_name().name() {
            "input" => inputs.add(&input_source(source), target),
            "output" => output_source(source, target).and_then(|source| outputs.add(source, target)),
            other => Err(format!("a zeebe:ioMapping has no {}", quoted(other))),
        };
        site.note(child, added);
    }
    let inputs = site.note(node, inputs.finish()).flatten();
    let outputs = site.note(node, outputs.finish()).flatten();
    (inputs, outputs)
}

/// Plain text is accepted on the way in: it is the string itself. Without a source the variable is there and null.
fn input_source(source: Option<&str>) -> String {
    let Some(source) = source else {
        return "null".to_owned();
    };
    expression::source(source).map_or_else(|| expression::literal(source), str::to_owned)
}

fn output_source<'a>(source: Option<&'a str>, target: &str) -> Result<&'a str, String> {
    let source = present(source, target)?;
    let plain = || format!("the source {} is plain text, but must be an expression: write '=' before it", quoted(source));
    expression::source(source).ok_or_else(plain)
}

fn present<'a>(source: Option<&'a str>, target: &str) -> Result<&'a str, String> {
    source.filter(|source| !source.is_empty()).ok_or_else(|| format!("the mapping to {} needs a source", quoted(target)))
}

/// Which version of what an element calls is meant.
pub(super) fn binding(node: Node<'_, '_>) -> Result<Binding, String> {
    let tag = node.attribute("versionTag").filter(|tag| !tag.trim().is_empty());
    match (node.attribute("bindingType").unwrap_or("latest"), tag) {
        ("latest", _) => Ok(Binding::Latest),
        ("deployment", _) => Ok(Binding::Deployment),
        ("versionTag", Some(tag)) => Ok(Binding::VersionTag(tag.into())),
        ("versionTag", None) => Err("the binding versionTag needs a versionTag".to_owned()),
        (other, _) => Err(format!("there is no binding {}: it is latest, deployment or versionTag", quoted(other))),
    }
}

/// The headers of an element in document order, without empty ones.
pub(super) fn headers(site: &mut Site<'_, '_, '_>) -> Vec<(Arc<str>, Arc<str>)> {
    let Some(node) = only(site, "taskHeaders") else {
        return Vec::new();
    };
    let mut headers: Vec<(Arc<str>, Arc<str>)> = Vec::new();
    let mut keys = std::collections::HashSet::new();
    for child in zeebe_children(node) {
        let key = child.attribute("key").unwrap_or_default();
        let value = child.attribute("value").unwrap_or_default();
        if key.starts_with(RESERVED_HEADERS) {
            site.complain_at(child, format!("header keys that begin with '{RESERVED_HEADERS}' are reserved"));
        } else if !key.is_empty() && !keys.insert(key) {
            site.complain_at(child, format!("the header {} is there twice", quoted(key)));
        } else if !key.is_empty() && !value.is_empty() {
            headers.push((key.into(), value.into()));
        }
    }
    headers
}

fn of<'a, 'input>(node: Node<'a, 'input>) -> impl Iterator<Item = Node<'a, 'input>> {
    let holders = node.children().filter(|child| bpmn_name(*child) == Some("extensionElements"));
    holders.flat_map(zeebe_children)
}

pub(super) fn zeebe_children<'a, 'input>(node: Node<'a, 'input>) -> impl Iterator<Item = Node<'a, 'input>> {
    node.children().filter(|child| child.tag_name().namespace() == Some(ZEEBE))
}
