//! What throw events, end events and send tasks throw: escalations, signals, messages, compensation.

use model::{Publish, Text, Throw};

use crate::element::{compensation, error};
use crate::expression::Trouble;
use crate::step::Run;
use crate::{ElementKey, Event, MessageThrown, Thrown, ThrownOut};

pub(crate) fn enter(run: &mut Run<'_>, key: ElementKey, throw: &Throw) -> Result<(), Trouble> {
    match throw {
        Throw::Escalation { code } => return escalate(run, key, code),
        Throw::Compensation(compensate) => {
            compensation::throw(run, key, compensate);
            return Ok(());
        }
        Throw::Signal { name } => {
            let name = run.text(key, name, "the signal name")?;
            run.emit(Event::Activated { key });
            let variables = carried(run, key);
            run.emit(Event::SignalThrown { element: key, name, variables });
        }
        Throw::Message(publish) => {
            let thrown = message(run, key, publish)?;
            run.emit(Event::Activated { key });
            run.emit(Event::MessageThrown(thrown));
        }
    }
    run.finish_later(key);
    Ok(())
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
    let alive = &run.instance.elements[&key];
    alive.variables.iter().map(|variable| (variable.name.clone(), variable.value.clone())).collect()
}

fn message(run: &Run<'_>, key: ElementKey, publish: &Publish) -> Result<MessageThrown, Trouble> {
    let name = run.text(key, &publish.name, "the message name")?;
    let correlation_key = match &publish.correlation_key {
        Text::Fixed(text) => text.clone(),
        Text::Computed(expression) => super::catch::correlation_key(run, key, expression)?,
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
    match super::catch::timer_on(run, key, &timer)? {
        crate::On::Timer { at, .. } => Ok(at.at - run.time()),
        _ => Ok(0),
    }
}

/// Not caught by anything here, those that called this instance are asked; not caught by anybody, it is as if nothing was thrown.
fn escalate(run: &mut Run<'_>, key: ElementKey, code: &Text) -> Result<(), Trouble> {
    let code = run.text(key, code, "the escalation code")?;
    match error::catcher(run.process, run.instance, key, Thrown::Escalation, &code) {
        Some(catcher) => {
            run.emit(Event::Activated { key });
            let interrupts = catcher.interrupts();
            error::catch(run, catcher, &Vec::new());
            if !interrupts {
                run.finish_later(key);
            }
        }
        None if run.instance.parent.is_some() => {
            let what = Thrown::Escalation;
            let (message, variables) = ("".into(), Vec::new());
            run.emit(Event::ThrownOut(ThrownOut { element: key, job: None, what, code, message, variables }));
        }
        None => {
            run.emit(Event::Activated { key });
            run.finish_later(key);
        }
    }
    Ok(())
}
