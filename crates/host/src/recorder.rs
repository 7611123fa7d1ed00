//! Turns what happened in a tick into rows. A row that is made and changed in one tick is written once, in its last state.

use std::collections::BTreeMap;

use engine::{
    Compensation, CompensationKey, ElementKey, Event, IncidentKey, InstanceKey, Migrated, On, Opened, Outcome, Phase, Progress,
    Token, VariableKey, WaitKey, Waited,
};
use model::{ElementIx, FlowIx, Process};
use store::row::{ElementState, InstanceState};
use store::{Changes, ElementChange, IncidentChange, InstanceChange, Millis, VariableChange, row};

use crate::hot::HotInstance;

#[derive(Debug, Default)]
pub(crate) struct Recorder {
    instances_new: BTreeMap<InstanceKey, row::Instance>,
    instances_changed: BTreeMap<InstanceKey, InstanceChange>,
    /// Since when instances are suspended; none for those that go on.
    suspended: BTreeMap<InstanceKey, Option<Millis>>,
    elements_new: BTreeMap<ElementKey, row::Element>,
    elements_changed: BTreeMap<ElementKey, ElementChange>,
    variables_new: BTreeMap<VariableKey, row::Variable>,
    variables_changed: BTreeMap<VariableKey, VariableChange>,
    tokens: BTreeMap<(ElementKey, ElementIx, FlowIx), row::Tokens>,
    turns_new: BTreeMap<WaitKey, row::Turn>,
    turns_done: Vec<WaitKey>,
    compensations_put: BTreeMap<CompensationKey, row::Compensation>,
    compensations_gone: Vec<CompensationKey>,
    incidents_new: BTreeMap<IncidentKey, row::Incident>,
    incidents_changed: BTreeMap<IncidentKey, IncidentChange>,
    /// How many events were recorded: about as many rows are written.
    rows: usize,
    /// What concerns no instance goes here as it is.
    pub(crate) changes: Changes,
}

impl Recorder {
    /// The events of one command; `hot` is as they left it.
    pub(crate) fn record(&mut self, hot: &HotInstance, events: &[Event], now: Millis) {
        for event in events {
            self.record_event(hot, event, now);
        }
        self.rows += events.len();
        self.touch_instance(hot, events, now);
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows == 0 && self.changes == Changes::default()
    }

    pub(crate) fn finish(mut self) -> Changes {
        let migrated = std::mem::take(&mut self.changes.migrated);
        let migrated: BTreeMap<_, _> = migrated.into_iter().map(|row| ((row.table, row.key), row)).collect();
        Changes {
            instances_new: self.instances_new.into_values().collect(),
            instances_changed: self.instances_changed.into_values().collect(),
            instances_suspended: self.suspended.into_iter().collect(),
            elements_new: self.elements_new.into_values().collect(),
            elements_changed: self.elements_changed.into_values().collect(),
            variables_new: self.variables_new.into_values().collect(),
            variables_changed: self.variables_changed.into_values().collect(),
            tokens: self.tokens.into_values().collect(),
            turns_new: self.turns_new.into_values().collect(),
            turns_done: self.turns_done,
            compensations_put: self.compensations_put.into_values().collect(),
            compensations_gone: self.compensations_gone,
            incidents_new: self.incidents_new.into_values().collect(),
            incidents_changed: self.incidents_changed.into_values().collect(),
            migrated: migrated.into_values().collect(),
            ..self.changes
        }
    }

