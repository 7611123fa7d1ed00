//! Waits: what an element instance is open for. To the engine they differ only in what opens them; how long they take, who is asked
//! and how often is the host's.

use std::sync::Arc;

use model::{ElementIx, ListenerEvent, TimerKind};
use schedule::Occurrence;

use crate::{ElementKey, FormKey, InstanceKey, JobKey, WaitKey};

/// A wait as the host must set it up.
#[derive(Debug, Clone, PartialEq)]
pub struct Opened {
    pub key: WaitKey,
    pub element: ElementKey,
    /// The event this wait triggers: on the element's boundary, of an event sub-process inside it, behind it if it is a gateway.
    /// Without one it is the element's own.
    pub catch: Option<ElementIx>,
    pub on: On,
}

/// What is waited for.
#[derive(Debug, Clone, PartialEq)]
pub enum On {
    /// A worker.
    Job {
        job_type: Arc<str>,
        retries: i32,
        /// A JSON object, where they are not those of the element.
        headers: Option<Arc<str>>,
        /// What it listens to, unless it is the element's own work.
        listener: Option<ListenerEvent>,
    },
    /// A point in time. Each occurrence of a cycle is a wait of its own.
    Timer {
        kind: TimerKind,
        text: Arc<str>,
        at: Occurrence,
    },
    Message {
        name: Arc<str>,
        correlation_key: Arc<str>,
    },
    Signal {
        name: Arc<str>,
    },
    /// Variables that make a condition true.
    Condition,
    /// The end of the instance that a call activity runs.
    Child {
        instance: InstanceKey,
    },
    /// A person.
    UserTask(Box<UserTask>),
    /// The next turn of a step that would have taken too long in one go.
    Turn(Turn),
}

/// A task for a person as it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserTask {
    pub assignee: Option<Arc<str>>,
    pub candidate_groups: Vec<Arc<str>>,
    pub candidate_users: Vec<Arc<str>>,
    /// In milliseconds since 1970.
    pub due: Option<i64>,
    pub follow_up: Option<i64>,
    pub priority: i32,
    pub form: Option<FormKey>,
    /// What another program knows its form by.
    pub external_form: Option<Arc<str>>,
}

/// What is left of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Element instances to go on with, in order: those in their entry are activated, those about to leave leave.
    pub work: Vec<ElementKey>,
    /// How many elements were entered since the instance last came to rest.
    pub entered: u32,
    /// How many of them by those that have counts of their own.
    pub entered_by: Vec<(ElementKey, u32)>,
}

/// A wait as the instance remembers it.
#[derive(Debug, Clone, PartialEq)]
pub struct Wait {
    pub key: WaitKey,
    pub catch: Option<ElementIx>,
    pub kind: WaitKind,
}

#[derive(Debug, Clone, PartialEq)]
pub enum WaitKind {
    Job,
    Timer,
    Message,
    Signal,
    Condition,
    Child { instance: InstanceKey },
    UserTask,
    Turn(Box<Turn>),
}

/// What a wait was for, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waited {
    Job,
    Turn,
    Timer,
    Message,
    Signal,
    Condition,
    Child { instance: InstanceKey },
    UserTask,
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
            On::Timer { .. } => WaitKind::Timer,
            On::Message { .. } => WaitKind::Message,
            On::Signal { .. } => WaitKind::Signal,
            On::Condition => WaitKind::Condition,
            On::Child { instance } => WaitKind::Child { instance: *instance },
            On::UserTask(_) => WaitKind::UserTask,
            On::Turn(turn) => WaitKind::Turn(Box::new(turn.clone())),
        };
        Self { key: opened.key, catch: opened.catch, kind }
    }
}

impl Wait {
    pub fn word(&self) -> Waited {
        match self.kind {
            WaitKind::Job => Waited::Job,
            WaitKind::Turn(_) => Waited::Turn,
            WaitKind::Timer => Waited::Timer,
            WaitKind::Message => Waited::Message,
            WaitKind::Signal => Waited::Signal,
            WaitKind::Condition => Waited::Condition,
            WaitKind::Child { instance } => Waited::Child { instance },
            WaitKind::UserTask => Waited::UserTask,
        }
    }

    /// The job it stands for, if it waits for a worker.
    pub fn job(&self) -> Option<JobKey> {
        match self.kind {
            WaitKind::Job => Some(self.key.job()),
            WaitKind::Timer
            | WaitKind::Message
            | WaitKind::Signal
            | WaitKind::Condition
            | WaitKind::Child { .. }
            | WaitKind::UserTask
            | WaitKind::Turn(_) => None,
        }
    }
}
