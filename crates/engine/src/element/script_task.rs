//! A script the engine evaluates itself; its result becomes a variable.

use model::Script;

use crate::expression::Trouble;
use crate::step::Run;
use crate::{ElementKey, Event, IncidentKind};

pub(crate) fn enter(run: &mut Run<'_>, key: ElementKey, script: &Script) -> Result<(), Trouble> {
    let value = run.evaluate(key, &script.expression, IncidentKind::ExtractValue)?;
    run.emit(Event::Activated { key });
    run.finish_with(key, &vec![(script.result.clone(), value.to_json().into())]);
    Ok(())
}
