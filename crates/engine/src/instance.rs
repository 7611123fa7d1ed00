//! An instance: one aggregate of element instances, tokens, variables by scope, waits and incidents. It changes by [`Instance::apply`]
//! alone, and every change can be undone until it is accepted.
//!
//! Nothing is found by scanning: children and tokens by their scope, waits and the incident by their element, variables by name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{ElementIx, FlowIx, Process};

use crate::places::Places;
use crate::undo::{Journal, Undo};
use crate::variables::Variables;
use crate::{
    Compensation, CompensationKey, DefinitionKey, ElementKey, Event, IncidentKey, IncidentKind, InstanceKey, JobKey, On, Outcome,
    Parent, Progress, Token, VariableKey, Wait, WaitKey, WaitKind,
};

/// What is alive of a process instance. Finished elements leave it; their rows stay in the store.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    pub key: InstanceKey,
    pub definition: DefinitionKey,
    pub state: State,
    /// The call activity that called it.
    pub parent: Option<Parent>,
    /// By key, which is the order in which they were asked for. The process itself is among them.
    pub elements: BTreeMap<ElementKey, Box<ElementInstance>>,
    pub incidents: BTreeMap<IncidentKey, Incident>,
    /// Who waits for a condition to become true.
    pub(crate) conditions: BTreeSet<(ElementKey, WaitKey)>,
    /// The variables of the process itself when it ended.
    pub result: Variables,
    /// What of it was changed since it was last accepted, the other way round.
    pub(crate) journal: Journal,
    /// About as many bytes as it takes in memory.
    pub(crate) bytes: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Known by its key only: nothing has happened yet.
    New,
    Active,
    /// An operator has stopped it; it waits as before, and what it waits for does not come.
    Suspended,
    Completed,
    Terminated,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ElementInstance {
    pub element: ElementIx,
    /// The enclosing element instance; the outermost names itself.
    pub scope: ElementKey,
    pub phase: Phase,
    /// The incident that keeps it where it is.
    pub incident: Option<IncidentKey>,
    pub waits: Vec<Wait>,
    /// Variables local to this element instance.
    pub variables: Variables,
    /// How far it has come, if it is the body of a repeated activity.
    pub progress: Option<Progress>,
    /// What lives directly inside it; nothing for most kinds.
    inside: Option<Box<Inside>>,
}

#[derive(Debug, Clone, PartialEq, Default)]
struct Inside {
    children: BTreeSet<ElementKey>,
    places: Places,
    /// Tokens that wait at joins, by gateway and flow; no count is zero.
    tokens: BTreeMap<ElementIx, BTreeMap<FlowIx, u32>>,
    /// What completed in it and can be undone, by key: in that order.
    compensations: BTreeMap<CompensationKey, ElementIx>,
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

impl ElementInstance {
    pub fn new(element: ElementIx, scope: ElementKey, phase: Phase) -> Self {
        Self {
            element,
            scope,
            phase,
            incident: None,
            waits: Vec::new(),
            variables: Variables::default(),
            progress: None,
            inside: None,
        }
    }

    pub fn wait(&self, key: WaitKey) -> Option<&Wait> {
        self.waits.iter().find(|wait| wait.key == key)
    }

    /// Most have one wait, and many instances wait: room for one.
    fn open(&mut self, wait: Wait) {
        if self.waits.is_empty() {
            self.waits.reserve_exact(1);
        }
        self.waits.push(wait);
    }

    /// The element instances directly inside it, in the order of their keys.
    pub fn children(&self) -> impl DoubleEndedIterator<Item = ElementKey> + '_ {
        self.inside.iter().flat_map(|inside| inside.children.iter().copied())
    }

