//! Ending from outside what others listen to. A user task with canceling listeners goes when they were heard; so do the scopes around it that
//! end with it, and what comes after that end waits: it is kept with the outermost of them (ADR 22).

use model::{AdHoc, ElementIx, Kind, ListenerEvent};

use crate::element::listener::{document, kept, listed};
use crate::element::{compensation, directed_ad_hoc, event_sub_process};
use crate::step::Run;
use crate::{Document, ElementKey, Event, Outcome, Phase, WaitEnd, WaitKind};

/// What comes after the end.
const THEN: &str = "then";

/// What comes after an element instance, or all inside it, has gone.
pub(crate) enum Then {
    /// It goes as well.
    Go,
    /// The event on its boundary, or of an event sub-process inside it, that has caught something.
    Catch(ElementIx, Document),
    /// Its work is done.
    Finish,
}

impl Run<'_> {
    pub(crate) fn go_then(&mut self, key: ElementKey, then: &Then) {
        let written = match then {
            Then::Go => "[\"go\"]".to_owned(),
            Then::Finish => "[\"finish\"]".to_owned(),
            Then::Catch(event, given) => listed(&event.0.to_string(), given),
        };
        self.keep(key, THEN, &written);
    }

    fn then(&self, key: ElementKey) -> Option<Then> {
        let (word, given) = document(self.instance, key, THEN)?;
        Some(match &*word {
            "\"go\"" => Then::Go,
            "\"finish\"" => Then::Finish,
            event => Then::Catch(ElementIx(event.parse().ok()?), given),
        })
    }

    /// The event that has come to an element instance and waits until listeners were heard: those to its start, or to the end of what is
    /// inside it.
    pub(crate) fn next_event(&self, key: ElementKey) -> Option<ElementIx> {
        match self.then(key) {
            Some(Then::Catch(event, _)) => Some(event),
            Some(Then::Go | Then::Finish) => None,
            None if self.instance.elements[&key].phase == Phase::Entering => self.kept_trigger(key).map(|(event, _)| event),
            None => None,
        }
    }

    /// Another event comes next, with the same variables.
    pub(crate) fn comes_next(&mut self, key: ElementKey, event: ElementIx) {
        if let Some(Then::Catch(_, given)) = self.then(key) {
            self.go_then(key, &Then::Catch(event, given));
        } else if let Some((_, given)) = self.kept_trigger(key) {
            self.keep_trigger(key, event, &given);
        }
    }

    /// Whether the end of this element instance has begun and somebody is still to be heard.
    pub(crate) fn lingers(&self, key: ElementKey) -> bool {
        let alive = &self.instance.elements[&key];
        self.heard(key, ListenerEvent::Canceling).is_some() || (alive.children().next().is_some() && self.is_ending(key))
    }

    /// Whether it goes when those who listen were heard, and nothing comes after it.
    pub(crate) fn goes(&self, key: ElementKey) -> bool {
        match self.then(key) {
            Some(Then::Go) => true,
            Some(Then::Catch(..) | Then::Finish) => false,
            None => self.heard(key, ListenerEvent::Canceling).is_some(),
        }
    }

    /// Whether it goes when those who listen were heard, whatever comes after it.
    pub(crate) fn is_left(&self, key: ElementKey) -> bool {
        match self.then(key) {
            Some(Then::Catch(event, _)) => matches!(self.process.element(event).kind, Kind::BoundaryEvent(_)),
            Some(Then::Go | Then::Finish) | None => self.goes(key),
        }
    }

    /// Whether something comes next as soon as those inside it, or those who listen to its end, have gone.
    pub(crate) fn is_ending(&self, key: ElementKey) -> bool {
        kept(self.instance, key, THEN).is_some_and(|then| then != "null")
    }

    /// Whether it goes as soon as those inside it have gone.
    pub(crate) fn is_going(&self, key: ElementKey) -> bool {
        matches!(self.then(key), Some(Then::Go))
    }

    /// Whether others listen to the end of a user task that is open.
    pub(crate) fn asks_before_end(&self, key: ElementKey) -> bool {
        let element = self.element_of(key);
        if element.listeners.is_none() && self.globals.latest() == 0 {
            return false;
        }
        let version = self.pinned(key, ListenerEvent::Canceling);
        let has_listeners = 0 < self.globals.count(version, element, ListenerEvent::Canceling);
        has_listeners && self.task_wait(key).is_some()
    }

    /// It goes when those who listen were heard, itself or inside it.
    pub(crate) fn linger(&mut self, key: ElementKey, asks: bool) {
        if self.is_ending(key) || !asks {
            self.go_then(key, &Then::Go);
        }
        if asks && self.heard(key, ListenerEvent::Canceling).is_none() {
            self.forget_given(key);
            self.start_hearing(key, ListenerEvent::Canceling);
        }
    }

    /// The waits that end with an element instance from outside at once: all but the person's, where others listen to the end of that.
    pub(crate) fn close_for_end(&mut self, key: ElementKey, asks: bool) {
        if asks && self.heard(key, ListenerEvent::Canceling).is_some() {
            return;
        }
        let waits = self.instance.elements[&key].waits.iter().filter(|wait| !asks || wait.kind != WaitKind::UserTask);
        let waits: Vec<_> = waits.map(|wait| wait.key).collect();
        for wait in waits {
            self.close(key, wait, WaitEnd::Cancelled);
        }
        if let Some(incident) = self.instance.elements[&key].incident {
            self.emit(Event::IncidentResolved { key: incident, element: key });
        }
    }

    /// Everybody was heard: the user task goes, and with it what waited for that.
    pub(crate) fn let_go(&mut self, key: ElementKey) {
        let waits: Vec<_> = self.instance.elements[&key].waits.iter().map(|wait| wait.key).collect();
        for wait in waits {
            self.close(key, wait, WaitEnd::Cancelled);
        }
        self.go(key);
    }

    /// An element instance that nothing holds any more goes.
    fn go(&mut self, key: ElementKey) {
        let process = self.process;
        let then = self.then(key);
        let (place, scope) = (self.instance.elements[&key].element, self.instance.elements[&key].scope);
        compensation::forget(self, key);
        self.emit(Event::Dropped { key });
        if key == scope {
            self.emit(Event::Ended { outcome: Outcome::Terminated });
            return;
        }
        self.moved_on(place, scope, &[]);
        if let Some(Then::Catch(event, given)) = then
            && let Kind::BoundaryEvent(catch) = &process.element(event).kind
        {
            self.enter_boundary(scope, (event, &catch.trigger), &given);
        }
        self.settle(scope);
    }

    /// Something inside a scope that is not wanted any more has gone.
    fn settle(&mut self, scope: ElementKey) {
        let process = self.process;
        if self.instance.children(scope).any(|child| self.lingers(child)) {
            return;
        }
        let Some(then) = self.then(scope) else { return self.settle_alone(scope) };
        match then {
            Then::Go => self.go(scope),
            Then::Finish => {
                self.keep(scope, THEN, "null");
                self.finish_later(scope);
            }
            Then::Catch(event, given) => match &process.element(event).kind {
                Kind::StartEvent(Some(_)) => {
                    self.keep(scope, THEN, "null");
                    event_sub_process::begin(self, scope, event, &given);
                }
                _ => self.go(scope),
            },
        }
    }

    /// A scope that goes on may have waited for that alone.
    fn settle_alone(&mut self, scope: ElementKey) {
        let ends_when_empty = match &self.element_of(scope).kind {
            Kind::AdHoc(AdHoc { directed: Some(_), .. }) => directed_ad_hoc::is_over(&self.instance.elements[&scope]),
            Kind::AdHoc(ad_hoc) => ad_hoc.until.is_none(),
            _ => true,
        };
        if ends_when_empty && self.repeat(scope).is_none() {
            self.end_if_empty(scope);
        }
    }
}
