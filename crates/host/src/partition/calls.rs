//! The verdicts of decisions that tasks call.

use std::sync::Arc;

use engine::{ElementKey, IncidentKind, InstanceKey, Undecided};
use model::{Binding, Kind};
use store::row::EvaluationOrigin;

use super::Partition;
use super::decide::context;
use super::tick::Tick;
use super::unit::Stop;

/// After this many decisions of one command the instance is taken to loop without ever waiting.
const CALLS_MAX: usize = 1_000;

impl Partition {
    /// Gives a called decision its verdict; it is the command's so manieth.
    pub(super) fn answer_decision(
        &mut self,
        tick: &mut Tick,
        instance: InstanceKey,
        element: ElementKey,
        decision: &Arc<str>,
        count: usize,
    ) -> Result<(), Stop> {
        let verdict = match count {
            0..=CALLS_MAX => self.verdict(tick, instance, element, decision)?,
            _ => Err(endless()),
        };
        // Refused where something else of this command has ended the element.
        let _decided = self.step(tick, instance, &engine::Command::Decide { element, verdict })?;
        Ok(())
    }

    fn verdict(
        &mut self,
        tick: &mut Tick,
        instance: InstanceKey,
        element: ElementKey,
        decision: &Arc<str>,
    ) -> Result<Result<Arc<str>, Undecided>, Stop> {
        let Some(hot) = self.hot.get(instance) else { return Ok(Err(missing(decision, &Binding::Latest))) };
        let definition = hot.definition.clone();
        let called = hot.instance.elements.get(&element).map(|element| &definition.process.element(element.element).kind);
        let Some(Kind::DecisionTask(task)) = called else { return Ok(Err(missing(decision, &Binding::Latest))) };
        let variables = context(&engine::visible(&hot.instance, element, &[]));
        let row = &definition.row;
        let place = self.place_of_decision(decision, &row.tenant, (&task.binding, row.deployment))?;
        if let Some(what) = place.and_then(|place| tick.known.unusable.get(&place.requirements.0)) {
            return Ok(Err(failed(decision, what)));
        }
        let found = match place {
            Some(place) => self.found_at(tick, place)?,
            None => None,
        };
        let Some(found) = found else { return Ok(Err(missing(decision, &task.binding))) };
        let variables = match variables {
            Ok(variables) => variables,
            Err(reason) => return Ok(Err(failed(decision, &reason))),
        };
        let origin = EvaluationOrigin { instance, definition: row.key, element_instance: element };
        let evaluated = self.decide(tick, &found, &variables, Some(origin));
        Ok(match evaluated.failure {
            None => Ok(evaluated.output),
            Some(failure) => Err(Undecided { kind: IncidentKind::DecisionEvaluation, reason: failure.message }),
        })
    }
}

fn missing(decision: &str, binding: &Binding) -> Undecided {
    let which = match binding {
        Binding::Latest => String::new(),
        Binding::Deployment => " in the deployment of the process".to_owned(),
        Binding::VersionTag(tag) => format!(" with version tag '{tag}'"),
    };
    let reason = format!("Expected to evaluate decision '{decision}', but no decision found for id '{decision}'{which}");
    Undecided { kind: IncidentKind::CalledDecision, reason: reason.into() }
}

fn failed(decision: &str, what: &str) -> Undecided {
    let reason = format!("Expected to evaluate decision '{decision}', but {what}");
    Undecided { kind: IncidentKind::DecisionEvaluation, reason: reason.into() }
}

fn endless() -> Undecided {
    let reason = format!(
        "the instance called {CALLS_MAX} decisions without waiting for anything: it looks like an endless loop; resolve to go on"
    );
    Undecided { kind: IncidentKind::LoopLimit, reason: reason.into() }
}
