//! Start conditions: looked at when somebody brings variables for them.

use std::sync::Arc;

use engine::DefinitionKey;
use store::Error;
use store::log::{Answer, Code, EvaluateConditions};
use store::row::{self, SubscriptionKind};

use super::Partition;
use super::needs::{AtRest, Needs};
use super::tick::Tick;
use super::unit::Stop;

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
        for start in &*starts {
            let Some(definition) = self.compiled(tick, start.definition)? else { continue };
            if engine::start_condition(&definition.process, start.element, variables, tick.now) {
                instances.push((start.definition, self.start_at(tick, &definition, start.element, variables)?));
            }
        }
        self.rested.conditions.remove(&asked);
        Ok(Answer::Started { key, tenant: tenant.clone(), instances })
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
