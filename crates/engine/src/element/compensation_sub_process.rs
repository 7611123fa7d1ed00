//! A compensation event sub-process: when the sub-process around it has completed and is undone, it runs instead of the handlers of what
//! completed inside. It may undo that itself: it keeps it meanwhile.

use model::{ElementIx, Kind, Process, Trigger};

use crate::step::Run;
use crate::{Compensation, CompensationKey, ElementKey, Event};

/// The start event of the one inside this sub-process.
pub(crate) fn start_of(process: &Process, activity: ElementIx) -> Option<ElementIx> {
    let starts = &process.scope(activity)?.event_starts;
    starts.iter().copied().find(|start| matches!(process.catch(*start), Some(Trigger::Compensation)))
}

/// Whether this is such an event sub-process.
pub(crate) fn is_one(process: &Process, element: ElementIx) -> bool {
    let Kind::EventSubProcess(scope) = &process.element(element).kind else { return false };
    scope.start.is_some_and(|start| matches!(process.catch(start), Some(Trigger::Compensation)))
}

/// Whether it completed inside a sub-process that is undone as a whole, and later.
pub(crate) fn covers(run: &Run<'_>, kept_by: ElementKey, compensation: Compensation) -> bool {
    let later = run.instance.elements[&kept_by].compensations().filter(|kept| compensation.key < kept.key);
    let process = run.process;
    later
        .into_iter()
        .any(|kept| start_of(process, kept.activity).is_some() && lies_in(process, compensation.activity, kept.activity))
}

/// A sub-process that can be undone as a whole is about to leave: what completed inside gets keys of its own without a gap, so that another
/// passage beside it does not come between.
pub(crate) fn gather(run: &mut Run<'_>, scope: ElementKey) {
    let inside: Vec<_> = run.instance.elements[&scope].compensations().collect();
    for Compensation { key, activity } in inside {
        run.emit(Event::CompensationTaken { key, scope });
        let compensation = Compensation { key: CompensationKey(run.keys.take()), activity };
        run.emit(Event::CompensationKept { scope, compensation });
        let seen = run.take_seen(scope, key);
        run.keep_seen(scope, compensation.key, &seen);
    }
}

/// It runs, and keeps what completed inside the sub-process it undoes.
pub(crate) fn undo(run: &mut Run<'_>, kept_by: ElementKey, compensation: Compensation, (start, inside): (ElementIx, ElementKey)) {
    let process = run.process;
    let own = inner(run, kept_by, compensation);
    run.emit(Event::CompensationTaken { key: compensation.key, scope: kept_by });
    let seen = run.take_seen(kept_by, compensation.key);
    let (key, begin) = (ElementKey(run.keys.take()), ElementKey(run.keys.take()));
    run.emit(Event::Entered { key, element: process.element(start).scope, scope: inside });
    for (name, value) in &seen {
        run.set_local(key, name, value);
    }
    for inner in &own {
        let seen = run.take_seen(kept_by, inner.key);
        run.keep_seen(key, inner.key, &seen);
    }
    if !own.is_empty() {
        run.emit(Event::CompensationsHandedOn { from: kept_by, to: key, compensations: own });
    }
    if run.has_start_listeners(key) {
        return run.activate_later(key);
    }
    if let Err(trouble) = run.activated(key) {
        return run.raise(key, None, trouble);
    }
    run.emit(Event::Entered { key: begin, element: start, scope: key });
    run.activate_later(begin);
}

/// What completed inside the same passage through the sub-process: after the one before.
fn inner(run: &Run<'_>, kept_by: ElementKey, whole: Compensation) -> Vec<Compensation> {
    let before = || run.instance.elements[&kept_by].compensations().take_while(|kept| kept.key < whole.key);
    let first = before().filter(|kept| kept.activity == whole.activity).last();
    let own = before().filter(|kept| first.is_none_or(|first| first.key < kept.key));
    own.filter(|kept| lies_in(run.process, kept.activity, whole.activity)).collect()
}

fn lies_in(process: &Process, inner: ElementIx, outer: ElementIx) -> bool {
    let outward = std::iter::successors(Some(inner), |ix| Some(process.element(*ix).scope).filter(|scope| scope != ix));
    outward.skip(1).any(|ix| ix == outer)
}
