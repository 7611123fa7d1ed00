//! An inclusive gateway leaves by every flow whose condition is true, or by its default flow. As a join it waits for the tokens that can
//! still come; waiting tokens have no element instance.

use feel::Value;
use model::{Element, ElementIx, FlowIx};

use crate::expression::{Trouble, wrong_kind};
use crate::join::{HeldBy, Woken};
use crate::step::Run;
use crate::{ElementKey, Event, IncidentKind};

/// Takes one token of each flow that has one, unless others can still come; what is left then is a join of its own.
pub(crate) fn wakes(run: &mut Run<'_>, gateway: ElementIx, scope: ElementKey) -> Woken {
    if !run.has_tokens(gateway, scope) || run.is_held(gateway, scope, HeldBy::EachThatCanCome) {
        return Woken::Not;
    }
    run.emit(Event::TokensTaken { scope, gateway });
    if run.has_tokens(gateway, scope) {
        run.examine_later(gateway, scope);
    }
    Woken::Enter
}

pub(crate) fn enter(run: &mut Run<'_>, key: ElementKey, gateway: &Element, default: Option<FlowIx>) -> Result<(), Trouble> {
    let mut flows = open_flows(run, key, gateway, default, &[])?;
    if flows.is_empty() {
        flows.extend(default);
    }
    if flows.is_empty() && !gateway.outgoing.is_empty() {
        return Err(none_true());
    }
    run.emit(Event::Activated { key });
    run.leave(key, &flows);
    Ok(())
}

/// The flows whose conditions are true, or that have none; all are looked at, and one that gives no boolean is trouble.
/// `known` is what conditions see besides variables.
pub(super) fn open_flows(
    run: &Run<'_>,
    key: ElementKey,
    gateway: &Element,
    default: Option<FlowIx>,
    known: &[(&str, Value)],
) -> Result<Vec<FlowIx>, Trouble> {
    let mut open = Vec::new();
    for flow in gateway.outgoing.iter().filter(|flow| Some(**flow) != default) {
        let Some(condition) = &run.process.flow(*flow).condition else {
            open.push(*flow);
            continue;
        };
        match run.evaluate_given(key, condition, IncidentKind::ExtractValue, known)? {
            Value::Bool(true) => open.push(*flow),
            Value::Bool(false) => {}
            other => return Err(wrong_kind(condition, "the condition", "true or false", &other)),
        }
    }
    Ok(open)
}

pub(super) fn none_true() -> Trouble {
    let message = "no condition is true and there is no default flow: at least one of the two is needed".to_owned();
    Trouble { kind: IncidentKind::Condition, message }
}
