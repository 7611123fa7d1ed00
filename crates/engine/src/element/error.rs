//! BPMN errors travel outwards to the nearest boundary event that catches them.

use model::{ElementIx, ErrorCatch, Kind, Process};

use crate::expression::Trouble;
use crate::step::Run;
use crate::{Document, ElementKey, IncidentKind, Instance};

/// The boundary event that catches, and the activity it interrupts.
pub(crate) struct Catcher {
    boundary: ElementIx,
    activity: ElementKey,
}

/// Looks outwards from where the error was thrown; on one activity the named code comes before the catch-all.
pub(crate) fn catcher(process: &Process, instance: &Instance, thrower: ElementKey, code: &str) -> Option<Catcher> {
    let mut activity = thrower;
    loop {
        let alive = &instance.elements[&activity];
        // Boundary events belong to the body of a repeated activity.
        let boundary = if instance.is_inner(activity) { None } else { boundary(process, alive.element, code) };
        if let Some(boundary) = boundary {
            return Some(Catcher { boundary, activity });
        }
        if alive.scope == activity {
            return None;
        }
        activity = alive.scope;
    }
}

fn boundary(process: &Process, activity: ElementIx, code: &str) -> Option<ElementIx> {
    let boundaries = process.element(activity).boundaries.iter().copied();
    let catches = |ix: ElementIx, named: bool| match &process.element(ix).kind {
        Kind::ErrorBoundary(ErrorCatch::Code(caught)) => named && &**caught == code,
        Kind::ErrorBoundary(ErrorCatch::Any) => !named,
        _ => false,
    };
    boundaries.clone().find(|ix| catches(*ix, true)).or_else(|| boundaries.clone().find(|ix| catches(*ix, false)))
}

/// Interrupts the activity and goes on from the boundary event, which keeps the error's variables to itself.
pub(crate) fn catch(run: &mut Run<'_>, catcher: Catcher, variables: &Document) {
    let scope = run.instance.elements[&catcher.activity].scope;
    let key = ElementKey(run.keys.take());
    run.drop_element(catcher.activity);
    run.emit(crate::Event::Entered { key, element: catcher.boundary, scope });
    for (name, value) in variables {
        run.set_local(key, name, value);
    }
    run.activate(key);
}

pub(crate) fn uncaught(code: &str, message: &str) -> Trouble {
    let why = if message.is_empty() { String::new() } else { format!(" ({message})") };
    let message = format!("the error with code '{code}'{why} was thrown, but nothing catches it");
    Trouble { kind: IncidentKind::UnhandledError, message }
}
