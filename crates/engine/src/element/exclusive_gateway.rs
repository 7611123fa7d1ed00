//! An exclusive gateway leaves by the first flow whose condition is true, or by its default flow.

use feel::Value;
use model::{Element, FlowIx};

use crate::expression::{Trouble, wrong_kind};
use crate::step::Run;
use crate::{ElementKey, Event, IncidentKind};

pub(crate) fn enter(run: &mut Run<'_>, key: ElementKey, gateway: &Element, default: Option<FlowIx>) -> Result<(), Trouble> {
    let flow = choose(run, key, gateway, default)?;
    run.emit(Event::Activated { key });
    run.leave(key, flow.as_slice());
    Ok(())
}

/// A condition that gives no boolean is trouble even where there is a default; conditions after the true one are not looked at.
fn choose(run: &Run<'_>, key: ElementKey, gateway: &Element, default: Option<FlowIx>) -> Result<Option<FlowIx>, Trouble> {
    for flow in gateway.outgoing.iter().filter(|flow| Some(**flow) != default) {
        let Some(condition) = &run.process.flow(*flow).condition else {
            return Ok(Some(*flow));
        };
        match run.evaluate(key, condition, IncidentKind::ExtractValue)? {
            Value::Bool(true) => return Ok(Some(*flow)),
            Value::Bool(false) => {}
            other => return Err(wrong_kind(condition, "the condition", "true or false", &other)),
        }
    }
    if default.is_none() && !gateway.outgoing.is_empty() {
        let message = "no condition is true and there is no default flow: at least one of the two is needed".to_owned();
        return Err(Trouble { kind: IncidentKind::Condition, message });
    }
    Ok(default)
}
