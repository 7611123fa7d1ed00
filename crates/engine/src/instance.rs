//! An instance: one aggregate of element instances, tokens, variables by scope, and incidents. It changes by [`Instance::apply`] alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::ElementIx;

use crate::{DefinitionKey, ElementKey, Event, IncidentKey, IncidentKind, InstanceKey, JobKey, Outcome, Token, VariableKey};

/// What is alive of a process instance. Finished elements leave it; their rows stay in the store.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    pub key: InstanceKey,
    pub definition: DefinitionKey,
    pub state: State,
    /// By key, which is the order in which they were entered. The process itself is among them.
    pub elements: BTreeMap<ElementKey, ElementInstance>,
    /// Tokens that wait at joins.
    pub tokens: Vec<Token>,
    pub incidents: BTreeMap<IncidentKey, Incident>,
    /// The variables of the process itself when it ended.
    pub result: Vec<Variable>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Known by its key only: nothing has happened yet.
    New,
    Active,
    Completed,
    Terminated,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ElementInstance {
    pub element: ElementIx,
    /// The enclosing element instance; the outermost names itself.
    pub scope: ElementKey,
    pub phase: Phase,
    /// Variables local to this element instance, in the order in which they were created.
    pub variables: Vec<Variable>,
    /// The job it waits for.
    pub job: Option<JobKey>,
}

/// How far an element instance has come. An incident keeps it where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    Entering,
    Active,
    Leaving,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    pub key: VariableKey,
    pub name: Arc<str>,
    /// JSON text without insignificant white space.
    pub value: Arc<str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incident {
    pub element: ElementKey,
    pub job: Option<JobKey>,
    pub kind: IncidentKind,
}

impl Instance {
    /// An instance to which nothing has happened yet.
    pub fn new(key: InstanceKey, definition: DefinitionKey) -> Self {
        Self {
            key,
            definition,
            state: State::New,
            elements: BTreeMap::new(),
            tokens: Vec::new(),
            incidents: BTreeMap::new(),
            result: Vec::new(),
        }
    }

    /// The active element instances directly inside a scope.
    pub fn children(&self, scope: ElementKey) -> impl DoubleEndedIterator<Item = ElementKey> + '_ {
        self.elements.iter().filter(move |(key, element)| element.scope == scope && **key != scope).map(|(key, _)| *key)
    }

    /// The element instance that waits for this job.
    pub fn waiting_for(&self, job: JobKey) -> Option<ElementKey> {
        self.elements.iter().find(|(_, element)| element.job == Some(job)).map(|(key, _)| *key)
    }

    /// Incidents of this element instance, oldest first.
    pub fn incidents_of(&self, element: ElementKey) -> impl Iterator<Item = IncidentKey> + '_ {
        self.incidents.iter().filter(move |(_, incident)| incident.element == element).map(|(key, _)| *key)
    }

    /// The only way an instance changes.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Started { instance, definition } => {
                self.key = *instance;
                self.definition = *definition;
                self.state = State::Active;
            }
            Event::Entered { key, element, scope } => {
                let entered = ElementInstance {
                    element: *element,
                    scope: *scope,
                    phase: Phase::Entering,
                    variables: Vec::new(),
                    job: None,
                };
                self.elements.insert(*key, entered);
            }
            Event::Activated { key } => self.element_mut(*key).phase = Phase::Active,
            Event::Leaving { key } => self.element_mut(*key).phase = Phase::Leaving,
            Event::Left { key } | Event::Dropped { key } => {
                let gone = self.elements.remove(key).expect("events name living elements only");
                if *key == self.key.root() {
                    self.result = gone.variables;
                }
            }
            Event::TokenArrived(token) => self.tokens.push(*token),
            Event::TokensTaken { scope, gateway } => self.take_tokens(*scope, *gateway),
            Event::TokenDropped(token) => {
                let position = self.tokens.iter().position(|t| t == token);
                self.tokens.remove(position.expect("a dropped token was waiting"));
            }
            Event::VariableCreated { key, scope, name, value } => {
                let variable = Variable { key: *key, name: name.clone(), value: value.clone() };
                self.element_mut(*scope).variables.push(variable);
            }
            Event::VariableUpdated { key, scope, value, .. } => {
                let variables = &mut self.element_mut(*scope).variables;
                let variable = variables.iter_mut().find(|v| v.key == *key);
                variable.expect("an updated variable exists").value = value.clone();
            }
            // The element stays in its entry until the verdict, as it does with an incident.
            Event::DecisionCalled { .. } => {}
            Event::JobOpened(opened) => self.element_mut(opened.element).job = Some(opened.key),
            Event::JobClosed { element, .. } => self.element_mut(*element).job = None,
            Event::IncidentRaised { key, element, job, kind, .. } => {
                self.incidents.insert(*key, Incident { element: *element, job: *job, kind: *kind });
            }
            Event::IncidentResolved { key, .. } => {
                self.incidents.remove(key);
            }
            Event::Ended { outcome } => {
                self.state = match outcome {
                    Outcome::Completed => State::Completed,
                    Outcome::Terminated => State::Terminated,
                };
            }
        }
    }

    /// One token of each flow that has one at this gateway, the longest waiting first.
    fn take_tokens(&mut self, scope: ElementKey, gateway: ElementIx) {
        let mut taken = Vec::new();
        self.tokens.retain(|token| {
            let here = token.scope == scope && token.gateway == gateway && !taken.contains(&token.flow);
            if here {
                taken.push(token.flow);
            }
            !here
        });
    }

    fn element_mut(&mut self, key: ElementKey) -> &mut ElementInstance {
        self.elements.get_mut(&key).expect("events name living elements only")
    }
}
