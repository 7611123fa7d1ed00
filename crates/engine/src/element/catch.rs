//! Events that wait: intermediate catch events and receive tasks; boundary events and event sub-processes of the elements that are
//! alive; and what happens when what they wait for comes.

use std::sync::Arc;

use feel::{Expression, Value};
use model::{Catch, ElementIx, Kind, Message, Text, TimerKind, TimerTrigger, Trigger};

use crate::element::condition;
use crate::expression::{Trouble, wrong_kind};
use crate::step::Run;
use crate::{Document, ElementKey, Event, IncidentKind, On, Rejected, Triggered, WaitEnd, WaitKind};

/// A name or a key goes into indexes of the stores, whose entries are bounded.
const NAME_BYTES_MAX: usize = 1_000;

/// An intermediate catch event.
pub(crate) fn enter(run: &mut Run<'_>, key: ElementKey, trigger: &Trigger) -> Result<(), Trouble> {
    let on = waits_on(run, (key, key), trigger)?;
    run.emit(Event::Activated { key });
    if let Some(on) = on {
        run.open(key, None, on);
    }
    Ok(())
}

pub(crate) fn receive(run: &mut Run<'_>, key: ElementKey, message: &Message) -> Result<(), Trouble> {
    let on = message_on(run, (key, key), message)?;
    run.activated(key)?;
    run.open(key, None, on);
    Ok(())
}

impl Run<'_> {
    /// The element is active from now on, and whatever sits on it or inside it waits. All of it, or none.
    pub(crate) fn activated(&mut self, key: ElementKey) -> Result<(), Trouble> {
        let process = self.process;
        let alive = &self.instance.elements[&key];
        let (element, scope) = (process.element(alive.element), alive.scope);
        let starts = process.scope(alive.element).map(|scope| &*scope.event_starts).unwrap_or_default();
        let mut waits = Vec::new();
        for event in element.boundaries.iter().chain(starts) {
            let Some(trigger) = process.catch(*event) else { continue };
            let on_boundary = matches!(process.element(*event).kind, Kind::BoundaryEvent(_));
            let keys_seen_from = if on_boundary { scope } else { key };
            waits.extend(waits_on(self, (key, keys_seen_from), trigger)?.map(|on| (*event, on)));
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

    /// What was waited for has come.
    pub(crate) fn trigger(&mut self, triggered: &Triggered) -> Result<(), Rejected> {
        let Triggered { element: key, wait, variables, next } = triggered;
        let alive = self.instance.elements.get(key).ok_or(Rejected::NoSuchWait)?;
        let open = alive.wait(*wait).ok_or(Rejected::NoSuchWait)?;
        match open.kind {
            WaitKind::Timer | WaitKind::Message | WaitKind::Signal | WaitKind::Condition | WaitKind::UserTask => {}
            WaitKind::Job | WaitKind::Turn(_) | WaitKind::Child { .. } => return Err(Rejected::NoSuchWait),
        }
        let is_timer = open.kind == WaitKind::Timer;
        let Some(event) = open.catch else {
            self.close(*key, *wait, WaitEnd::Completed);
            self.take_result(*key, variables);
            self.finish_later(*key);
            return Ok(());
        };
        if let Kind::EventGateway = self.element_of(*key).kind {
            self.close(*key, *wait, WaitEnd::Completed);
            super::event_gateway::leave(self, *key, event, variables);
            return Ok(());
        }
        let process = self.process;
        let (Kind::BoundaryEvent(catch) | Kind::StartEvent(Some(catch))) = &process.element(event).kind else {
            return Err(Rejected::NoSuchWait);
        };
        if catch.interrupting || is_timer {
            self.close(*key, *wait, WaitEnd::Completed);
        }
        if let (false, Some(next)) = (catch.interrupting, next) {
            self.open(*key, Some(event), next.clone());
        }
        self.caught(*key, event, catch, variables);
        Ok(())
    }

    /// An event on the boundary of an element, or of an event sub-process inside it, has caught something.
    pub(crate) fn caught(&mut self, key: ElementKey, event: ElementIx, catch: &Catch, variables: &Document) {
        let process = self.process;
        if let Kind::BoundaryEvent(_) = process.element(event).kind {
            let scope = self.instance.elements[&key].scope;
            let entered = ElementKey(self.keys.take());
            if catch.interrupting {
                self.drop_element(key);
            }
            self.emit(Event::Entered { key: entered, element: event, scope });
            self.take_caught(entered, catch, variables);
            return self.activate(entered);
        }
        let (inner, start) = (ElementKey(self.keys.take()), ElementKey(self.keys.take()));
        if catch.interrupting {
            self.close_event_starts(key);
            self.drop_inside(key, None);
        }
        let maps = process.element(event).outputs.is_some();
        if !maps {
            self.propagate(key, variables);
        }
        let sub_process = process.element(event).scope;
        self.emit(Event::Entered { key: inner, element: sub_process, scope: key });
        if let Err(trouble) = self.activated(inner) {
            return self.raise(inner, None, trouble);
        }
        self.emit(Event::Entered { key: start, element: event, scope: inner });
        if maps {
            variables.iter().for_each(|(name, value)| self.set_local(start, name, value));
        }
        self.activate(start);
    }

    /// The event sub-processes of a scope wait no longer: one of them has interrupted it, or it is about to be left.
    pub(crate) fn close_event_starts(&mut self, key: ElementKey) {
        let process = self.process;
        let waits = self.instance.elements[&key].waits.iter();
        let is_start = |event: ElementIx| matches!(process.element(event).kind, Kind::StartEvent(_));
        let waits: Vec<_> = waits.filter(|wait| wait.catch.is_some_and(is_start)).map(|wait| wait.key).collect();
        for wait in waits {
            self.close(key, wait, WaitEnd::Cancelled);
        }
    }

    /// The variables of what was caught stay with the event; those of messages and signals reach its scope as well, unless it maps them.
    pub(crate) fn take_caught(&mut self, key: ElementKey, catch: &Catch, variables: &Document) {
        for (name, value) in variables {
            self.set_local(key, name, value);
        }
        let stays = match catch.trigger {
            Trigger::Error(_) | Trigger::Escalation(_) => true,
            Trigger::Timer(_) | Trigger::Message(_) | Trigger::Signal { .. } | Trigger::Condition(_) => false,
        };
        if !stays && self.element_of(key).outputs.is_none() {
            let scope = self.instance.elements[&key].scope;
            self.propagate(scope, variables);
        }
    }
}

/// What a trigger waits for, evaluated as seen from an element; correlation keys as seen from the second.
pub(crate) fn waits_on(run: &Run<'_>, seen_from: (ElementKey, ElementKey), trigger: &Trigger) -> Result<Option<On>, Trouble> {
    Ok(match trigger {
        Trigger::Timer(timer) => Some(timer_on(run, seen_from.0, timer)?),
        Trigger::Message(message) => Some(message_on(run, seen_from, message)?),
        Trigger::Signal { name } => {
            Some(On::Signal { name: bounded(run.text(seen_from.0, name, "the signal name")?, "signal name")? })
        }
        Trigger::Condition(_) => Some(On::Condition),
        Trigger::Error(_) | Trigger::Escalation(_) => None,
    })
}

pub(crate) fn message_on(run: &Run<'_>, seen_from: (ElementKey, ElementKey), message: &Message) -> Result<On, Trouble> {
    let name = bounded(run.text(seen_from.0, &message.name, "the message name")?, "message name")?;
    let correlation_key = match &message.correlation_key {
        Some(expression) => correlation_key(run, seen_from.1, expression)?,
        None => "".into(),
    };
    Ok(On::Message { name, correlation_key: bounded(correlation_key, "correlation key")? })
}

/// A string, or a number without its fraction.
pub(crate) fn correlation_key(run: &Run<'_>, scope: ElementKey, expression: &Expression) -> Result<Arc<str>, Trouble> {
    let value = run.evaluate(scope, expression, IncidentKind::ExtractValue)?;
    match &value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.truncate_saturating().to_string().into()),
        _ => Err(wrong_kind(expression, "the correlation key", "a string or a number", &value)),
    }
}

