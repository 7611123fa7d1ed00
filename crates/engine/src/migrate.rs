//! Migration: an instance goes on as an instance of another process. What lives keeps its keys, variables, jobs, timers and incidents, and is
//! an instance of the element it is mapped to from then on (ADR 23).
//!
//! Events that sit on an element or inside it: what is mapped goes on waiting for what it waits for; what is not waits no longer; what only
//! the other process has begins to wait.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{ElementIx, FlowIx, Kind, Process, Repeat, Trigger};

use crate::element::catch_event;
use crate::enter_at::is_interrupted;
use crate::modify::CHANGED_MAX;
use crate::step::Run;
use crate::{
    Compensation, DefinitionKey, ElementInstance, ElementKey, Event, Instance, On, Phase, Rejected, Token, WaitEnd, WaitKey,
    WaitKind, element, repeat,
};

/// Where an instance is to go on.
#[derive(Debug, Clone, Copy)]
pub struct Migration<'a> {
    pub definition: DefinitionKey,
    pub process: &'a Process,
    /// Ids of elements, or of flows into joins: what is at the first goes on at the second.
    pub mappings: &'a [(Arc<str>, Arc<str>)],
}

/// What an instance has become.
#[derive(Debug, Clone, PartialEq)]
pub struct Migrated {
    pub definition: DefinitionKey,
    /// All that live, the process itself included.
    pub elements: Vec<(ElementKey, ElementIx)>,
    /// Waits for another event than the one that waits.
    pub catches: Vec<Recaught>,
    pub tokens: Vec<Rejoined>,
    /// What can be undone, with the scope that keeps it.
    pub compensations: Vec<(ElementKey, Compensation)>,
}

/// A wait that triggers another event from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recaught {
    pub element: ElementKey,
    pub wait: WaitKey,
    pub catch: ElementIx,
}

/// Tokens that wait at another join from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rejoined {
    pub from: Token,
    pub to: Token,
    pub count: u32,
}

/// Which element and flow becomes which.
struct Map {
    elements: BTreeMap<ElementIx, ElementIx>,
    flows: BTreeMap<FlowIx, FlowIx>,
}

/// What happens to the events of one element instance.
struct Catches {
    element: ElementKey,
    kept: Vec<(WaitKey, ElementIx)>,
    closed: Vec<WaitKey>,
    opened: Vec<ElementIx>,
    /// Names of messages that are not waited for any more.
    names: BTreeSet<Arc<str>>,
}

impl<'a> Run<'a> {
    pub(crate) fn migrate(&mut self, migration: &Migration<'a>) -> Result<(), Rejected> {
        let target = migration.process;
        let map = Map::new(self.process, migration)?;
        if CHANGED_MAX < self.instance.elements.len() {
            return Err(unfit(format!("more than {CHANGED_MAX} of its element instances are active: that is too many at once")));
        }
        let mut elements = Vec::with_capacity(self.instance.elements.len());
        let (mut catches, mut awaited) = (Vec::new(), Vec::new());
        for (key, alive) in &self.instance.elements {
            let to = check_mapped(self.process, target, &map, alive.element)?;
            self.check_heard(target, *key, to)?;
            check_cancelled(target, alive, to)?;
            awaited.extend(self.awaited_event(target, &map, *key)?);
            elements.push((*key, to));
            catches.push(self.catches(target, &map, *key, to)?);
        }
        let tokens = self.tokens(target, &map)?;
        for plan in &catches {
            for wait in &plan.closed {
                self.close(plan.element, *wait, WaitEnd::Cancelled);
            }
        }
        let compensations = self.compensations(target, &map);
        let recaught = catches.iter().flat_map(|plan| {
            plan.kept.iter().map(|(wait, catch)| Recaught { element: plan.element, wait: *wait, catch: *catch })
        });
        let definition = migration.definition;
        let migrated = Migrated { definition, elements, catches: recaught.collect(), tokens, compensations };
        self.emit(Event::Migrated(Box::new(migrated)));
        self.process = target;
        for (key, event) in awaited {
            self.comes_next(key, event);
        }
        for plan in &catches {
            self.open_new(plan)?;
        }
        // What can still come is for the other process to say.
        let waiting: BTreeSet<_> = self.instance.tokens().map(|(token, _)| (token.scope, token.gateway)).collect();
        for (scope, gateway) in waiting {
            self.examine_later(gateway, scope);
        }
        Ok(())
    }

