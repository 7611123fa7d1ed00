//! Boundary events: they wait while the activity they sit on is active, and go on from there when they catch something. Whatever sits on an
//! element or inside it begins and ends to wait here.

use model::{Catch, ElementIx, Kind, Trigger};

use crate::element::catch_event::waits_for;
use crate::expression::Trouble;
use crate::linger::Then;
use crate::repeat;
use crate::step::Run;
use crate::{Document, ElementKey, Event, WaitEnd};

impl Run<'_> {
    /// The element is active from now on, and whatever sits on it or inside it waits. All of it, or none.
    pub(crate) fn activated(&mut self, key: ElementKey) -> Result<(), Trouble> {
        let process = self.process;
        let alive = &self.instance.elements[&key];
        let scope = alive.scope;
        let (boundaries, starts) = repeat::catching(process, self.instance, key);
        let mut waits = Vec::new();
        // As outgoing flows are: the last one in the document first.
        for event in boundaries.iter().rev().chain(starts) {
            let Some(trigger) = process.catch(*event) else { continue };
            let on_boundary = matches!(process.element(*event).kind, Kind::BoundaryEvent(_));
            let keys_seen_from = if on_boundary { scope } else { key };
            waits.extend(waits_for(self, (key, keys_seen_from), *event, trigger)?);
        }
        self.emit(Event::Activated { key });
        for (event, on) in waits {
            self.open(key, Some(event), on);
        }
        Ok(())
    }

    /// What sits on an element or inside it waits no longer: the element is about to be left.
    pub(crate) fn close_catches(&mut self, key: ElementKey) {
        let waits = self.instance.elements[&key].waits.iter().filter(|wait| wait.catch.is_some());
        let waits: Vec<_> = waits.map(|wait| wait.key).collect();
        for wait in waits {
            self.close(key, wait, WaitEnd::Cancelled);
        }
    }

    /// An event on the boundary of an element, or of an event sub-process inside it, has caught something.
    pub(crate) fn caught(&mut self, key: ElementKey, (event, came): (ElementIx, &Trigger), catch: &Catch, variables: &Document) {
        let Kind::BoundaryEvent(_) = self.process.element(event).kind else {
            return super::event_sub_process::start(self, key, event, catch, variables);
        };
        let scope = self.instance.elements[&key].scope;
        if catch.interrupting && !self.drop_element(key) {
            return self.go_then(key, &Then::Catch(event, variables.clone()));
        }
        self.enter_boundary(scope, (event, came), variables);
    }

    pub(crate) fn enter_boundary(&mut self, scope: ElementKey, (event, came): (ElementIx, &Trigger), variables: &Document) {
        let entered = ElementKey(self.keys.take());
        self.emit(Event::Entered { key: entered, element: event, scope });
        self.take_caught(entered, came, variables);
        self.activate(entered);
    }

    /// The variables of what was caught stay with the event; those of messages and signals reach its scope as well, unless it maps them.
    fn take_caught(&mut self, key: ElementKey, came: &Trigger, variables: &Document) {
        for (name, value) in variables {
            self.set_local(key, name, value);
        }
        let stays = match came {
            Trigger::Error(_) | Trigger::Escalation(_) | Trigger::Cancel | Trigger::Compensation => true,
            Trigger::Timer(_) | Trigger::Message(_) | Trigger::Signal { .. } | Trigger::Condition(_) => false,
            Trigger::Several(_) => false,
        };
        if !stays && self.element_of(key).outputs.is_none() {
            let scope = self.instance.elements[&key].scope;
            self.propagate(scope, variables);
        }
    }
}