    /// The tokens that wait at joins inside it, with how many of each.
    pub fn tokens(&self) -> impl Iterator<Item = (ElementIx, FlowIx, u32)> + '_ {
        let gateways = self.inside.iter().flat_map(|inside| &inside.tokens);
        gateways.flat_map(|(gateway, flows)| flows.iter().map(|(flow, count)| (*gateway, *flow, *count)))
    }

    /// The gateways at which tokens wait inside it.
    pub(crate) fn gateways_waiting(&self) -> impl ExactSizeIterator<Item = ElementIx> + '_ {
        static NONE: BTreeMap<ElementIx, BTreeMap<FlowIx, u32>> = BTreeMap::new();
        self.inside.as_ref().map_or(&NONE, |inside| &inside.tokens).keys().copied()
    }

    /// How many tokens wait at a gateway.
    pub(crate) fn tokens_of(&self, gateway: ElementIx) -> u32 {
        let flows = self.inside.as_ref().and_then(|inside| inside.tokens.get(&gateway));
        flows.into_iter().flat_map(BTreeMap::values).sum()
    }

    /// How many tokens wait at a gateway, having come along this flow.
    pub fn tokens_at(&self, gateway: ElementIx, flow: FlowIx) -> u32 {
        let flows = self.inside.as_ref().and_then(|inside| inside.tokens.get(&gateway));
        flows.and_then(|flows| flows.get(&flow)).copied().unwrap_or(0)
    }

    /// Along how many flows tokens have come to a gateway.
    pub(crate) fn flows_arrived(&self, gateway: ElementIx) -> usize {
        self.inside.as_ref().and_then(|inside| inside.tokens.get(&gateway)).map_or(0, BTreeMap::len)
    }

    /// Nothing lives or waits inside it.
    pub(crate) fn is_empty(&self) -> bool {
        self.inside.as_ref().is_none_or(|inside| inside.children.is_empty() && inside.tokens.is_empty())
    }

    pub(crate) fn compensations_by_key(&self) -> Option<&BTreeMap<CompensationKey, ElementIx>> {
        self.inside.as_ref().map(|inside| &inside.compensations)
    }

    pub(crate) fn compensations_mut(&mut self) -> &mut BTreeMap<CompensationKey, ElementIx> {
        &mut self.inside_mut().compensations
    }

    fn inside_mut(&mut self) -> &mut Inside {
        self.inside.get_or_insert_default()
    }

    pub(crate) fn tidy_inside(&mut self) {
        if self.is_empty() && self.compensations().next().is_none() {
            self.inside = None;
        }
    }

    pub(crate) fn add_tokens(&mut self, gateway: ElementIx, flow: FlowIx, count: u32) {
        *self.inside_mut().tokens.entry(gateway).or_default().entry(flow).or_insert(0) += count;
    }

    pub(crate) fn remove_token(&mut self, gateway: ElementIx, flow: FlowIx) {
        let tokens = &mut self.inside_mut().tokens;
        if let Some(flows) = tokens.get_mut(&gateway) {
            match flows.get_mut(&flow) {
                Some(1) => drop(flows.remove(&flow)),
                Some(count) => *count -= 1,
                None => {}
            }
            if flows.is_empty() {
                tokens.remove(&gateway);
            }
        }
        self.tidy_inside();
    }

    /// One token of each flow that has one at this gateway; gives those flows.
    fn take_tokens(&mut self, gateway: ElementIx) -> Vec<FlowIx> {
        let flows = self.inside.as_ref().and_then(|inside| inside.tokens.get(&gateway));
        let flows: Vec<_> = flows.into_iter().flat_map(|flows| flows.keys().copied()).collect();
        for flow in &flows {
            self.remove_token(gateway, *flow);
        }
        flows
    }

    fn bytes(&self) -> usize {
        let compensations = self.inside.as_ref().map_or(0, |inside| inside.compensations.len());
        let kept = compensations * (size_of::<Compensation>() + 16);
        ELEMENT_BYTES + self.variables.bytes() + self.waits.len() * size_of::<Wait>() + kept
    }
}

/// What lives in a scope, by its elements: joins ask for that. All of it is gone through where it is little; of more an index is kept from
/// the first question on.
impl Instance {
    /// Before questions are asked.
    pub(crate) fn index_places(&mut self, scope: ElementKey) {
        let Some(inside) = self.elements.get(&scope).and_then(|scope| scope.inside.as_ref()) else { return };
        if Places::WITHOUT_MAX < inside.children.len() && !inside.places.is_indexed() {
            let places = inside.children.iter().map(|key| (self.elements[key].element, *key)).collect();
            self.element_mut(scope).inside_mut().places = places;
        }
    }

