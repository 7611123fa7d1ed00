//! The process itself and embedded sub-processes: what lies inside begins at the none start event; empty again, they are done.

use model::Scope;

use crate::step::Run;
use crate::{ElementKey, Event};

pub(crate) fn enter(run: &mut Run<'_>, key: ElementKey, scope: &Scope) {
    run.emit(Event::Activated { key });
    let start = scope.start.expect("a scope that can be entered this way has a none start event");
    run.schedule(start, key);
}