    fn record_event(&mut self, hot: &HotInstance, event: &Event, now: Millis) {
        let (instance, definition) = (hot.instance.key, hot.instance.definition);
        match event {
            Event::Entered { key, element, scope } if *element != Process::ROOT => {
                let state = ElementState::Alive(Phase::Entering);
                let (key, element, scope) = (*key, *element, *scope);
                let (started, ended, incident, progress) = (now, None, None, None);
                let row = row::Element { key, instance, definition, element, scope, state, started, ended, incident, progress };
                self.elements_new.insert(key, row);
                self.touch_element(hot, key, now, None);
            }
            Event::Activated { key } | Event::Leaving { key } => self.touch_element(hot, *key, now, None),
            Event::Left { key } => self.touch_element(hot, *key, now, Some(ElementState::Completed)),
            Event::Dropped { key } => self.touch_element(hot, *key, now, Some(ElementState::Terminated)),
            Event::VariableCreated { key, scope, name, value } => {
                let (name, value) = (name.clone(), value.clone());
                let row = row::Variable { key: *key, instance, definition, scope: *scope, name, value };
                self.variables_new.insert(*key, row);
            }
            Event::VariableUpdated { key, value, .. } => match self.variables_new.get_mut(key) {
                Some(new) => new.value = value.clone(),
                None => drop(self.variables_changed.insert(*key, VariableChange { key: *key, value: value.clone() })),
            },
            Event::IncidentRaised { .. } => self.raise_incident(hot, event, now),
            Event::IncidentResolved { key, element } => {
                self.resolve_incident(*key, now);
                self.touch_element(hot, *element, now, None);
            }
            Event::TokenArrived(token) | Event::TokenDropped(token) => self.count_tokens(hot, *token),
            Event::TokensTaken { scope, gateway } => {
                for flow in &hot.definition.process.element(*gateway).incoming {
                    self.count_tokens(hot, Token { scope: *scope, gateway: *gateway, flow: *flow });
                }
            }
            Event::WaitOpened(Opened { key, on: On::Turn(left), .. }) => {
                self.turns_new.insert(*key, row::Turn { key: *key, instance, due: now, left: left.clone() });
            }
            Event::WaitClosed { key, on: Waited::Turn, .. } => {
                if self.turns_new.remove(key).is_none() {
                    self.turns_done.push(*key);
                }
            }
            Event::Progressed { key, progress } => self.put_progress(hot, *key, *progress, now),
            Event::CompensationKept { scope, compensation } => self.put_compensation(instance, *scope, *compensation),
            Event::CompensationsHandedOn { to, compensations, .. } => {
                for compensation in compensations {
                    self.put_compensation(instance, *to, *compensation);
                }
            }
            Event::CompensationTaken { key, .. } => {
                self.compensations_put.remove(key);
                self.compensations_gone.push(*key);
            }
            Event::Migrated(migrated) => self.migrate(hot, migrated),
            Event::Suspended => drop(self.suspended.insert(instance, Some(now))),
            Event::Resumed => drop(self.suspended.insert(instance, None)),
            Event::Started { .. }
            | Event::Entered { .. }
            | Event::WaitOpened(_)
            | Event::WaitClosed { .. }
            | Event::Listened { .. }
            | Event::DecisionCalled { .. }
            | Event::FormSought { .. }
            | Event::Called { .. }
            | Event::MessageThrown(_)
            | Event::SignalThrown { .. }
            | Event::ThrownOut(_)
            | Event::Ended { .. } => {}
        }
    }

    /// Tokens and compensations say where they are themselves; the other rows are told by their keys.
    fn migrate(&mut self, hot: &HotInstance, migrated: &Migrated) {
        for moved in &migrated.tokens {
            self.count_tokens(hot, moved.from);
            self.count_tokens(hot, moved.to);
        }
        for (scope, compensation) in &migrated.compensations {
            self.put_compensation(hot.instance.key, *scope, *compensation);
        }
    }

    fn put_progress(&mut self, hot: &HotInstance, key: ElementKey, progress: Progress, now: Millis) {
        if let Some(new) = self.elements_new.get_mut(&key) {
            new.progress = Some(progress);
            return;
        }
        self.touch_element(hot, key, now, None);
        if let Some(change) = self.elements_changed.get_mut(&key) {
            change.progress = Some(progress);
        }
    }

    fn put_compensation(&mut self, instance: InstanceKey, scope: ElementKey, compensation: Compensation) {
        let Compensation { key, activity } = compensation;
        self.compensations_put.insert(key, row::Compensation { key, instance, scope, activity });
    }

