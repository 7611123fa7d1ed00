//! An event-based gateway waits for the first of the events behind it, and goes on from that one.

use model::{Element, ElementIx, Kind};

use crate::element::catch_event;
use crate::expression::Trouble;
use crate::step::Run;
use crate::{Document, ElementKey, Event};

pub(crate) fn enter(run: &mut Run<'_>, key: ElementKey, gateway: &Element) -> Result<(), Trouble> {
    let process = run.process;
    let mut waits = Vec::with_capacity(gateway.outgoing.len());
    for flow in &gateway.outgoing {
        let event = process.flow(*flow).target;
        match &process.element(event).kind {
            Kind::ReceiveTask(message) => waits.push((event, catch_event::message_on(run, (key, key), message)?)),
            Kind::CatchEvent(trigger) => waits.extend(catch_event::waits_for(run, (key, key), event, trigger)?),
            _ => {}
        }
    }
    run.emit(Event::Activated { key });
    for (event, on) in waits {
        run.open(key, Some(event), on);
    }
    Ok(())
}

/// One of the events has come: the others are not waited for any more.
pub(crate) fn leave(run: &mut Run<'_>, key: ElementKey, event: ElementIx, variables: &Document) {
    run.close_catches(key);
    let (gateway, scope) = (run.instance.elements[&key].element, run.instance.elements[&key].scope);
    let entered = ElementKey(run.keys.take());
    run.emit(Event::Leaving { key });
    run.emit(Event::Left { key });
    run.emit(Event::Entered { key: entered, element: event, scope });
    // The ways behind the other events are closed: a join may have waited for them.
    run.moved_on(gateway, scope, &[]);
    for (name, value) in variables {
        run.set_local(entered, name, value);
    }
    if run.element_of(entered).outputs.is_none() {
        run.propagate(scope, variables);
    }
    run.emit(Event::Activated { key: entered });
    run.finish_later(entered);
}
