//! Compensation: a scope keeps what completed in it and can be undone; an event that compensates starts the handlers of all that, the last
//! first, and waits for them. The handlers live inside the event's own instance, so it is done when it is empty.

use model::{Compensate, Compensated, ElementIx, Kind, Process};

use crate::element::{compensation_sub_process, pass};
use crate::step::Run;
use crate::{Compensation, CompensationKey, ElementKey, Event};

/// An event undoes what has completed beside it.
pub(crate) fn throw(run: &mut Run<'_>, key: ElementKey, compensate: &Compensate) {
    let process = run.process;
    let mut meant = Vec::new();
    for scope in scopes(run, key) {
        let kept = run.instance.elements[&scope].compensations();
        meant.extend(kept.filter(|kept| is_meant(process, kept.activity, compensate)).map(|kept| (scope, kept)));
    }
    if meant.is_empty() {
        return pass::enter(run, key);
    }
    meant.sort_by_key(|(_, kept)| std::cmp::Reverse(kept.key));
    run.emit(Event::Activated { key });
    for (scope, compensation) in meant {
        // What undoes a whole sub-process may have taken it over meanwhile.
        let is_kept = run.instance.elements[&scope].compensations().any(|kept| kept == compensation);
        if is_kept && !compensation_sub_process::covers(run, scope, compensation) {
            undo(run, scope, compensation, key);
        }
    }
}

/// What a scope has kept is undone: the handler runs inside another.
pub(crate) fn undo(run: &mut Run<'_>, kept_by: ElementKey, compensation: Compensation, inside: ElementKey) {
    if let Some(start) = compensation_sub_process::start_of(run.process, compensation.activity) {
        return compensation_sub_process::undo(run, kept_by, compensation, (start, inside));
    }
    run.emit(Event::CompensationTaken { key: compensation.key, scope: kept_by });
    let seen = run.take_seen(kept_by, compensation.key);
    let Some((boundary, compensated)) = boundary(run.process, compensation.activity) else { return };
    let event = ElementKey(run.keys.take());
    run.emit(Event::Entered { key: event, element: boundary, scope: inside });
    run.emit(Event::Activated { key: event });
    run.emit(Event::Left { key: event });
    let handler = ElementKey(run.keys.take());
    run.come_in(handler, compensated.handler, inside);
    for (name, value) in &seen {
        run.set_local(handler, name, value);
    }
    run.activate_later(handler);
}

/// The scope of the event. Inside an event sub-process also the one around it: what is undone is mostly there. An ad-hoc sub-process is one
/// scope with all its runs.
fn scopes(run: &Run<'_>, key: ElementKey) -> Vec<ElementKey> {
    let first = run.instance.elements[&key].scope;
    let outward = std::iter::successors(Some(first), |scope| match run.element_of(*scope).kind {
        Kind::EventSubProcess(_) | Kind::AdHocRun => Some(run.instance.elements[scope].scope),
        _ => None,
    });
    let mut scopes: Vec<_> = outward.collect();
    if let Some(last) = scopes.last().filter(|last| matches!(run.element_of(**last).kind, Kind::AdHoc(_))) {
        let runs = run.instance.children(*last).filter(|inner| matches!(run.element_of(*inner).kind, Kind::AdHocRun));
        let others: Vec<_> = runs.filter(|inner| !scopes.contains(inner)).collect();
        scopes.extend(others);
    }
    scopes
}

/// All in the scope, or one activity with what completed inside it.
fn is_meant(process: &Process, activity: ElementIx, compensate: &Compensate) -> bool {
    let Some(wanted) = compensate.activity else { return true };
    let outward = std::iter::successors(Some(activity), |ix| Some(process.element(*ix).scope).filter(|scope| scope != ix));
    outward.into_iter().any(|ix| ix == wanted)
}

pub(crate) fn boundary(process: &Process, activity: ElementIx) -> Option<(ElementIx, Compensated)> {
    process.element(activity).boundaries.iter().find_map(|ix| match process.element(*ix).kind {
        Kind::CompensationBoundary(compensated) => Some((*ix, compensated)),
        _ => None,
    })
}

pub(crate) fn can_be_undone(process: &Process, activity: ElementIx) -> bool {
    boundary(process, activity).is_some() || compensation_sub_process::start_of(process, activity).is_some()
}

/// An element instance is about to leave: its scope remembers that it can be undone, and takes over what it remembers itself.
pub(crate) fn hand_on(run: &mut Run<'_>, key: ElementKey) {
    let instance = &run.instance.elements[&key];
    let (activity, scope) = (instance.element, instance.scope);
    if key == scope {
        return forget(run, key);
    }
    let whole = can_be_undone(run.process, activity) && !run.instance.is_inner(key);
    if !whole && instance.compensations().next().is_none() {
        return;
    }
    // What undoes something is not undone.
    if is_handler(run.process, activity) {
        return forget(run, key);
    }
    let undone_inside = compensation_sub_process::start_of(run.process, activity).is_some();
    if undone_inside {
        compensation_sub_process::gather(run, key);
    }
    if whole {
        let compensation = Compensation { key: CompensationKey(run.keys.take()), activity };
        run.emit(Event::CompensationKept { scope, compensation });
        if undone_inside {
            let seen = run.instance.elements[&key].variables.document();
            run.keep_seen(scope, compensation.key, &seen);
        }
    }
    run.hand_on_compensations(key, scope);
}

fn is_handler(process: &Process, activity: ElementIx) -> bool {
    let undone_by = |kind: &Kind| matches!(kind, Kind::CompensationBoundary(compensated) if compensated.handler == activity);
    compensation_sub_process::is_one(process, activity) || process.elements.iter().any(|element| undone_by(&element.kind))
}

/// A scope ends, and nobody will undo what completed in it.
pub(crate) fn forget(run: &mut Run<'_>, scope: ElementKey) {
    let kept: Vec<_> = run.instance.elements[&scope].compensations().map(|kept| kept.key).collect();
    for key in kept {
        run.emit(Event::CompensationTaken { key, scope });
    }
}