    fn raise_incident(&mut self, hot: &HotInstance, event: &Event, now: Millis) {
        let Event::IncidentRaised { key, element, job, kind, message } = event else { return };
        let row = row::Incident {
            key: *key,
            instance: hot.instance.key,
            definition: hot.instance.definition,
            element: self.element_ix(hot, *element),
            element_instance: *element,
            job: *job,
            kind: *kind,
            message: message.clone(),
            created: now,
            resolved: None,
        };
        self.incidents_new.insert(*key, row);
        self.touch_element(hot, *element, now, None);
    }

    fn resolve_incident(&mut self, key: IncidentKey, now: Millis) {
        match self.incidents_new.get_mut(&key) {
            Some(new) => new.resolved = Some(now),
            None => drop(self.incidents_changed.insert(key, IncidentChange { key, resolved: now })),
        }
    }

    /// The tokens of one flow at a gateway, as the command left them.
    fn count_tokens(&mut self, hot: &HotInstance, token: Token) {
        let scope = hot.instance.elements.get(&token.scope);
        let count = scope.map_or(0, |scope| scope.tokens_at(token.gateway, token.flow));
        let row = row::Tokens { instance: hot.instance.key, token, count };
        self.tokens.insert((token.scope, token.gateway, token.flow), row);
    }

    /// The element's row as the command left it. `ended` if this event ended it.
    fn touch_element(&mut self, hot: &HotInstance, key: ElementKey, now: Millis, ended: Option<ElementState>) {
        if key == hot.instance.key.root() {
            return;
        }
        let alive = hot.instance.elements.get(&key).map(|element| ElementState::Alive(element.phase));
        let Some(state) = ended.or(alive) else { return };
        let ended = ended.map(|_| now);
        let incident = hot.instance.elements.get(&key).and_then(|element| element.incident);
        match self.elements_new.get_mut(&key) {
            Some(new) => (new.state, new.ended, new.incident) = (state, ended, incident),
            None => {
                let progress = self.elements_changed.get(&key).and_then(|change| change.progress);
                let past = ended.is_some() && hot.is_long();
                self.elements_changed.insert(key, ElementChange { key, state, ended, incident, progress, past });
            }
        }
    }

    fn touch_instance(&mut self, hot: &HotInstance, events: &[Event], now: Millis) {
        let instance = &hot.instance;
        let started = events.iter().any(|event| matches!(event, Event::Started { .. }));
        let outcome = events.iter().find_map(|event| match event {
            Event::Ended { outcome } => Some(*outcome),
            _ => None,
        });
        let state = match outcome {
            Some(Outcome::Completed) => InstanceState::Completed,
            Some(Outcome::Terminated) => InstanceState::Terminated,
            None => InstanceState::Active,
        };
        let phase = instance.elements.get(&instance.key.root()).map_or(Phase::Leaving, |root| root.phase);
        let change = InstanceChange { key: instance.key, state, phase, ended: outcome.map(|_| now) };
        let new = match self.instances_new.get_mut(&instance.key) {
            Some(new) => new,
            None if started => self.instances_new.entry(instance.key).or_insert_with(|| hot.row.clone()),
            None => {
                if matters(&change, events) {
                    self.instances_changed.insert(instance.key, change);
                }
                return;
            }
        };
        new.state = change.state;
        new.phase = change.phase;
        new.ended = change.ended;
    }

    fn element_ix(&self, hot: &HotInstance, key: ElementKey) -> ElementIx {
        let alive = hot.instance.elements.get(&key).map(|element| element.element);
        let written = || self.elements_new.get(&key).map(|row| row.element);
        alive.or_else(written).unwrap_or(Process::ROOT)
    }
}

/// Whether these events changed anything the instance's own row shows.
fn matters(change: &InstanceChange, events: &[Event]) -> bool {
    change.state != InstanceState::Active
        || events.iter().any(|event| match event {
            Event::Activated { key } | Event::Leaving { key } => key.0 == change.key.0,
            _ => false,
        })
}
