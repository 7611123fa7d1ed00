//! A process as it was written: elements know each other by id, nothing is resolved. Both notations end here; `link`
//! goes on.

use std::sync::Arc;

use feel::Expression;
use model::{Kind, Listener, Repeat, StartForm, Trigger};

/// What the id of an ad-hoc sub-process is followed by in that of its runs.
pub(crate) const RUN: &str = "#innerInstance";

/// One process as written.
pub(crate) struct Draft {
    pub(crate) version_tag: Option<Arc<str>>,
    /// The process itself first; a scope before what it contains.
    pub(crate) elements: Vec<DraftElement>,
    /// In the order written.
    pub(crate) flows: Vec<DraftFlow>,
    pub(crate) order: FlowOrder,
    pub(crate) start_form: Option<StartForm>,
}

/// In which order the flows out of an element are taken.
#[derive(Clone, Copy)]
pub(crate) enum FlowOrder {
    AsWritten,
    /// Camunda 8 takes them from the last of the document to the first.
    Reversed,
}

pub(crate) struct DraftElement {
    /// Byte offset in the source.
    pub(crate) at: usize,
    pub(crate) id: Arc<str>,
    pub(crate) name: Option<Arc<str>>,
    /// Index of the enclosing scope; the process names itself.
    pub(crate) scope: usize,
    pub(crate) content: Content,
    pub(crate) inputs: Option<Expression>,
    pub(crate) outputs: Option<Expression>,
    /// Id of the default flow: what an exclusive gateway takes when no condition holds. Other elements may name one, to
    /// no effect.
    pub(crate) default: Option<Arc<str>>,
    /// Id of the activity a boundary event sits on.
    pub(crate) attached_to: Option<Arc<str>>,
    /// Id of the handler of a compensation boundary event, or of the activity a compensation throw event names.
    pub(crate) compensation: Option<Arc<str>>,
    pub(crate) repeat: Option<Repeat>,
    /// What an event with several definitions waits for; they become elements of their own.
    pub(crate) parts: Vec<Trigger>,
    pub(crate) listeners: Vec<Listener>,
    pub(crate) about: About,
}

/// What is said about an element to those who choose it.
#[derive(Default)]
pub(crate) struct About {
    pub(crate) documentation: Option<Arc<str>>,
    /// Names and values.
    pub(crate) properties: Vec<(Arc<str>, Option<Arc<str>>)>,
}

/// What became of an element. A refused one stays in the draft, so that what refers to it is not blamed as well.
pub(crate) enum Content {
    /// Whatever refers to other elements inside the kind is still empty.
    Read(Kind),
    Refused,
    /// A start event that is not executed: its scope does have a start.
    RefusedStart,
}

pub(crate) struct DraftFlow {
    pub(crate) at: usize,
    pub(crate) id: Arc<str>,
    pub(crate) source: Arc<str>,
    pub(crate) target: Arc<str>,
    pub(crate) condition: Condition,
}

pub(crate) enum Condition {
    None,
    Read(Expression),
    /// There is one, but it could not be read.
    Refused,
}

impl DraftElement {
    /// An element about which nothing is known but its place.
    pub(crate) fn bare(at: usize) -> Self {
        Self {
            at,
            id: "".into(),
            name: None,
            scope: 0,
            content: Content::Refused,
            inputs: None,
            outputs: None,
            default: None,
            attached_to: None,
            compensation: None,
            repeat: None,
            parts: Vec::new(),
            listeners: Vec::new(),
            about: About::default(),
        }
    }

    /// The element of the runs inside an ad-hoc sub-process, which has this index.
    pub(crate) fn run(&self, index: usize) -> Self {
        Self {
            id: format!("{}{RUN}", self.id).into(),
            name: self.name.clone(),
            scope: index,
            content: Content::Read(Kind::AdHocRun),
            ..Self::bare(self.at)
        }
    }

    pub(crate) fn kind(&self) -> Option<&Kind> {
        match &self.content {
            Content::Read(kind) => Some(kind),
            Content::Refused | Content::RefusedStart => None,
        }
    }
}
