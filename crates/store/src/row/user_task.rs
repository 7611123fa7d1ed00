//! Tasks for people, and what they are shown.

use std::sync::Arc;

use engine::{DefinitionKey, ElementKey, FormKey, InstanceKey, UserTaskKey};
use model::{ElementIx, ListenerEvent};

use crate::Millis;

/// A task for a person. What belongs to its element (name, headers) is stored with the definition.
#[derive(Debug, Clone, PartialEq)]
pub struct UserTask {
    pub key: UserTaskKey,
    pub instance: InstanceKey,
    pub definition: DefinitionKey,
    pub element: ElementIx,
    pub element_instance: ElementKey,
    pub tenant: Arc<str>,
    pub state: UserTaskState,
    pub assignee: Option<Arc<str>>,
    pub candidate_groups: Vec<Arc<str>>,
    pub candidate_users: Vec<Arc<str>>,
    pub due: Option<Millis>,
    pub follow_up: Option<Millis>,
    pub priority: i32,
    pub form: Option<FormKey>,
    pub external_form: Option<Arc<str>>,
    pub created: Millis,
    pub ended: Option<Millis>,
    /// What is happening to it while others listen.
    pub transition: Option<Box<Transition>>,
}

/// What is happening to a user task: it counts once all that listen were heard.
#[derive(Debug, Clone, PartialEq)]
pub struct Transition {
    pub event: ListenerEvent,
    /// What the caller calls it.
    pub action: Arc<str>,
    /// What it leads to.
    pub after: Attributes,
}

/// What of a user task may change.
#[derive(Debug, Clone, PartialEq)]
pub struct Attributes {
    pub assignee: Option<Arc<str>>,
    pub candidate_groups: Vec<Arc<str>>,
    pub candidate_users: Vec<Arc<str>>,
    pub due: Option<Millis>,
    pub follow_up: Option<Millis>,
    pub priority: i32,
}

impl UserTask {
    /// It waits for somebody, and nothing is happening to it.
    pub fn is_open(&self) -> bool {
        self.state == UserTaskState::Created
    }

    pub fn is_over(&self) -> bool {
        self.ended.is_some()
    }

    pub fn attributes(&self) -> Attributes {
        Attributes {
            assignee: self.assignee.clone(),
            candidate_groups: self.candidate_groups.clone(),
            candidate_users: self.candidate_users.clone(),
            due: self.due,
            follow_up: self.follow_up,
            priority: self.priority,
        }
    }

    pub fn set_attributes(&mut self, attributes: Attributes) {
        self.assignee = attributes.assignee;
        self.candidate_groups = attributes.candidate_groups;
        self.candidate_users = attributes.candidate_users;
        (self.due, self.follow_up, self.priority) = (attributes.due, attributes.follow_up, attributes.priority);
    }

    /// Who may do it: the kind of each with its name.
    pub fn candidates(&self) -> impl Iterator<Item = (Candidates, &Arc<str>)> {
        let groups = self.candidate_groups.iter().map(|name| (Candidates::Groups, name));
        groups.chain(self.candidate_users.iter().map(|name| (Candidates::Users, name)))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserTaskState {
    Creating,
    Created,
    Assigning,
    Updating,
    Completing,
    Completed,
    Canceling,
    Cancelled,
}

/// One version of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    pub key: FormKey,
    pub id: Arc<str>,
    pub version: i32,
    pub version_tag: Option<Arc<str>>,
    pub tenant: Arc<str>,
    pub resource: u64,
    pub resource_name: Arc<str>,
    pub deployment: u64,
    /// SHA-256 over name and content of the resource.
    pub checksum: Vec<u8>,
    pub deleted: bool,
}

/// Those who may do a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Candidates {
    Groups,
    Users,
}
