//! End events: none, terminate, error, cancel, and those that throw something.

use model::EndEvent;

use crate::element::{error, throw_event, transaction};
use crate::expression::Trouble;
use crate::step::Run;
use crate::{ElementKey, Event};

pub(crate) fn enter(run: &mut Run<'_>, key: ElementKey, end: &EndEvent) -> Result<(), Trouble> {
    match end {
        EndEvent::None => {}
        EndEvent::Terminate => {
            let scope = run.instance.elements[&key].scope;
            if !run.drop_inside(scope, Some(key)) {
                // Until those who listen were heard, nothing begins anew.
                run.close_event_starts(scope);
            }
        }
        EndEvent::Error { code } => {
            let code = run.text(key, code, "the error code")?;
            return error::throw(run, key, None, (&code, &"".into()), &Vec::new());
        }
        EndEvent::Cancel => {
            transaction::cancel(run, key);
            return Ok(());
        }
        EndEvent::After { thrown, end } => {
            throw_event::before(run, key, thrown)?;
            return enter(run, key, end);
        }
        EndEvent::Throw(thrown) => return throw_event::enter(run, key, thrown),
    }
    run.emit(Event::Activated { key });
    run.finish_later(key);
    Ok(())
}
