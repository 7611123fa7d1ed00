//! Event sub-processes: their start events wait while the scope around them is active; one that interrupts is all that is left of it.

use model::{Catch, ElementIx, Kind};

use crate::linger::Then;
use crate::step::Run;
use crate::{Document, ElementKey, Event, WaitEnd};

/// The start event of one inside this scope has caught something.
pub(crate) fn start(run: &mut Run<'_>, key: ElementKey, event: ElementIx, catch: &Catch, variables: &Document) {
    if catch.interrupting {
        run.close_event_starts(key);
        if !run.drop_inside(key, None) {
            return run.go_then(key, &Then::Catch(event, variables.clone()));
        }
    }
    begin(run, key, event, variables);
}

/// What it interrupts has gone.
pub(crate) fn begin(run: &mut Run<'_>, key: ElementKey, event: ElementIx, variables: &Document) {
    let process = run.process;
    let (inner, start) = (ElementKey(run.keys.take()), ElementKey(run.keys.take()));
    let maps = process.element(event).outputs.is_some();
    if !maps {
        run.propagate(key, variables);
    }
    let sub_process = process.element(event).scope;
    run.emit(Event::Entered { key: inner, element: sub_process, scope: key });
    if run.has_start_listeners(inner) {
        let nothing = Document::new();
        run.keep_trigger(inner, event, if maps { variables } else { &nothing });
        return run.activate(inner);
    }
    if let Err(trouble) = run.activated(inner) {
        return run.raise(inner, None, trouble);
    }
    run.emit(Event::Entered { key: start, element: event, scope: inner });
    if maps {
        variables.iter().for_each(|(name, value)| run.set_local(start, name, value));
    }
    run.activate(start);
}

impl Run<'_> {
    /// The event sub-processes of a scope wait no longer: one of them has interrupted it, or it is about to be left.
    pub(crate) fn close_event_starts(&mut self, key: ElementKey) {
        let process = self.process;
        let waits = self.instance.elements[&key].waits.iter();
        let is_start = |event: ElementIx| matches!(process.element(process.event(event)).kind, Kind::StartEvent(_));
        let waits: Vec<_> = waits.filter(|wait| wait.catch.is_some_and(is_start)).map(|wait| wait.key).collect();
        for wait in waits {
            self.close(key, wait, WaitEnd::Cancelled);
        }
    }
}