    /// The elements that have instances in a scope. One that has several may be named several times.
    pub(crate) fn places(&self, scope: ElementKey) -> impl Iterator<Item = ElementIx> + '_ {
        let inside = self.elements.get(&scope).and_then(|scope| scope.inside.as_deref());
        let indexed = inside.and_then(|inside| inside.places.elements());
        let not_indexed = inside.filter(|_| indexed.is_none()).map(|inside| inside.children.iter());
        let elements = not_indexed.into_iter().flatten().map(|key| self.elements[key].element);
        indexed.into_iter().flatten().chain(elements)
    }

    /// The first instance of an element in a scope.
    pub(crate) fn first_at(&self, scope: ElementKey, element: ElementIx) -> Option<ElementKey> {
        let inside = self.elements.get(&scope)?.inside.as_deref()?;
        match inside.places.first_at(element) {
            Some(first) => first,
            None => inside.children.iter().copied().find(|key| self.elements[key].element == element),
        }
    }

    /// Instances become those of other elements.
    pub(crate) fn forget_places(&mut self) {
        for inside in self.elements.values_mut().filter_map(|element| element.inside.as_mut()) {
            inside.places = Places::default();
        }
    }
}

/// What an element instance takes with its places in maps.
const ELEMENT_BYTES: usize = size_of::<ElementInstance>() + 48;

impl Instance {
    /// An instance to which nothing has happened yet.
    pub fn new(key: InstanceKey, definition: DefinitionKey) -> Self {
        Self {
            key,
            definition,
            state: State::New,
            parent: None,
            conditions: BTreeSet::new(),
            elements: BTreeMap::new(),
            incidents: BTreeMap::new(),
            result: Variables::default(),
            journal: Journal::default(),
            bytes: size_of::<Self>(),
        }
    }

    /// About as many bytes as it takes in memory.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The element instance of the process itself, while it is alive.
    pub fn root(&self) -> Option<&ElementInstance> {
        self.elements.get(&self.key.root()).map(|root| &**root)
    }

