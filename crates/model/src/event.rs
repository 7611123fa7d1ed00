//! Events: what they wait for and what they throw.

use std::sync::Arc;

use feel::Expression;
pub use schedule::Kind as TimerKind;

use crate::{ElementIx, Text};

/// What an event that sits on something, or starts something, waits for.
#[derive(Debug, Clone)]
pub struct Catch {
    pub trigger: Trigger,
    /// Whether it ends the activity it sits on, or all else in the scope of its event sub-process.
    pub interrupting: bool,
}

#[derive(Debug, Clone)]
pub enum Trigger {
    Timer(TimerTrigger),
    Message(Message),
    Signal {
        name: Text,
    },
    Condition(Condition),
    /// Errors and escalations are not waited for: they come from inside.
    Error(CodeCatch),
    Escalation(CodeCatch),
    /// The transaction it sits on was cancelled and is undone.
    Cancel,
    /// The sub-process around its event sub-process has completed and is undone.
    Compensation,
    /// Several things; each is waited for as an element of its own.
    Several(Several),
}

/// An event with several definitions.
#[derive(Debug, Clone)]
pub struct Several {
    pub parts: Vec<ElementIx>,
    pub needed: Needed,
}

/// How many of several things must come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needed {
    Any,
    All,
}

/// One of several definitions of an event.
#[derive(Debug, Clone)]
pub struct EventPart {
    pub event: ElementIx,
    pub trigger: Trigger,
}

#[derive(Debug, Clone)]
pub struct TimerTrigger {
    pub kind: TimerKind,
    pub text: Text,
}

/// A message as it is waited for.
#[derive(Debug, Clone)]
pub struct Message {
    pub name: Text,
    /// Not needed to start a process.
    pub correlation_key: Option<Expression>,
}

#[derive(Debug, Clone)]
pub struct Condition {
    pub expression: Expression,
    /// Which changes of variables it is looked at for.
    pub on: VariableChange,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableChange {
    Any,
    Created,
    Updated,
}

/// Which codes of errors or escalations a catch event takes.
#[derive(Debug, Clone)]
pub enum CodeCatch {
    Any,
    Code(Arc<str>),
}

#[derive(Debug, Clone)]
pub enum EndEvent {
    None,
    /// Ends its own scope at once, dropping whatever else runs there.
    Terminate,
    /// Throws a BPMN error to the nearest scope that catches it.
    Error {
        code: Text,
    },
    /// Throws something and ends.
    Throw(Throw),
    /// Cancels the transaction around it.
    Cancel,
    /// Throws all of these, then ends like that.
    After {
        thrown: Vec<Throw>,
        end: Box<EndEvent>,
    },
}

#[derive(Debug, Clone)]
pub enum Throw {
    Escalation {
        code: Text,
    },
    Signal {
        name: Text,
    },
    Message(Publish),
    /// Undoes what has completed beside it.
    Compensation(Compensate),
    /// Several of these: signals and messages, and last perhaps one of the others.
    Several(Vec<Throw>),
}

/// What undoes an activity.
#[derive(Debug, Clone, Copy)]
pub struct Compensated {
    /// An activity no flow leads to.
    pub handler: ElementIx,
}

/// Which completed activities are undone.
#[derive(Debug, Clone, Copy)]
pub struct Compensate {
    /// This one, with all inside it; without it all in the scope of the event.
    pub activity: Option<ElementIx>,
}

/// A message that the engine publishes itself.
#[derive(Debug, Clone)]
pub struct Publish {
    pub name: Text,
    pub correlation_key: Text,
    /// None if it is empty.
    pub id: Option<Text>,
    /// How long it is kept, an ISO 8601 duration.
    pub time_to_live: Option<Text>,
}

impl Trigger {
    /// Whether something outside the instance, or its variables, triggers it.
    pub fn is_waited_for(&self) -> bool {
        match self {
            Self::Timer(_) | Self::Message(_) | Self::Signal { .. } | Self::Condition(_) | Self::Several(_) => true,
            Self::Error(_) | Self::Escalation(_) | Self::Cancel | Self::Compensation => false,
        }
    }
}
