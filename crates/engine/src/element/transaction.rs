//! A transaction that is cancelled: whatever runs in it is dropped, what completed in it is undone, the last first and one after the other,
//! and it is left by its cancel boundary event.

use std::sync::Arc;

use model::{Catch, ElementIx, Kind, Process, Trigger};

use crate::element::compensation;
use crate::linger::Then;
use crate::step::Run;
use crate::variables::KEPT;
use crate::{ElementInstance, ElementKey, Event, WaitEnd};

/// A cancel end event was reached.
pub(crate) fn cancel(run: &mut Run<'_>, end: ElementKey) {
    run.emit(Event::Activated { key: end });
    run.emit(Event::Leaving { key: end });
    let Some(key) = around(run, end) else {
        // Compiled processes have none such outside a transaction.
        return run.finish_later(end);
    };
    run.emit(Event::Left { key: end });
    take_over(run, key);
    let waits: Vec<_> = run.instance.elements[&key].waits.iter().map(|wait| wait.key).collect();
    for wait in waits {
        run.close(key, wait, WaitEnd::Cancelled);
    }
    let all_gone = run.drop_inside(key, None);
    run.set_local(key, &cancelled(), &"true".into());
    match all_gone {
        true => run.finish_later(key),
        false => run.go_then(key, &Then::Finish),
    }
}

/// The transaction an element instance lies in.
fn around(run: &Run<'_>, inner: ElementKey) -> Option<ElementKey> {
    let mut key = inner;
    loop {
        let scope = run.instance.elements[&key].scope;
        if scope == key {
            return None;
        }
        if let Kind::Transaction(_) = run.element_of(scope).kind {
            return Some(scope);
        }
        key = scope;
    }
}

/// What completed inside scopes that are dropped now is undone with the rest.
fn take_over(run: &mut Run<'_>, scope: ElementKey) {
    let children: Vec<_> = run.instance.children(scope).collect();
    for child in children {
        take_over(run, child);
        run.hand_on_compensations(child, scope);
    }
}

pub(crate) fn is_cancelled(transaction: &ElementInstance) -> bool {
    transaction.variables.get(&cancelled()).is_some()
}

/// Nothing runs in a transaction that was cancelled: the next handler does, or it is left.
pub(crate) fn undo_next(run: &mut Run<'_>, key: ElementKey) {
    if let Some(last) = run.instance.elements[&key].compensations().last() {
        return compensation::undo(run, key, last, key);
    }
    if let Some((event, catch)) = cancel_event(run.process, run.instance.elements[&key].element) {
        run.caught(key, (event, &catch.trigger), catch, &Vec::new());
    }
}

/// The boundary event by which a transaction that was cancelled is left.
pub(crate) fn cancel_event(process: &Process, transaction: ElementIx) -> Option<(ElementIx, &Catch)> {
    process.element(transaction).boundaries.iter().find_map(|event| match &process.element(*event).kind {
        Kind::BoundaryEvent(catch) if matches!(catch.trigger, Trigger::Cancel) => Some((*event, catch)),
        _ => None,
    })
}

/// Kept once it is cancelled.
fn cancelled() -> Arc<str> {
    format!("{KEPT}cancelled").into()
}