    /// The element instances directly inside a scope, in the order of their keys.
    pub fn children(&self, scope: ElementKey) -> impl DoubleEndedIterator<Item = ElementKey> + '_ {
        self.elements.get(&scope).into_iter().flat_map(|element| element.children())
    }

    /// Whether it is one of several inside the body of a repeated activity: an instance of the same element as what encloses it.
    pub fn is_inner(&self, key: ElementKey) -> bool {
        let Some(inner) = self.elements.get(&key).filter(|inner| inner.scope != key) else { return false };
        self.elements.get(&inner.scope).is_some_and(|body| body.element == inner.element)
    }

    /// The tokens that wait at joins, in every scope.
    pub fn tokens(&self) -> impl Iterator<Item = (Token, u32)> + '_ {
        self.elements.iter().flat_map(|(scope, element)| {
            element.tokens().map(|(gateway, flow, count)| (Token { scope: *scope, gateway, flow }, count))
        })
    }

    /// The only way an instance changes. What it takes to go back is remembered until [`Instance::accept`].
    pub fn apply(&mut self, event: &Event) {
        let undo = self.change(event);
        self.journal.push(undo);
    }

    /// What happened since the last time stays.
    pub fn accept(&mut self) {
        self.journal.clear();
    }

    /// What happened since the last [`Instance::accept`] has never been.
    pub fn undo(&mut self) {
        self.undo_to(0);
    }

    fn change(&mut self, event: &Event) -> Undo {
        match event {
            Event::Started { instance, definition, parent } => {
                let was = Undo::Began { key: self.key, definition: self.definition, state: self.state };
                self.parent = *parent;
                self.key = *instance;
                self.definition = *definition;
                self.state = State::Active;
                was
            }
            Event::Entered { key, element, scope } => {
                self.put(*key, Box::new(ElementInstance::new(*element, *scope, Phase::Entering)));
                Undo::Entered(*key)
            }
            Event::Activated { key } => self.set_phase(*key, Phase::Active),
            Event::Leaving { key } => self.set_phase(*key, Phase::Leaving),
            Event::Left { key } | Event::Dropped { key } => {
                let gone = self.take(*key);
                if *key == self.key.root() {
                    let result = std::mem::replace(&mut self.result, gone.variables.clone());
                    return Undo::RootLeft { key: *key, gone, result: Box::new(result) };
                }
                Undo::Left { key: *key, gone }
            }
            Event::Progressed { key, progress } => self.set_progress(*key, *progress),
            Event::CompensationKept { scope, compensation } => self.compensation_kept(*scope, *compensation),
            Event::CompensationsHandedOn { from, to, compensations } => self.compensations_handed_on(*from, *to, compensations),
            Event::CompensationTaken { key, scope } => self.compensation_taken(*key, *scope),
            Event::TokenArrived(token) => self.token_arrived(*token),
            Event::TokensTaken { scope, gateway } => {
                let flows = self.element_mut(*scope).take_tokens(*gateway);
                Undo::TokensTaken { scope: *scope, gateway: *gateway, flows }
            }
            Event::TokenDropped(token) => self.token_dropped(*token),
            Event::VariableCreated { key, scope, name, value } => {
                let variable = Variable { key: *key, name: name.clone(), value: value.clone() };
                self.weighing(*scope, |element| element.variables.push(variable));
                Undo::VariableCreated { scope: *scope, name: name.clone() }
            }
            Event::VariableUpdated { scope, name, value, .. } => {
                let was = self.weighing(*scope, |element| element.variables.set(name, value.clone()));
                Undo::VariableUpdated { scope: *scope, name: name.clone(), was }
            }
            // The element stays in its entry until the verdict, as it does with an incident.
            Event::DecisionCalled { .. } | Event::FormSought { .. } | Event::Called { .. } => Undo::Nothing,
            // What happens to others.
            Event::MessageThrown(_) | Event::SignalThrown { .. } | Event::ThrownOut(_) | Event::Listened { .. } => Undo::Nothing,
            Event::WaitOpened(opened) => {
                if let On::Condition = opened.on {
                    self.conditions.insert((opened.element, opened.key));
                }
                self.weighing(opened.element, |element| element.open(opened.into()));
                Undo::WaitOpened { element: opened.element }
            }
            Event::WaitClosed { key, element, .. } => self.close(*key, *element),
            Event::IncidentRaised { key, element, job, kind, .. } => {
                self.raise(*key, Incident { element: *element, job: *job, kind: *kind })
            }
            Event::IncidentResolved { key, .. } => self.resolve(*key),
            Event::Migrated(migrated) => Undo::Migrated(Box::new(self.migrated(migrated))),
            Event::Ended { outcome: Outcome::Completed } => self.set_state(State::Completed),
            Event::Ended { outcome: Outcome::Terminated } => self.set_state(State::Terminated),
            Event::Suspended => self.set_state(State::Suspended),
            Event::Resumed => self.set_state(State::Active),
        }
    }

    fn token_arrived(&mut self, token: Token) -> Undo {
        self.element_mut(token.scope).add_tokens(token.gateway, token.flow, 1);
        Undo::TokenArrived(token)
    }

    fn token_dropped(&mut self, token: Token) -> Undo {
        self.element_mut(token.scope).remove_token(token.gateway, token.flow);
        Undo::TokensTaken { scope: token.scope, gateway: token.gateway, flows: vec![token.flow] }
    }

    fn close(&mut self, key: WaitKey, element: ElementKey) -> Undo {
        let (place, wait) = self.weighing(element, |element| {
            let place = element.waits.iter().position(|wait| wait.key == key);
            let place = place.expect("a closed wait was open");
            (place, element.waits.remove(place))
        });
        if wait.kind == WaitKind::Condition {
            self.conditions.remove(&(element, key));
        }
        Undo::WaitClosed { element, place, wait: Box::new(wait) }
    }

    fn raise(&mut self, key: IncidentKey, incident: Incident) -> Undo {
        let was = self.element_mut(incident.element).incident.replace(key);
        self.incidents.insert(key, incident);
        Undo::IncidentRaised { key, was }
    }

    fn resolve(&mut self, key: IncidentKey) -> Undo {
        let incident = self.incidents.remove(&key).expect("a resolved incident was there");
        let element = self.element_mut(incident.element);
        let was = element.incident;
        element.incident = was.filter(|active| *active != key);
        Undo::IncidentResolved { key, incident, was }
    }

    fn set_state(&mut self, state: State) -> Undo {
        Undo::State { was: std::mem::replace(&mut self.state, state) }
    }

    fn set_phase(&mut self, key: ElementKey, phase: Phase) -> Undo {
        let was = std::mem::replace(&mut self.element_mut(key).phase, phase);
        Undo::Phase { key, was }
    }

    fn set_progress(&mut self, key: ElementKey, progress: Progress) -> Undo {
        let was = self.element_mut(key).progress.replace(progress);
        Undo::Progressed { key, was }
    }

    /// Puts an element instance into its scope.
    pub(crate) fn put(&mut self, key: ElementKey, element: Box<ElementInstance>) {
        self.bytes += element.bytes();
        if element.scope != key {
            let inside = self.element_mut(element.scope).inside_mut();
            inside.children.insert(key);
            inside.places.put(element.element, key);
        }
        self.elements.insert(key, element);
    }

    pub(crate) fn take(&mut self, key: ElementKey) -> Box<ElementInstance> {
        let gone = self.elements.remove(&key).expect("events name living elements only");
        self.bytes -= gone.bytes();
        if gone.scope != key
            && let Some(scope) = self.elements.get_mut(&gone.scope)
        {
            let inside = scope.inside_mut();
            inside.children.remove(&key);
            inside.places.take(gone.element, key);
            scope.tidy_inside();
        }
        gone
    }

    /// Changes an element instance and keeps the account of bytes.
    pub(crate) fn weighing<T>(&mut self, key: ElementKey, change: impl FnOnce(&mut ElementInstance) -> T) -> T {
        let element = self.elements.get_mut(&key).expect("events name living elements only");
        let before = element.bytes();
        let changed = change(element);
        self.bytes = self.bytes + element.bytes() - before;
        changed
    }

    pub(crate) fn element_mut(&mut self, key: ElementKey) -> &mut ElementInstance {
        self.elements.get_mut(&key).expect("events name living elements only")
    }
}

