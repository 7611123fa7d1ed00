//! Escalations travel outwards like errors; one that nobody catches is as if it was never thrown.

use model::Text;

use crate::element::error;
use crate::expression::Trouble;
use crate::step::Run;
use crate::{ElementKey, Event, Thrown, ThrownOut};

/// Not caught by anything here, those that called this instance are asked; not caught by anybody, it is as if nothing was thrown.
pub(crate) fn throw(run: &mut Run<'_>, key: ElementKey, code: &Text) -> Result<(), Trouble> {
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
