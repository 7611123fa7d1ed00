//! Intermediate catch events; what a trigger waits for, and what happens when it comes, wherever it sits.

use std::sync::Arc;

use feel::{Expression, Value};
use model::{ElementIx, Kind, Message, Text, TimerKind, TimerTrigger, Trigger};

use crate::expression::{Trouble, wrong_kind};
use crate::step::Run;
use crate::{Document, ElementKey, Event, IncidentKind, On, Rejected, Triggered, WaitEnd, WaitKind};

/// A name or a key goes into indexes of the stores, whose entries are bounded.
const NAME_BYTES_MAX: usize = 1_000;

/// An intermediate catch event.
pub(crate) fn enter(run: &mut Run<'_>, key: ElementKey, trigger: &Trigger) -> Result<(), Trouble> {
    let event = run.instance.elements[&key].element;
    let waits = waits_for(run, (key, key), event, trigger)?;
    run.emit(Event::Activated { key });
    for (caught, on) in waits {
        run.open(key, (caught != event).then_some(caught), on);
    }
    Ok(())
}

impl Run<'_> {
    /// What was waited for has come.
    pub(crate) fn trigger(&mut self, triggered: &Triggered) -> Result<(), Rejected> {
        let Triggered { element: key, wait, variables, next } = triggered;
        let alive = self.instance.elements.get(key).ok_or(Rejected::NoSuchWait)?;
        let open = alive.wait(*wait).ok_or(Rejected::NoSuchWait)?;
        match open.kind {
            WaitKind::Timer | WaitKind::Message | WaitKind::Signal | WaitKind::Condition | WaitKind::UserTask => {}
            WaitKind::Job | WaitKind::Turn(_) | WaitKind::Child { .. } => return Err(Rejected::NoSuchWait),
        }
        if open.kind == WaitKind::UserTask && self.listener_of(*key).is_some() {
            return Err(Rejected::Listening);
        }
        let is_timer = open.kind == WaitKind::Timer;
        let Some(caught) = open.catch else {
            self.close(*key, *wait, WaitEnd::Completed);
            self.finish_with(*key, variables);
            return Ok(());
        };
        let event = self.process.event(caught);
        let beside = match &self.process.element(event).kind {
            Kind::BoundaryEvent(catch) | Kind::StartEvent(Some(catch)) => !catch.interrupting,
            _ => false,
        };
        if !beside || is_timer {
            self.close(*key, *wait, WaitEnd::Completed);
        }
        if let (true, Some(next)) = (beside, next) {
            self.open(*key, Some(caught), next.clone());
        }
        if let Some(variables) = super::multiple_event::complete(self, *key, caught, variables) {
            self.event_came(*key, caught, &variables);
        }
        Ok(())
    }

    /// An event has all it needs.
    fn event_came(&mut self, key: ElementKey, caught: ElementIx, variables: &Document) {
        let process = self.process;
        let event = process.event(caught);
        match (&self.element_of(key).kind, &process.element(event).kind) {
            (Kind::EventGateway, _) => super::event_gateway::leave(self, key, event, variables),
            (_, Kind::BoundaryEvent(catch) | Kind::StartEvent(Some(catch))) => {
                let came = process.catch(caught).unwrap_or(&catch.trigger);
                self.caught(key, (event, came), catch, variables);
            }
            // An intermediate catch event with several definitions.
            _ => {
                self.close_catches(key);
                self.finish_with(key, variables);
            }
        }
    }
}

/// What an event waits for, each with the event it triggers or the part of it.
pub(crate) fn waits_for(
    run: &Run<'_>,
    seen_from: (ElementKey, ElementKey),
    event: ElementIx,
    trigger: &Trigger,
) -> Result<Vec<(ElementIx, On)>, Trouble> {
    let Trigger::Several(several) = trigger else {
        return Ok(waits_on(run, seen_from, trigger)?.map(|on| (event, on)).into_iter().collect());
    };
    let mut waits = Vec::with_capacity(several.parts.len());
    for part in &several.parts {
        let Some(trigger) = run.process.catch(*part) else { continue };
        waits.extend(waits_on(run, seen_from, trigger)?.map(|on| (*part, on)));
    }
    Ok(waits)
}

/// What a trigger waits for, evaluated as seen from an element; correlation keys as seen from the second.
fn waits_on(run: &Run<'_>, seen_from: (ElementKey, ElementKey), trigger: &Trigger) -> Result<Option<On>, Trouble> {
    Ok(match trigger {
        Trigger::Timer(timer) => Some(timer_on(run, seen_from.0, timer)?),
        Trigger::Message(message) => Some(message_on(run, seen_from, message)?),
        Trigger::Signal { name } => {
            Some(On::Signal { name: bounded(run.text(seen_from.0, name, "the signal name")?, "signal name")? })
        }
        Trigger::Condition(_) => Some(On::Condition),
        Trigger::Error(_) | Trigger::Escalation(_) | Trigger::Cancel | Trigger::Compensation | Trigger::Several(_) => None,
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
    let first = super::start_event::first(timer.kind, &text, run.time());
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
