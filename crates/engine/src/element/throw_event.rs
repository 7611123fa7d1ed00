//! What throw events, end events and send tasks throw.

use std::sync::Arc;

use model::{Publish, Text, Throw};

use crate::element::{catch_event, compensation, escalation};
use crate::expression::Trouble;
use crate::step::Run;
use crate::variables::KEPT;
use crate::{ElementKey, Event, MessageThrown};

pub(crate) fn enter(run: &mut Run<'_>, key: ElementKey, throw: &Throw) -> Result<(), Trouble> {
    match throw {
        Throw::Escalation { code } => return escalation::throw(run, key, code),
        Throw::Compensation(compensate) => {
            compensation::throw(run, key, compensate);
            return Ok(());
        }
        Throw::Signal { .. } | Throw::Message(_) => {
            let thrown = broadcast(run, key, throw)?;
            run.emit(Event::Activated { key });
            thrown.into_iter().for_each(|thrown| run.emit(thrown));
        }
        Throw::Several(several) => match several.split_last() {
            Some((last @ (Throw::Escalation { .. } | Throw::Compensation(_)), first)) => {
                before(run, key, first)?;
                return enter(run, key, last);
            }
            Some(_) | None => {
                all(run, key, several)?;
                run.emit(Event::Activated { key });
            }
        },
    }
    run.finish_later(key);
    Ok(())
}

/// Throws signals and messages before something else happens to the event. Not again, should that be tried again.
pub(crate) fn before(run: &mut Run<'_>, key: ElementKey, several: &[Throw]) -> Result<(), Trouble> {
    let done: Arc<str> = format!("{KEPT}thrown").into();
    if run.instance.elements[&key].variables.get(&done).is_some() {
        return Ok(());
    }
    all(run, key, several)?;
    run.set_local(key, &done, &"true".into());
    Ok(())
}

/// All of them, or none.
fn all(run: &mut Run<'_>, key: ElementKey, several: &[Throw]) -> Result<(), Trouble> {
    let mut thrown = Vec::with_capacity(several.len());
    for throw in several {
        thrown.extend(broadcast(run, key, throw)?);
    }
    thrown.into_iter().for_each(|thrown| run.emit(thrown));
    Ok(())
}

/// A signal or a message goes out.
fn broadcast(run: &mut Run<'_>, key: ElementKey, throw: &Throw) -> Result<Option<Event>, Trouble> {
    match throw {
        Throw::Signal { name } => {
            let name = run.text(key, name, "the signal name")?;
            let (signal, variables) = (run.keys.take(), carried(run, key));
            Ok(Some(Event::SignalThrown { key: signal, element: key, name, variables }))
        }
        Throw::Message(publish) => Ok(Some(Event::MessageThrown(message(run, key, publish)?))),
        Throw::Escalation { .. } | Throw::Compensation(_) | Throw::Several(_) => Ok(None),
    }
}

/// A send task that publishes its message itself.
pub(crate) fn send(run: &mut Run<'_>, key: ElementKey, publish: &Publish) -> Result<(), Trouble> {
    let thrown = message(run, key, publish)?;
    run.emit(Event::Activated { key });
    run.emit(Event::MessageThrown(thrown));
    run.finish_later(key);
    Ok(())
}

/// What was mapped for it goes with it.
fn carried(run: &Run<'_>, key: ElementKey) -> crate::Document {
    run.instance.elements[&key].variables.document()
}

fn message(run: &Run<'_>, key: ElementKey, publish: &Publish) -> Result<MessageThrown, Trouble> {
    let name = run.text(key, &publish.name, "the message name")?;
    let correlation_key = match &publish.correlation_key {
        Text::Fixed(text) => text.clone(),
        Text::Computed(expression) => catch_event::correlation_key(run, key, expression)?,
    };
    let id = match &publish.id {
        Some(id) => run.text(key, id, "the message id")?,
        None => "".into(),
    };
    let time_to_live = match &publish.time_to_live {
        Some(text) => time_to_live(run, key, text)?,
        None => 0,
    };
    Ok(MessageThrown { element: key, name, correlation_key, id, time_to_live, variables: carried(run, key) })
}

fn time_to_live(run: &Run<'_>, key: ElementKey, text: &Text) -> Result<i64, Trouble> {
    let timer = model::TimerTrigger { kind: model::TimerKind::Duration, text: text.clone() };
    match catch_event::timer_on(run, key, &timer)? {
        crate::On::Timer { at, .. } => Ok(at.at - run.time()),
        _ => Ok(0),
    }
}
