//! Migration: an instance goes on as an instance of another process. What lives keeps its keys, variables, jobs, timers and incidents, and is
//! an instance of the element it is mapped to from then on (ADR 23).
//!
//! Events that sit on an element or inside it: what is mapped goes on waiting for what it waits for; what is not waits no longer; what only
//! the other process has begins to wait.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::{ElementIx, Kind, Process, Trigger};

use crate::element::catch_event;
use crate::enter_at::is_interrupted;
use crate::fit::{Map, check_cancelled, check_event, check_mapped, unfit};
use crate::modify::CHANGED_MAX;
use crate::step::Run;
use crate::{
    Compensation, DefinitionKey, Document, ElementKey, Event, Instance, On, Phase, Rejected, Token, WaitEnd, WaitKey, WaitKind,
    element, repeat,
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
        let seen = self.take_parts(&map);
        for plan in &catches {
            for wait in &plan.closed {
                self.forget_part(plan.element, *wait);
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
        for (key, part, variables) in seen {
            element::multiple_event::keep(self, key, part, &variables);
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
        if heard < self.globals.count(self.pinned(key, event), target.element(to), event) {
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
            if let Some(becomes) = map.elements.get(&whole).filter(|_| !map.elements.contains_key(&event)) {
                let (was, is) = (&process.element(whole).id, &target.element(*becomes).id);
                return Err(unfit(format!("'{was}' has several definitions, and '{is}' has not the same in the same order")));
            }
            match map.elements.get(&event) {
                Some(becomes) => kept.push((wait.key, *becomes)),
                None => {
                    closed.push(wait.key);
                    names.extend(self.message_name(key, event).filter(|_| wait.kind == WaitKind::Message));
                }
            }
        }
        // What has begun to end waits for nothing new.
        let waits = alive.phase == Phase::Active && !self.is_left(key) && !element::transaction::is_cancelled(alive);
        let is_start = |event: &ElementIx| matches!(target.element(*event).kind, Kind::StartEvent(_));
        let interrupted = is_interrupted(self, key) || self.is_ending(key);
        let opened = there.into_iter().filter(|event| waits && !taken.contains(event) && !(interrupted && is_start(event)));
        Ok(Catches { element: key, kept, closed, opened: opened.collect(), names })
    }

    /// What events with several definitions have seen of them is kept by their ids: it is taken away, to be kept by those they become.
    fn take_parts(&mut self, map: &Map) -> Vec<(ElementKey, ElementIx, Document)> {
        let process = self.process;
        let mut seen = Vec::new();
        let keys: Vec<_> = self.instance.elements.keys().copied().collect();
        for key in keys {
            let ix = self.instance.elements[&key].element;
            let all = events(process, ix, self.instance.is_inner(key)).into_iter().chain([ix]);
            for event in all.filter(|event| map.elements.contains_key(event)) {
                let taken = element::multiple_event::take(self, key, event);
                seen.extend(taken.into_iter().filter_map(|(part, came)| Some((key, *map.elements.get(&part)?, came))));
            }
        }
        seen
    }

    /// What an event with several definitions has seen of them is nothing to one that begins to wait.
    fn forget_part(&mut self, key: ElementKey, wait: WaitKey) {
        let caught = self.instance.elements[&key].wait(wait).and_then(|wait| wait.catch);
        if let Some(event) = caught.map(|event| self.process.event(event)) {
            element::multiple_event::forget(self, key, event);
        }
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

/// The events that an element instance waits for besides its own, in the order in which they begin to wait.
fn events(process: &Process, ix: ElementIx, is_inner: bool) -> Vec<ElementIx> {
    let element = process.element(ix);
    if let Kind::EventGateway = element.kind {
        return element.outgoing.iter().map(|flow| process.flow(*flow).target).collect();
    }
    let (boundaries, starts) = repeat::catching_of(process, ix, is_inner);
    boundaries.iter().rev().chain(starts).copied().collect()
}

impl Instance {
    /// Gives what it takes to go back.
    pub(crate) fn migrated(&mut self, migrated: &Migrated) -> Migrated {
        let Migrated { definition, elements, catches, tokens, compensations } = migrated;
        let definition = std::mem::replace(&mut self.definition, *definition);
        self.forget_places();
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
