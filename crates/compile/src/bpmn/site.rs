//! An element of the file while it is being read: its XML, its id, and where to put complaints about it.

use std::collections::HashMap;
use std::sync::Arc;

use model::Kind;
use roxmltree::Node;

use super::extension;
use super::vocabulary::{PASSIVE_CHILDREN, boolean, bpmn_name, content, trigger, with_article};
use crate::diagnostic::{Findings, quoted};
use crate::draft::{About, Content, DraftElement};

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

/// What triggers an event, and where it says so.
pub(super) type Definition<'a, 'input> = (&'static str, Node<'a, 'input>);

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

    /// An attribute that says yes or no.
    pub(super) fn flag(&mut self, node: Node<'_, '_>, name: &str, otherwise: bool) -> Option<bool> {
        let Some(value) = node.attribute(name).filter(|value| !value.is_empty()) else { return Some(otherwise) };
        self.note(node, boolean(value).ok_or_else(|| format!("{name} is {}, but must be true or false", quoted(value))))
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
            id: self.id.into(),
            name: self.attribute("name").map(Into::into),
            scope: self.scope,
            content,
            inputs,
            outputs,
            default: self.reference("default"),
            about: self.about(),
            ..DraftElement::bare(self.node.range().start)
        }
    }

    fn about(&self) -> About {
        let mut documentation = self.node.children().filter(|child| bpmn_name(*child) == Some("documentation")).map(content);
        let text = |text: &str| Some(text).filter(|text| !text.is_empty()).map(Arc::from);
        let properties = extension::all(self.node, "properties").into_iter().flat_map(extension::zeebe_children);
        let properties = properties
            .filter_map(|property| Some((text(property.attribute("name")?)?, property.attribute("value").and_then(text))));
        About { documentation: documentation.find_map(|documentation| text(&documentation)), properties: properties.collect() }
    }

    /// Complains that this is not executed yet.
    pub(super) fn unsupported(&mut self, what: &str) -> DraftElement {
        let reason = format!("{what} {} is not supported yet", quoted(self.id));
        self.complain(reason);
        self.element(None)
    }

    /// The definitions of an event.
    pub(super) fn triggers(&self) -> Vec<Definition<'a, 'input>> {
        self.node.children().filter_map(|child| Some((trigger(bpmn_name(child)?)?, child))).collect()
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
