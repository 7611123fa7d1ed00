//! Associations that mean something: those of compensation boundary events with their handlers.

use std::collections::{HashMap, HashSet};

use model::Kind;
use roxmltree::Node;

use super::vocabulary::{boolean, bpmn_name, referred};
use crate::diagnostic::Findings;
use crate::draft::Draft;

/// Gives each compensation boundary event the handler it is associated with. One that has none is found out later.
pub(super) fn handlers(process: Node<'_, '_>, draft: &mut Draft, findings: &mut Findings) {
    let is_boundary = |kind: Option<&Kind>| matches!(kind, Some(Kind::CompensationBoundary(_)));
    if !draft.elements.iter().any(|element| is_boundary(element.kind())) {
        return;
    }
    let mut handlers = HashSet::new();
    let mut associations: HashMap<&str, Vec<&str>> = HashMap::new();
    for node in process.descendants() {
        if node.attribute("isForCompensation").and_then(boolean) == Some(true) {
            handlers.extend(node.attribute("id"));
        }
        if bpmn_name(node) == Some("association")
            && let (Some(source), Some(target)) = (node.attribute("sourceRef"), node.attribute("targetRef"))
        {
            associations.entry(referred(source)).or_default().push(referred(target));
        }
    }
    for event in draft.elements.iter_mut().filter(|element| is_boundary(element.kind())) {
        let mut associated = associations.get(&*event.id).into_iter().flatten().filter(|target| handlers.contains(**target));
        event.compensation = associated.next().map(|handler| (*handler).into());
        if associated.next().is_some() {
            findings.add(event.at, &event.id, "a compensation boundary event has one handler");
        }
    }
}
