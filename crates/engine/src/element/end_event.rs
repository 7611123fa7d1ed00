//! End events: none, terminate, error, compensation.

use model::EndEvent;

use crate::element::{compensation, error};
use crate::expression::Trouble;
use crate::step::Run;
use crate::{ElementKey, Event};

pub(crate) fn enter(run: &mut Run<'_>, key: ElementKey, end: &EndEvent) -> Result<(), Trouble> {
    match end {
        EndEvent::None => {}
        EndEvent::Terminate => {
            let scope = run.instance.elements[&key].scope;
            run.drop_inside(scope, Some(key));
        }
        EndEvent::Compensation(compensate) => {
            compensation::throw(run, key, compensate);
            return Ok(());
        }
        EndEvent::Error { code } => {
            let code = run.text(key, code, "the error code")?;
            let catcher = error::catcher(run.process, run.instance, key, &code);
            let catcher = catcher.ok_or_else(|| error::uncaught(&code, ""))?;
            run.emit(Event::Activated { key });
            error::catch(run, catcher, &Vec::new());
            return Ok(());
        }
    }
    run.emit(Event::Activated { key });
    run.finish_later(key);
    Ok(())
}