fn bounded(text: Arc<str>, what: &str) -> Result<Arc<str>, Trouble> {
    if text.len() <= NAME_BYTES_MAX {
        return Ok(text);
    }
    let message = format!("the {what} has {} bytes; at most {NAME_BYTES_MAX} are allowed", text.len());
    Err(Trouble { kind: IncidentKind::ExtractValue, message })
}

pub(crate) fn timer_on(run: &Run<'_>, scope: ElementKey, timer: &TimerTrigger) -> Result<On, Trouble> {
    let text = match &timer.text {
        Text::Fixed(text) => text.clone(),
        Text::Computed(expression) => timer_text(run, scope, timer.kind, expression)?,
    };
    let first = super::start::first(timer.kind, &text, run.time());
    let first = first.map_err(|error| {
        let message = format!("the timer '{}' cannot be used: {error}", excerpt(&text));
        Trouble { kind: IncidentKind::ExtractValue, message }
    })?;
    Ok(On::Timer { kind: timer.kind, text, at: first })
}

fn timer_text(run: &Run<'_>, scope: ElementKey, kind: TimerKind, expression: &Expression) -> Result<Arc<str>, Trouble> {
    let value = run.evaluate(scope, expression, IncidentKind::ExtractValue)?;
    let wanted = match kind {
        TimerKind::Date => "a date and time",
        TimerKind::Duration => "a duration",
        TimerKind::Cycle => "a cycle as a string",
    };
    match (&value, kind) {
        (Value::String(text), _) => Ok(text.clone()),
        (Value::DateTime(_), TimerKind::Date)
        | (Value::DaysTimeDuration(_) | Value::YearsMonthsDuration(_), TimerKind::Duration) => {
            Ok(value.to_json().trim_matches('"').into())
        }
        _ => Err(wrong_kind(expression, "the timer", wanted, &value)),
    }
}

fn excerpt(text: &str) -> String {
    text.chars().take(80).collect()
}

/// Looks at a condition that was just opened or whose variables changed.
pub(crate) fn examine(run: &mut Run<'_>, key: ElementKey, wait: crate::WaitKey) {
    if condition::holds(run, key, wait) {
        let triggered = Triggered { element: key, wait, variables: Vec::new(), next: None };
        run.trigger(&triggered).expect("it was looked at a moment ago");
    }
}
