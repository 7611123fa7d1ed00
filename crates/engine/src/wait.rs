//! Waits: what an element instance is open for. To the engine they differ only in what opens them; how long they take, who is asked
//! and how often is the host's.

use std::sync::Arc;

use model::ElementIx;

use crate::{ElementKey, JobKey, WaitKey};

/// A wait as the host must set it up.
#[derive(Debug, Clone, PartialEq)]
pub struct Opened {
    pub key: WaitKey,
    pub element: ElementKey,
    /// The boundary event this wait triggers; without one it is the element's own.
    pub boundary: Option<ElementIx>,
    pub on: On,
}

/// What is waited for.
#[derive(Debug, Clone, PartialEq)]
pub enum On {
    /// A worker.
    Job { job_type: Arc<str>, retries: i32 },
    /// The next turn of a step that would have taken too long in one go.
    Turn(Turn),
}

/// What is left of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Element instances to go on with, in order: those in their entry are activated, those about to leave leave.
    pub work: Vec<ElementKey>,
    /// How many elements were entered since the instance last came to rest.
    pub entered: u32,
}

/// A wait as the instance remembers it.
#[derive(Debug, Clone, PartialEq)]
pub struct Wait {
    pub key: WaitKey,
    pub boundary: Option<ElementIx>,
    pub kind: WaitKind,
}

#[derive(Debug, Clone, PartialEq)]
pub enum WaitKind {
    Job,
    Turn(Box<Turn>),
}

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitEnd {
    /// What was waited for came.
    Completed,
    /// The element was left or dropped meanwhile.
    Cancelled,
    /// It threw an error that something caught.
    ErrorThrown,
}

impl From<&Opened> for Wait {
    fn from(opened: &Opened) -> Self {
        let kind = match &opened.on {
            On::Job { .. } => WaitKind::Job,
            On::Turn(turn) => WaitKind::Turn(Box::new(turn.clone())),
        };
        Self { key: opened.key, boundary: opened.boundary, kind }
    }
}

impl Wait {
    /// The job it stands for, if it waits for a worker.
    pub fn job(&self) -> Option<JobKey> {
        match self.kind {
            WaitKind::Job => Some(self.key.job()),
            WaitKind::Turn(_) => None,
        }
    }
}