    /// Those whom it waits for to be heard listen to what it becomes as well.
    fn check_heard(&self, target: &Process, key: ElementKey, to: ElementIx) -> Result<(), Rejected> {
        let Some(event) = self.listener_of(key) else { return Ok(()) };
        let heard = self.heard(key, event).unwrap_or(0);
        if heard < target.element(to).listening_to(event).count() {
            return Ok(());
        }
        let (was, is) = (&self.element_of(key).id, &target.element(to).id);
        let word = event.word();
        Err(unfit(format!(
            "'{was}' waits for a '{word}' listener, and '{is}' has fewer of them: it can be migrated when it was heard"
        )))
    }

    /// What the event becomes that has come to an element instance and waits for listeners to be heard.
    fn awaited_event(&self, target: &Process, map: &Map, key: ElementKey) -> Result<Option<(ElementKey, ElementIx)>, Rejected> {
        let Some(event) = self.next_event(key) else { return Ok(None) };
        Ok(Some((key, check_mapped(self.process, target, map, event)?)))
    }

    /// What is kept, closed and opened of the events on an element instance and inside it.
    fn catches(&self, target: &Process, map: &Map, key: ElementKey, to: ElementIx) -> Result<Catches, Rejected> {
        let process = self.process;
        let alive = &self.instance.elements[&key];
        let is_inner = self.instance.is_inner(key);
        let there = events(target, to, is_inner);
        let mut taken = BTreeSet::new();
        for event in events(process, alive.element, is_inner) {
            let Some(becomes) = map.elements.get(&event) else { continue };
            check_event(process, target, event, *becomes, (alive.element, &there))?;
            if !taken.insert(*becomes) {
                let id = &target.element(*becomes).id;
                return Err(unfit(format!("more than one event of '{}' is mapped to '{id}'", process.element(alive.element).id)));
            }
        }
        let (mut kept, mut closed, mut names) = (Vec::new(), Vec::new(), BTreeSet::new());
        for wait in &alive.waits {
            let Some(event) = wait.catch else { continue };
            let whole = process.event(event);
            if whole != event && map.elements.contains_key(&whole) {
                let id = &process.element(whole).id;
                return Err(unfit(format!("'{id}' has several definitions: what it has seen of them cannot be migrated yet")));
            }
            match map.elements.get(&event) {
                Some(becomes) => kept.push((wait.key, *becomes)),
                None => {
                    closed.push(wait.key);
                    names.extend(self.message_name(key, event).filter(|_| wait.kind == WaitKind::Message));
                }
            }
        }
        let waits = alive.phase == Phase::Active;
        let is_start = |event: &ElementIx| matches!(target.element(*event).kind, Kind::StartEvent(_));
        let interrupted = is_interrupted(self, key);
        let opened = there.into_iter().filter(|event| waits && !taken.contains(event) && !(interrupted && is_start(event)));
        Ok(Catches { element: key, kept, closed, opened: opened.collect(), names })
    }

    fn message_name(&self, key: ElementKey, event: ElementIx) -> Option<Arc<str>> {
        let message = match (&self.process.element(event).kind, self.process.catch(event)) {
            (Kind::ReceiveTask(message), _) | (_, Some(Trigger::Message(message))) => message,
            _ => return None,
        };
        self.text(key, &message.name, "the message name").ok()
    }

    /// The events that only the process it has become has begin to wait.
    fn open_new(&mut self, plan: &Catches) -> Result<(), Rejected> {
        let process = self.process;
        let key = plan.element;
        let scope = self.instance.elements[&key].scope;
        for event in &plan.opened {
            let element = process.element(*event);
            let on_boundary = matches!(element.kind, Kind::BoundaryEvent(_));
            let seen_from = (key, if on_boundary { scope } else { key });
            let waits = match (&element.kind, process.catch(*event)) {
                (Kind::ReceiveTask(message), _) => catch_event::message_on(self, seen_from, message).map(|on| vec![(*event, on)]),
                (_, Some(trigger)) => catch_event::waits_for(self, seen_from, *event, trigger),
                (_, None) => Ok(Vec::new()),
            };
            let waits = waits.map_err(|trouble| unfit(format!("'{}' cannot begin to wait: {}", element.id, trouble.message)))?;
            for (catch, on) in waits {
                if let On::Message { name, .. } = &on
                    && plan.names.contains(name)
                {
                    let reason = "which is waited for already: map the event that does";
                    return Err(unfit(format!("'{}' waits for the message '{name}', {reason}", element.id)));
                }
                self.open(key, Some(catch), on);
            }
        }
        Ok(())
    }

