//! Listeners: jobs that are done while an element starts or ends, or while something happens to a user task.

use crate::{Element, Retries, Text};

/// A job at a moment of an element's life.
#[derive(Debug, Clone)]
pub struct Listener {
    pub event: ListenerEvent,
    pub job_type: Text,
    pub retries: Retries,
}

/// What is listened to. The last five happen to user tasks alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ListenerEvent {
    /// Inputs are mapped; the element's own work has not begun.
    Start,
    /// Outputs are mapped; the element has not been left.
    End,
    Creating,
    Assigning,
    Updating,
    Completing,
    Canceling,
}

impl ListenerEvent {
    pub const ALL: [Self; 7] =
        [Self::Start, Self::End, Self::Creating, Self::Assigning, Self::Updating, Self::Completing, Self::Canceling];

    pub fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::End => "end",
            Self::Creating => "creating",
            Self::Assigning => "assigning",
            Self::Updating => "updating",
            Self::Completing => "completing",
            Self::Canceling => "canceling",
        }
    }

    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.word() == word)
    }

    /// Whether it happens to user tasks rather than to elements.
    pub fn is_of_task(self) -> bool {
        match self {
            Self::Start | Self::End => false,
            Self::Creating | Self::Assigning | Self::Updating | Self::Completing | Self::Canceling => true,
        }
    }
}

impl Element {
    /// Those that listen to this, in the order in which they are asked.
    pub fn listening_to(&self, event: ListenerEvent) -> impl Iterator<Item = &Listener> {
        self.listeners.iter().flat_map(|listeners| listeners.iter()).filter(move |listener| listener.event == event)
    }
}
