//! Sequence flows.

use roxmltree::Node;

use super::CAUDAL;
use super::vocabulary::{PASSIVE_CHILDREN, bpmn_name, content, referred};
use super::workflow;
use crate::diagnostic::{Findings, quoted};
use crate::draft::{Condition, DraftFlow};
use crate::expression;

/// The flow, if it says enough to be one. Where the file gives it no id, which it need not, it is called by its ends and its place among
/// all flows.
pub(super) fn read(node: Node<'_, '_>, place: usize, findings: &mut Findings) -> Option<DraftFlow> {
    let at = node.range().start;
    let attribute = |name: &str| node.attribute(name).filter(|value| !value.is_empty());
    let id = match attribute("id") {
        Some(id) => id.to_owned(),
        None => {
            let end = |name: &str| attribute(name).map_or("", referred);
            format!("{}#{}#{}", end("sourceRef"), end("targetRef"), place + 1)
        }
    };
    let id = &*id;
    let mut end = |name: &str| {
        let end = attribute(name).map(referred);
        if end.is_none() {
            findings.add(at, id, format!("the sequence flow needs a {name}"));
        }
        end
    };
    let (source, target) = (end("sourceRef"), end("targetRef"));
    let condition = condition(node, id, findings);
    Some(DraftFlow { at, id: id.into(), source: source?.into(), target: target?.into(), condition })
}

fn condition(node: Node<'_, '_>, id: &str, findings: &mut Findings) -> Condition {
    let mut condition = Condition::None;
    for child in node.children().filter(Node::is_element) {
        let at = child.range().start;
        match bpmn_name(child) {
            Some("conditionExpression") => {
                if !matches!(condition, Condition::None) {
                    findings.add(at, id, "a flow has at most one condition");
                }
                let text = content(child);
                let expression = match child.attribute("language") {
                    Some(CAUDAL) => workflow::expression(text.trim()),
                    Some(_) | None => expression::required("the condition", text.trim()),
                };
                condition = match expression {
                    Ok(expression) => Condition::Read(expression),
                    Err(reason) => {
                        findings.add(at, id, reason);
                        Condition::Refused
                    }
                };
            }
            Some(name) if PASSIVE_CHILDREN.contains(&name) => {}
            _ => findings.add(at, id, format!("a sequence flow has no element {}", quoted(child.tag_name().name()))),
        }
    }
    condition
}