/// Putting a running instance together again from what a store holds of it. Nothing is taken on trust: what does not fit is an error
/// that says so.
impl Instance {
    pub fn restored(key: InstanceKey, definition: DefinitionKey, phase: Phase) -> Self {
        let mut instance = Self::new(key, definition);
        instance.state = State::Active;
        instance.put(key.root(), Box::new(ElementInstance::new(Process::ROOT, key.root(), phase)));
        instance
    }

    /// In the order of their keys: a scope comes before what is inside it.
    pub fn restore_element(&mut self, key: ElementKey, element: ElementInstance) -> Result<(), String> {
        self.living(element.scope, "element instance", key.0)?;
        if self.elements.contains_key(&key) {
            return Err(format!("element instance {key} is there twice"));
        }
        self.put(key, Box::new(element));
        Ok(())
    }

    pub fn restore_variable(&mut self, scope: ElementKey, variable: Variable) -> Result<(), String> {
        self.living(scope, "variable", variable.key.0)?;
        self.weighing(scope, |element| element.variables.push(variable));
        Ok(())
    }

    pub fn restore_tokens(&mut self, token: Token, count: u32) -> Result<(), String> {
        self.living(token.scope, "a token of scope", token.scope.0)?;
        if count == 0 {
            return Err(format!("a token of scope {} is there no time", token.scope));
        }
        self.element_mut(token.scope).add_tokens(token.gateway, token.flow, count);
        Ok(())
    }

    pub fn restore_wait(&mut self, element: ElementKey, wait: Wait) -> Result<(), String> {
        self.living(element, "wait", wait.key.0)?;
        if wait.kind == WaitKind::Condition {
            self.conditions.insert((element, wait.key));
        }
        self.weighing(element, |element| element.open(wait));
        Ok(())
    }

    pub fn restore_incident(&mut self, key: IncidentKey, incident: Incident) -> Result<(), String> {
        self.living(incident.element, "incident", key.0)?;
        self.element_mut(incident.element).incident = Some(key);
        self.incidents.insert(key, incident);
        Ok(())
    }

    /// What was put together fits the process: the body of a repeated activity knows how far it has come.
    pub fn check_restored(&self, process: &Process) -> Result<(), String> {
        for (key, element) in &self.elements {
            let repeats = process.element(element.element).repeat.is_some() && !self.is_inner(*key);
            if repeats && element.progress.is_none() {
                return Err(format!("element instance {key} repeats an activity, and nothing says how far it has come"));
            }
        }
        Ok(())
    }

    pub(crate) fn living(&self, element: ElementKey, what: &str, key: u64) -> Result<(), String> {
        match self.elements.contains_key(&element) {
            true => Ok(()),
            false => Err(format!("{what} {key} belongs to element instance {element}, which is not alive")),
        }
    }
}
