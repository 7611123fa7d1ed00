//! A business rule task that calls a decision: it asks the host for a verdict and waits in its entry, so that resolving an incident
//! asks again. Which version is meant, and evaluating it, is the host's: definitions are not the instance's.

use std::sync::Arc;

use model::{DecisionTask, Kind};

use crate::expression::Trouble;
use crate::step::Run;
use crate::{ElementKey, Event, Phase, Rejected, Undecided};

pub(crate) fn enter(run: &mut Run<'_>, key: ElementKey, task: &DecisionTask) -> Result<(), Trouble> {
    let decision = run.text(key, &task.decision, "the decision id")?;
    run.emit(Event::DecisionCalled { element: key, decision });
    Ok(())
}

pub(crate) fn decide(run: &mut Run<'_>, key: ElementKey, verdict: &Result<Arc<str>, Undecided>) -> Result<(), Rejected> {
    let result = waits(run, key).ok_or(Rejected::NoSuchDecision)?;
    match verdict {
        Ok(output) => {
            run.emit(Event::Activated { key });
            run.finish_with(key, &vec![(result, output.clone())]);
        }
        Err(Undecided { kind, reason }) => run.raise(key, None, Trouble { kind: *kind, message: reason.to_string() }),
    }
    Ok(())
}

/// It asks again in a turn, with inputs as they are then. Each task in a turn of its own, so that no decision is asked for over and over.
pub(crate) fn ask_later(run: &mut Run<'_>, key: ElementKey) -> Result<(), Rejected> {
    waits(run, key).ok_or(Rejected::NoSuchDecision)?;
    run.take_up_alone(vec![key]);
    Ok(())
}

/// The variable for the result, if this element waits for a verdict.
fn waits(run: &Run<'_>, key: ElementKey) -> Option<Arc<str>> {
    let element = run.instance.elements.get(&key)?;
    match &run.element_of(key).kind {
        Kind::DecisionTask(task) if element.phase == Phase::Entering && element.incident.is_none() => Some(task.result.clone()),
        _ => None,
    }
}