    fn tokens(&self, target: &Process, map: &Map) -> Result<Vec<Rejoined>, Rejected> {
        let process = self.process;
        let mut tokens = Vec::new();
        for (from, count) in self.instance.tokens() {
            let gateway = check_mapped(process, target, map, from.gateway)?;
            let (was, is) = (process.element(from.gateway), target.element(gateway));
            if is.incoming.len() < was.incoming.len() {
                let reason = format!("'{}' has fewer incoming flows than '{}', where tokens wait", is.id, was.id);
                return Err(unfit(reason));
            }
            let id = &process.flow(from.flow).id;
            let same = || is.incoming.iter().copied().find(|flow| target.flow(*flow).id == *id);
            let flow = map.flows.get(&from.flow).copied().or_else(same);
            let flow = flow.filter(|flow| is.incoming.contains(flow));
            let flow = flow.ok_or_else(|| {
                unfit(format!("a token came to '{}' by the flow '{id}', which leads not to '{}'", was.id, is.id))
            })?;
            tokens.push(Rejoined { from, to: Token { scope: from.scope, gateway, flow }, count });
        }
        Ok(tokens)
    }

    /// What is mapped to an activity that can be undone can be undone; the rest is forgotten.
    fn compensations(&mut self, target: &Process, map: &Map) -> Vec<(ElementKey, Compensation)> {
        let (mut kept, mut gone) = (Vec::new(), Vec::new());
        for (scope, alive) in &self.instance.elements {
            for Compensation { key, activity } in alive.compensations() {
                let becomes = map.elements.get(&activity).copied();
                match becomes.filter(|activity| element::compensation::can_be_undone(target, *activity)) {
                    Some(activity) => kept.push((*scope, Compensation { key, activity })),
                    None => gone.push((*scope, key)),
                }
            }
        }
        for (scope, key) in gone {
            self.emit(Event::CompensationTaken { key, scope });
        }
        kept
    }
}

impl Map {
    fn new(source: &Process, migration: &Migration<'_>) -> Result<Self, Rejected> {
        let target = migration.process;
        let mut map = Self { elements: BTreeMap::from([(Process::ROOT, Process::ROOT)]), flows: BTreeMap::new() };
        let mut seen = BTreeSet::new();
        for (from, to) in migration.mappings {
            if !seen.insert(from) {
                return Err(invalid(format!("the source '{from}' is mapped more than once")));
            }
            let missing = || invalid(format!("there is no target element '{to}'"));
            if let Some(element) = source.find(from) {
                map.elements.insert(element, target.find(to).ok_or_else(missing)?);
            } else if let Some(flow) = find_flow(source, from) {
                map.flows.insert(flow, find_flow(target, to).ok_or_else(missing)?);
            } else {
                return Err(invalid(format!("there is no source element '{from}'")));
            }
        }
        // The runs of an ad-hoc sub-process go with it.
        let runs: Vec<_> =
            map.elements.iter().filter_map(|(from, to)| Some((run_of(source, *from)?, run_of(target, *to)?))).collect();
        map.elements.extend(runs);
        Ok(map)
    }
}

fn find_flow(process: &Process, id: &str) -> Option<FlowIx> {
    process.flows.iter().position(|flow| &*flow.id == id).map(|place| FlowIx(place as u32))
}

fn run_of(process: &Process, ix: ElementIx) -> Option<ElementIx> {
    match &process.element(ix).kind {
        Kind::AdHoc(ad_hoc) => Some(ad_hoc.run),
        _ => None,
    }
}

/// What an element becomes: one of the same kind, in what the scope around it becomes.
fn check_mapped(source: &Process, target: &Process, map: &Map, from: ElementIx) -> Result<ElementIx, Rejected> {
    let was = source.element(from);
    let Some(to) = map.elements.get(&from).copied() else {
        return Err(unfit(format!("there is no mapping for the active element '{}'", was.id)));
    };
    let is = target.element(to);
    if !is_alike(&was.kind, &is.kind) {
        return Err(unfit(format!("the active element '{}' is mapped to '{}', which is of another type", was.id, is.id)));
    }
    if !repeats_alike(was.repeat.as_ref(), is.repeat.as_ref()) {
        return Err(unfit(format!("the active element '{}' is mapped to '{}', which repeats in another way", was.id, is.id)));
    }
    if map.elements.get(&was.scope) != Some(&is.scope) {
        let around = &target.element(is.scope).id;
        return Err(unfit(format!(
            "the active element '{}' is mapped to '{}' in '{around}', which is another scope",
            was.id, is.id
        )));
    }
    Ok(to)
}

/// A transaction that was cancelled is left by its cancel event.
fn check_cancelled(target: &Process, alive: &ElementInstance, to: ElementIx) -> Result<(), Rejected> {
    let is_left = || element::transaction::cancel_event(target, to).is_some();
    if !element::transaction::is_cancelled(alive) || is_left() {
        return Ok(());
    }
    Err(unfit(format!(
        "a transaction that was cancelled is mapped to '{}', which has no cancel boundary event",
        target.element(to).id
    )))
}

