//! A complex gateway starts when its condition over the tokens that came is true, and is then reset by those that come later.
//!
//! ```text
//! first token ──▶ Entering: waits for start ──condition true, flows taken──▶ Active: waits for reset ──nothing can come──▶ flows taken, left
//! ```
//!
//! Its element instance lives from the first token to the reset. Until then the tokens it started with stay where they are: they say along
//! which flows it needs no other. Conditions of outgoing flows are looked at both times; they see `waitingForStart` and `activationCount`.

use feel::Value;
use model::{ComplexGateway, Element, ElementIx};

use super::inclusive_gateway::{none_true, open_flows};
use crate::expression::{Trouble, wrong_kind};
use crate::join::{HeldBy, Woken};
use crate::step::Run;
use crate::{ElementKey, Event, IncidentKind, Phase};

pub(crate) fn wakes(run: &mut Run<'_>, gateway: ElementIx, scope: ElementKey) -> Woken {
    run.instance.index_places(scope);
    let Some(key) = run.instance.first_at(scope, gateway) else {
        return if run.has_tokens(gateway, scope) { Woken::Enter } else { Woken::Not };
    };
    let instance = &run.instance.elements[&key];
    let (phase, is_stuck) = (instance.phase, instance.incident.is_some());
    match phase {
        _ if is_stuck => Woken::Not,
        Phase::Entering => Woken::Activate(key),
        Phase::Active if !run.is_held(gateway, scope, HeldBy::ThoseWithoutChoice) => Woken::Finish(key),
        Phase::Active | Phase::Leaving => Woken::Not,
    }
}

/// Starts if the condition is true; otherwise the next token that comes asks again.
pub(crate) fn enter(run: &mut Run<'_>, key: ElementKey, element: &Element, gateway: &ComplexGateway) -> Result<(), Trouble> {
    let (at, scope) = (run.instance.elements[&key].element, run.instance.elements[&key].scope);
    let known = known(run, at, scope, true);
    if let Some(condition) = &gateway.activation {
        match run.evaluate_given(key, condition, IncidentKind::ExtractValue, &known)? {
            Value::Bool(true) => {}
            Value::Bool(false) => return Ok(()),
            other => return Err(wrong_kind(condition, "the activation condition", "true or false", &other)),
        }
    }
    let mut flows = open_flows(run, key, element, gateway.default, &known)?;
    if flows.is_empty() {
        flows.extend(gateway.default);
    }
    if flows.is_empty() && !element.outgoing.is_empty() {
        return Err(none_true());
    }
    run.emit(Event::Activated { key });
    for flow in &flows {
        run.take(*flow, scope);
    }
    run.examine_later(at, scope);
    Ok(())
}

/// Nothing can come any more: takes what came and leaves by the flows whose conditions are true now; perhaps by none.
/// A flow without a condition was taken at the start.
pub(crate) fn reset(run: &mut Run<'_>, key: ElementKey, element: &Element, gateway: &ComplexGateway) {
    let (at, scope) = (run.instance.elements[&key].element, run.instance.elements[&key].scope);
    let known = known(run, at, scope, false);
    let mut flows = match open_flows(run, key, element, gateway.default, &known) {
        Ok(flows) => flows,
        Err(trouble) => return run.raise(key, None, trouble),
    };
    if flows.is_empty() {
        flows.extend(gateway.default);
    }
    flows.retain(|flow| run.process.flow(*flow).condition.is_some() || Some(*flow) == gateway.default);
    run.emit(Event::TokensTaken { scope, gateway: at });
    if run.has_tokens(at, scope) {
        run.examine_later(at, scope);
    }
    run.leave(key, &flows);
}

fn known(run: &Run<'_>, gateway: ElementIx, scope: ElementKey, starts: bool) -> [(&'static str, Value); 2] {
    let count = i64::from(run.tokens_waiting(gateway, scope));
    [("activationCount", Value::Number(count.into())), ("waitingForStart", Value::Bool(starts))]
}
