//! Start conditions: looked at when somebody brings variables for them.

use std::sync::Arc;

use engine::{Brought, DefinitionKey, Document};
use model::ElementIx;
use store::Error;
use store::log::{Answer, Code, EvaluateConditions};
use store::row::{self, SubscriptionKind};

use super::Partition;
use super::needs::{AtRest, Missing, Needs};
use super::tick::Tick;
use super::unit::Stop;
use crate::definitions::Compiled;

/// How many start conditions are looked at in one command.
const CONDITIONS_MAX: usize = 10_000;

/// Whose start conditions: of a tenant, and of one definition alone if it is named.
pub(super) type Conditional = (Arc<str>, Option<DefinitionKey>);

impl Partition {
    /// Starts an instance at every start condition that these variables make true.
    pub(super) fn evaluate_conditions(&mut self, tick: &mut Tick, evaluate: &EvaluateConditions) -> Result<Answer, Stop> {
        let EvaluateConditions { tenant, definition, variables } = evaluate;
        if let Some(key) = definition {
            let deleted = self.catalogue.definitions.get(key).copied().unwrap_or(false);
            let found = self.compiled(tick, *key)?.filter(|found| found.row.tenant == *tenant && !deleted);
            found.ok_or_else(|| {
                Stop::not_found(format!(
                    "Expected to evaluate conditional for process definition key '{key}', but no such process was found"
                ))
            })?;
        }
        let asked = (tenant.clone(), *definition);
        let Some(starts) = self.rested.conditions.get(&asked).cloned() else {
            return Err(Needs::at_rest(AtRest::Conditions(asked)).into());
        };
        if CONDITIONS_MAX < starts.len() {
            let reason = format!("Expected to evaluate conditional, but there are more than {CONDITIONS_MAX} start conditions");
            return Err(Stop::refused(Code::Exhausted, reason));
        }
        let key = self.keys.take();
        let mut instances = Vec::new();
        for (definition, start) in self.fulfilled(tick, &starts, variables)? {
            instances.push((definition.row.key, self.start_at(tick, &definition, start, variables)?));
        }
        self.rested.conditions.remove(&asked);
        Ok(Answer::Started { key, tenant: tenant.clone(), instances })
    }

    /// The start events whose conditions these variables make true, before any of them starts. What takes too long is refused: who asks
    /// is told what was started, so nothing of it can follow later.
    fn fulfilled(
        &self,
        tick: &mut Tick,
        starts: &[row::Subscription],
        variables: &Document,
    ) -> Result<Vec<(Arc<Compiled>, ElementIx)>, Stop> {
        // All definitions that are missing are asked for at once.
        let mut missing = Missing::default();
        let mut found = Vec::with_capacity(starts.len());
        for start in starts {
            match self.compiled(tick, start.definition) {
                Ok(definition) => found.extend(definition.map(|definition| (definition, start.element))),
                Err(stop) => missing.after(Err(stop))?,
            }
        }
        missing.told()?;
        let mut brought = Brought::new(variables, tick.now);
        let mut fulfilled = Vec::new();
        for (definition, start) in found {
            let budget = tick.unit.budget(&self.limits);
            if budget.is_spent() {
                let reason = "Expected to evaluate conditional, but the start conditions take too long together: name one process \
                              definition, or make them simpler";
                return Err(Stop::refused(Code::Exhausted, reason.to_owned()));
            }
            if brought.fulfil(&definition.process, start, budget) {
                fulfilled.push((definition, start));
            }
        }
        Ok(fulfilled)
    }

    /// What waits for variables, as the tables have it.
    pub(super) async fn look_up_conditions(&self, asked: &Conditional) -> Result<Vec<row::Subscription>, Error> {
        match asked {
            (tenant, None) => self.store.condition_starts(self.fence.partition, tenant, CONDITIONS_MAX + 1).await,
            (_, Some(definition)) => {
                let (_, mut starts) = self.store.starts_of(*definition).await?;
                starts.retain(|start| start.kind == SubscriptionKind::Condition);
                Ok(starts)
            }
        }
    }
}