/// What lives at one can live at the other.
fn is_alike(was: &Kind, is: &Kind) -> bool {
    use std::mem::discriminant;
    discriminant(was) == discriminant(is)
        && match (was, is) {
            (Kind::JobTask(was), Kind::JobTask(is)) => was.flavour == is.flavour,
            (Kind::CatchEvent(was), Kind::CatchEvent(is)) => discriminant(was) == discriminant(is),
            (Kind::EndEvent(was), Kind::EndEvent(is)) => discriminant(was) == discriminant(is),
            (Kind::ThrowEvent(Some(was)), Kind::ThrowEvent(Some(is))) => discriminant(was) == discriminant(is),
            (Kind::ThrowEvent(was), Kind::ThrowEvent(is)) => was.is_some() == is.is_some(),
            _ => true,
        }
}

fn repeats_alike(was: Option<&Repeat>, is: Option<&Repeat>) -> bool {
    match (was, is) {
        (None, None) | (Some(Repeat::Loop(_)), Some(Repeat::Loop(_))) => true,
        (Some(Repeat::Each(was)), Some(Repeat::Each(is))) => was.order == is.order,
        (None | Some(Repeat::Each(_) | Repeat::Loop(_)), _) => false,
    }
}

/// The events that an element instance waits for besides its own, in the order in which they begin to wait.
fn events(process: &Process, ix: ElementIx, is_inner: bool) -> Vec<ElementIx> {
    let element = process.element(ix);
    if let Kind::EventGateway = element.kind {
        return element.outgoing.iter().map(|flow| process.flow(*flow).target).collect();
    }
    let (boundaries, starts) = repeat::catching_of(process, ix, is_inner);
    boundaries.iter().rev().chain(starts).copied().collect()
}

/// An event of an active element becomes one of the same type at what the element becomes.
fn check_event(
    source: &Process,
    target: &Process,
    event: ElementIx,
    becomes: ElementIx,
    (element, there): (ElementIx, &[ElementIx]),
) -> Result<(), Rejected> {
    let (was, is) = (source.element(event), target.element(becomes));
    let type_of = |process: &Process, ix| process.catch(ix).map(std::mem::discriminant);
    let is_same = std::mem::discriminant(&was.kind) == std::mem::discriminant(&is.kind);
    if !is_same || type_of(source, event) != type_of(target, becomes) {
        return Err(unfit(format!("the event '{}' is mapped to '{}', which is of another type", was.id, is.id)));
    }
    if !there.contains(&becomes) {
        let id = &source.element(element).id;
        return Err(unfit(format!(
            "the event '{}' is mapped to '{}', which belongs to another element than what '{id}' becomes",
            was.id, is.id
        )));
    }
    Ok(())
}

fn invalid(reason: String) -> Rejected {
    Rejected::Invalid(reason.into())
}

fn unfit(reason: String) -> Rejected {
    Rejected::Unfit(reason.into())
}

impl Instance {
    /// Gives what it takes to go back.
    pub(crate) fn migrated(&mut self, migrated: &Migrated) -> Migrated {
        let Migrated { definition, elements, catches, tokens, compensations } = migrated;
        let definition = std::mem::replace(&mut self.definition, *definition);
        let elements = elements.iter().map(|(key, to)| (*key, std::mem::replace(&mut self.element_mut(*key).element, *to)));
        let elements = elements.collect();
        let catches = catches.iter().map(|caught| {
            let wait = self.element_mut(caught.element).waits.iter_mut().find(|wait| wait.key == caught.wait);
            let was = wait.expect("what is caught otherwise is waited for").catch.replace(caught.catch);
            Recaught { catch: was.unwrap_or(caught.catch), ..*caught }
        });
        let catches = catches.collect();
        for moved in tokens {
            for _ in 0..moved.count {
                self.element_mut(moved.from.scope).remove_token(moved.from.gateway, moved.from.flow);
            }
        }
        for moved in tokens {
            self.element_mut(moved.to.scope).add_tokens(moved.to.gateway, moved.to.flow, moved.count);
        }
        let tokens = tokens.iter().map(|moved| Rejoined { from: moved.to, to: moved.from, count: moved.count }).collect();
        let compensations = compensations.iter().map(|(scope, to)| {
            let was = self.take_compensation(*scope, to.key);
            self.keep_compensation(*scope, *to);
            (*scope, was)
        });
        let compensations = compensations.collect();
        Migrated { definition, elements, catches, tokens, compensations }
    }
}
