//! An element of the file while it is being read: its XML, its id, and where to put complaints about it.

use std::collections::HashMap;
use std::sync::Arc;

use model::Kind;
use roxmltree::Node;

use super::extension;
use super::vocabulary::{PASSIVE_CHILDREN, bpmn_name, trigger, with_article};
use crate::diagnostic::{Findings, quoted};
use crate::draft::{Content, DraftElement};

/// What events refer to, by id.
#[derive(Default)]
pub(super) struct Roots<'a, 'input> {
    /// Codes of errors.
    pub(super) errors: HashMap<&'a str, Option<&'a str>>,
    /// Codes of escalations.
    pub(super) escalations: HashMap<&'a str, Option<&'a str>>,
    pub(super) messages: HashMap<&'a str, Node<'a, 'input>>,
    /// Names of signals.
    pub(super) signals: HashMap<&'a str, Option<&'a str>>,
}

pub(super) struct Site<'a, 'input, 'f> {
    pub(super) node: Node<'a, 'input>,
    pub(super) id: &'a str,
    /// "user task"
    pub(super) words: &'static str,
    /// Index of the enclosing scope in the draft.
    pub(super) scope: usize,
    pub(super) roots: &'a Roots<'a, 'input>,
    pub(super) findings: &'f mut Findings,
}

impl<'a, 'input> Site<'a, 'input, '_> {
    /// Notes a problem of this element.
    pub(super) fn complain(&mut self, reason: impl AsRef<str>) {
        self.complain_at(self.node, reason);
    }

    /// Notes a problem of this element that shows at a node inside it.
    pub(super) fn complain_at(&mut self, node: Node<'_, '_>, reason: impl AsRef<str>) {
        self.findings.add(node.range().start, self.id, reason);
    }

    /// The value, or nothing and a complaint.
    pub(super) fn note<T>(&mut self, node: Node<'_, '_>, result: Result<T, String>) -> Option<T> {
        result.map_err(|reason| self.complain_at(node, reason)).ok()
    }

    /// An attribute that is there and not empty.
    pub(super) fn attribute(&self, name: &str) -> Option<&'a str> {
        self.node.attribute(name).filter(|value| !value.is_empty())
    }

    /// An attribute that refers to something else by id.
    pub(super) fn reference(&self, name: &str) -> Option<Arc<str>> {
        self.attribute(name).map(|reference| super::vocabulary::referred(reference).into())
    }

    /// The element as read, with its mappings in both directions. A kind that honours fewer drops them.
    pub(super) fn element(&mut self, kind: Option<Kind>) -> DraftElement {
        let (inputs, outputs) = extension::mappings(self);
        let content = kind.map_or(Content::Refused, Content::Read);
        DraftElement {
            at: self.node.range().start,
            id: self.id.into(),
            name: self.attribute("name").map(Into::into),
            scope: self.scope,
            content,
            inputs,
            outputs,
            default: self.reference("default"),
            attached_to: None,
            compensation: None,
            repeat: None,
            listeners: Vec::new(),
        }
    }

    /// Complains that this is not executed yet.
    pub(super) fn unsupported(&mut self, what: &str) -> DraftElement {
        let reason = format!("{what} {} is not supported yet", quoted(self.id));
        self.complain(reason);
        self.element(None)
    }

    /// The definitions of an event. More than one is refused.
    pub(super) fn triggers(&mut self) -> Vec<(&'static str, Node<'a, 'input>)> {
        let children = self.node.children().filter_map(|child| Some((trigger(bpmn_name(child)?)?, child)));
        let triggers: Vec<_> = children.collect();
        if 1 < triggers.len() {
            self.complain(format!("{} has at most one event definition", with_article(self.words)));
        }
        triggers
    }

    /// Refuses children that BPMN knows but that are not executed, and those it does not know. `expected` are those the
    /// caller reads itself.
    pub(super) fn check_children(&mut self, expected: impl Fn(&str) -> bool) {
        for child in self.node.children().filter(Node::is_element) {
            let name = child.tag_name().name();
            let reason = match bpmn_name(child) {
                Some(name) if PASSIVE_CHILDREN.contains(&name) || expected(name) => continue,
                Some(_) => format!("BPMN has no element {} inside {}", quoted(name), with_article(self.words)),
                None if expected(name) => continue,
                None => format!("element {} of another namespace must stand inside extensionElements", quoted(name)),
            };
            self.complain_at(child, reason);
        }
    }
}
