//! The process itself and embedded sub-processes: what lies inside begins at the none start event; empty again, they are done.

use model::Scope;

use crate::ElementKey;
use crate::expression::Trouble;
use crate::step::Run;

pub(crate) fn enter(run: &mut Run<'_>, key: ElementKey, scope: &Scope) -> Result<(), Trouble> {
    run.activated(key)?;
    if let Some((event, given)) = run.kept_trigger(key) {
        run.enter_start(key, event, &given);
    } else if let Some(start) = scope.start {
        run.schedule(start, key);
    }
    Ok(())
}
