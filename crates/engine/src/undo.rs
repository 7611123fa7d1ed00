//! Going back: what each event changed, the other way round.

use std::sync::Arc;

use model::{ElementIx, FlowIx};

use crate::variables::Variables;
use crate::{
    Compensation, CompensationKey, DefinitionKey, ElementInstance, ElementKey, Incident, IncidentKey, Instance, InstanceKey,
    Migrated, Phase, Progress, State, Token, Wait, WaitKind,
};

#[derive(Debug, Clone)]
pub(crate) enum Undo {
    Nothing,
    Began { key: InstanceKey, definition: DefinitionKey, state: State },
    Entered(ElementKey),
    Phase { key: ElementKey, was: Phase },
    Left { key: ElementKey, gone: Box<ElementInstance> },
    RootLeft { key: ElementKey, gone: Box<ElementInstance>, result: Box<Variables> },
    TokenArrived(Token),
    TokensTaken { scope: ElementKey, gateway: ElementIx, flows: Vec<FlowIx> },
    VariableCreated { scope: ElementKey, name: Arc<str> },
    VariableUpdated { scope: ElementKey, name: Arc<str>, was: Arc<str> },
    WaitOpened { element: ElementKey },
    WaitClosed { element: ElementKey, place: usize, wait: Box<Wait> },
    IncidentRaised { key: IncidentKey, was: Option<IncidentKey> },
    IncidentResolved { key: IncidentKey, incident: Incident, was: Option<IncidentKey> },
    Progressed { key: ElementKey, was: Option<Progress> },
    CompensationKept { scope: ElementKey, key: CompensationKey },
    CompensationsHandedOn { from: ElementKey, to: ElementKey, keys: Vec<CompensationKey> },
    CompensationTaken { scope: ElementKey, compensation: Compensation },
    Migrated(Box<Migrated>),
    State { was: State },
}

/// Changes not accepted yet, the last one last. Two instances are the same whatever they came from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Journal(Vec<Undo>);

impl PartialEq for Journal {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Journal {
    pub(crate) fn push(&mut self, undo: Undo) {
        self.0.push(undo);
    }

    pub(crate) fn clear(&mut self) {
        self.0 = Vec::new();
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

impl Instance {
    /// Takes changes back until so many are left.
    pub(crate) fn undo_to(&mut self, mark: usize) {
        while mark < self.journal.0.len() {
            let Some(undo) = self.journal.0.pop() else { return };
            self.take_back(undo);
        }
    }

    fn take_back(&mut self, undo: Undo) {
        match undo {
            Undo::Nothing => {}
            Undo::Began { key, definition, state } => {
                (self.key, self.definition, self.state, self.parent) = (key, definition, state, None);
            }
            Undo::Entered(key) => drop(self.take(key)),
            Undo::Phase { key, was } => self.element_mut(key).phase = was,
            Undo::Left { key, gone } => self.put(key, gone),
            Undo::RootLeft { key, gone, result } => {
                self.put(key, gone);
                self.result = *result;
            }
            Undo::TokenArrived(token) => self.element_mut(token.scope).remove_token(token.gateway, token.flow),
            Undo::TokensTaken { scope, gateway, flows } => {
                for flow in flows {
                    self.element_mut(scope).add_tokens(gateway, flow, 1);
                }
            }
            Undo::VariableCreated { scope, name } => self.weighing(scope, |element| element.variables.pop(&name)),
            Undo::VariableUpdated { scope, name, was } => {
                self.weighing(scope, |element| drop(element.variables.set(&name, was)));
            }
            Undo::WaitOpened { element } => {
                let wait = self.weighing(element, |element| element.waits.pop());
                if let Some(wait) = wait {
                    self.conditions.remove(&(element, wait.key));
                }
            }
            Undo::WaitClosed { element, place, wait } => {
                if wait.kind == WaitKind::Condition {
                    self.conditions.insert((element, wait.key));
                }
                self.weighing(element, |element| element.waits.insert(place, *wait));
            }
            Undo::IncidentRaised { key, was } => {
                if let Some(incident) = self.incidents.remove(&key) {
                    self.element_mut(incident.element).incident = was;
                }
            }
            Undo::IncidentResolved { key, incident, was } => {
                self.element_mut(incident.element).incident = was;
                self.incidents.insert(key, incident);
            }
            Undo::Progressed { key, was } => self.element_mut(key).progress = was,
            Undo::CompensationKept { scope, key } => drop(self.take_compensation(scope, key)),
            Undo::CompensationsHandedOn { from, to, keys } => self.move_compensations(&keys, to, from),
            Undo::CompensationTaken { scope, compensation } => self.keep_compensation(scope, compensation),
            Undo::Migrated(back) => drop(self.migrated(&back)),
            Undo::State { was } => self.state = was,
        }
    }
}
