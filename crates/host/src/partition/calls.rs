//! What a command's events ask of others is answered within the command: the verdict of a decision that a task called.
//!
//! The only reads while commands are executed are here, for definitions that are not in memory.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use engine::{ElementKey, Event, IncidentKind, InstanceKey, Undecided};
use model::{Binding, Kind};
use store::Error;
use store::row::EvaluationOrigin;

use super::Partition;
use super::decide::context;
use super::execute::Done;
use super::tick::Tick;

/// After this many decisions of one command the instance is taken to loop without ever waiting.
const CALLS_MAX: usize = 1_000;

impl Partition {
    /// Gives every called decision its verdict, also those called by what follows.
    pub(super) async fn answer_calls(&mut self, tick: &mut Tick, done: &mut Done) -> Result<(), Error> {
        let Some(instance) = done.instance else { return Ok(()) };
        let (mut looked_at, mut calls) = (0, 0);
        while let Some(event) = done.events.get(looked_at) {
            looked_at += 1;
            let Event::DecisionCalled { element, decision } = event else { continue };
            let (element, decision) = (*element, decision.clone());
            calls += 1;
            let verdict = match calls {
                0..=CALLS_MAX => self.verdict(tick, instance, element, &decision).await?,
                _ => Err(endless()),
            };
            let decide = engine::Command::Decide { element, verdict };
            match catch_unwind(AssertUnwindSafe(|| self.step(tick, instance, &decide))) {
                Ok(Some(Ok(events))) => done.events.extend(events),
                // Something else of this command has ended the element.
                Ok(Some(Err(_)) | None) => {}
                Err(_) => {
                    tracing::error!(%instance, %decision, "a verdict hit a fault of the engine; please report it");
                    self.metrics.quarantined.inc();
                }
            }
        }
        Ok(())
    }

    async fn verdict(
        &mut self,
        tick: &mut Tick,
        instance: InstanceKey,
        element: ElementKey,
        decision: &Arc<str>,
    ) -> Result<Result<Arc<str>, Undecided>, Error> {
        let Some(hot) = self.hot.get(instance) else { return Ok(Err(missing(decision, &Binding::Latest))) };
        let definition = hot.definition.clone();
        let called = hot.instance.elements.get(&element).map(|element| &definition.process.element(element.element).kind);
        let Some(Kind::DecisionTask(task)) = called else { return Ok(Err(missing(decision, &Binding::Latest))) };
        let variables = context(&engine::visible(&hot.instance, element, &[]));
        let row = &definition.row;
        let found = match self.find_decision(tick, decision, &row.tenant, (&task.binding, row.deployment)).await {
            Ok(found) => found,
            Err(Error::Corrupt { what }) => return Ok(Err(failed(decision, &what))),
            Err(error) => return Err(error),
        };
        let Some(found) = found else { return Ok(Err(missing(decision, &task.binding))) };
        let variables = match variables {
            Ok(variables) => variables,
            Err(reason) => return Ok(Err(failed(decision, &reason))),
        };
        let origin = EvaluationOrigin { instance, definition: row.key, element_instance: element };
        let evaluated = catch_unwind(AssertUnwindSafe(|| self.decide(tick, &found, &variables, Some(origin))));
        Ok(match evaluated {
            Ok(evaluated) => match evaluated.failure {
                None => Ok(evaluated.output),
                Some(failure) => Err(Undecided { kind: IncidentKind::DecisionEvaluation, reason: failure.message }),
            },
            Err(_) => {
                tracing::error!(%instance, %decision, "a decision hit a fault of the engine; please report it");
                self.metrics.quarantined.inc();
                Err(failed(decision, "the engine hit a fault of its own"))
            }
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
