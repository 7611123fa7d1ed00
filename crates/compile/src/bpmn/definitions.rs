//! The root of a file: which ids there are, which errors, which processes.

use std::collections::HashMap;

use model::Process;
use roxmltree::{Document, Node};

use super::scope;
use super::site::Roots;
use super::vocabulary::{BPMN, PASSIVE_ROOTS, boolean, bpmn_name, is_id, trigger};
use crate::diagnostic::{Findings, quoted};
use crate::link;

/// Longer ids would not fit the indexes they end up in.
pub(crate) const ID_CHARS_MAX: usize = 255;

/// The executable processes of a file.
pub(super) fn read(document: &Document<'_>, findings: &mut Findings) -> Vec<Process> {
    let root = document.root_element();
    if bpmn_name(root) != Some("definitions") {
        let name = quoted(root.tag_name().name());
        findings
            .add_anonymous(at(root), format!("this is not BPMN: the root is {name}, not 'definitions' of namespace '{BPMN}'"));
        return Vec::new();
    }
    check_ids(root, findings);
    let roots = roots(root);
    let mut processes = Vec::new();
    let mut executable = 0;
    for child in root.children().filter(Node::is_element) {
        match bpmn_name(child) {
            Some("process") if is_executable(child, findings) => {
                executable += 1;
                if let Some((draft, workflow)) = scope::process(child, &roots, findings) {
                    processes.extend(link::link(draft, findings).map(|process| Process { workflow, ..process }));
                }
            }
            Some("process") | None => {}
            Some(name) if PASSIVE_ROOTS.contains(&name) || trigger(name).is_some() => {}
            Some(name) => findings.add_anonymous(at(child), format!("BPMN has no element {} here", quoted(name))),
        }
    }
    if executable == 0 && findings.is_empty() {
        let reason = "the file has no executable process: set isExecutable=\"true\" on one";
        match root.attribute("id") {
            Some(id) => findings.add(at(root), id, reason),
            None => findings.add_anonymous(at(root), reason),
        }
    }
    processes
}

/// Ids are unique in the whole file, also where it is not executed.
fn check_ids(root: Node<'_, '_>, findings: &mut Findings) {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for node in root.descendants().filter(|node| bpmn_name(*node).is_some()) {
        let Some(id) = node.attribute("id") else {
            continue;
        };
        if !is_id(id) {
            let reason = format!(
                "{} cannot be an id: begin with a letter or '_', go on with letters, digits, '_', '-' or '.'",
                quoted(id)
            );
            findings.add_anonymous(at(node), reason);
        } else if ID_CHARS_MAX < id.chars().count() {
            findings.add(at(node), id, format!("the id is too long: at most {ID_CHARS_MAX} characters are allowed"));
        } else if seen.insert(id, at(node)).is_some() {
            findings.add(at(node), id, "the id is used more than once");
        }
    }
}

/// What the events of the file refer to.
fn roots<'a, 'input>(root: Node<'a, 'input>) -> Roots<'a, 'input> {
    let mut roots = Roots::default();
    for node in root.children().filter(Node::is_element) {
        let Some(id) = node.attribute("id") else { continue };
        let value = |name: &str| node.attribute(name).filter(|value| !value.is_empty());
        match bpmn_name(node) {
            Some("error") => drop(roots.errors.insert(id, value("errorCode"))),
            Some("escalation") => drop(roots.escalations.insert(id, value("escalationCode"))),
            Some("signal") => drop(roots.signals.insert(id, value("name"))),
            Some("message") => drop(roots.messages.insert(id, node)),
            _ => {}
        }
    }
    roots
}

fn is_executable(process: Node<'_, '_>, findings: &mut Findings) -> bool {
    let Some(value) = process.attribute("isExecutable") else {
        return false;
    };
    let executable = boolean(value);
    if executable.is_none() {
        findings.add_anonymous(at(process), format!("isExecutable is {}, but must be true or false", quoted(value)));
    }
    executable == Some(true)
}

fn at(node: Node<'_, '_>) -> usize {
    node.range().start
}
