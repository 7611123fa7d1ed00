//! Steps that wait for somebody: told by the id of their instance and their own.

use std::sync::Arc;

use engine::{Document, InstanceKey};
use store::log::{Command, TellStep};
use store::query::{Entity, Field, Items};

use super::{Workflows, instance_key, is, no_instance, step_type};
use crate::error::{Failure, Reason};

/// What a step is told.
pub(crate) struct Told {
    pub(crate) step: Arc<str>,
    /// Whether it is a task for a person, and who has done it; otherwise it is a step that waits.
    pub(crate) is_task: bool,
    pub(crate) by: Option<Arc<str>>,
    pub(crate) variables: Document,
    /// Whether what comes before the step is reached is kept for it.
    pub(crate) buffer: bool,
}

impl Workflows {
    pub(crate) async fn tell(&self, id: &str, told: Told) -> Result<(), Failure> {
        let instance = instance_key(id)?;
        let Told { step, is_task, by, variables, buffer } = told;
        let tell = TellStep { instance, step: step.clone(), is_task, by, variables, keeps: buffer };
        match self.submit(Command::TellStep(tell)).await {
            Ok(_) => Ok(()),
            Err(failure) if matches!(failure.reason, Reason::NotFound | Reason::InvalidState) => {
                self.explain(id, instance, &step, is_task).await
            }
            Err(failure) => Err(failure),
        }
    }

    /// Why a step could not be told. A task that was done before is done: telling so again is no error.
    async fn explain(&self, id: &str, instance: InstanceKey, step: &str, is_task: bool) -> Result<(), Failure> {
        let Items::Instances(views) = self.first(Entity::Instances, vec![is(Field::InstanceKey, instance.0)]).await? else {
            return Err(no_instance(id));
        };
        let definition = views.first().ok_or_else(|| no_instance(id))?.definition;
        let row = self.host.store().definition(definition).await?;
        let element = row.as_ref().and_then(|row| row.elements.iter().skip(1).find(|element| *element.id == *step));
        let wanted = if is_task { "USER_TASK" } else { "WAIT" };
        if element.is_none_or(|element| step_type(&element.kind) != wanted) {
            return Err(Failure::not_found(format!("The workflow of instance '{id}' has no step '{step}' of type {wanted}")));
        }
        let is_workflow = row.as_ref().is_some_and(|row| row.resource_name.ends_with(".json"));
        let filter = vec![is(Field::InstanceKey, instance.0), is(Field::ElementId, step), is(Field::ElementState, "COMPLETED")];
        let is_done = !self.first(Entity::Elements, filter).await?.is_empty();
        match (is_done, is_task) {
            (true, true) => Ok(()),
            (true, false) => {
                Err(conflict(format!("Step '{step}' of instance '{id}' was signalled before and is not waiting now")))
            }
            (false, _) if !is_workflow => {
                Err(conflict(format!("Step '{step}' of instance '{id}' is not waiting for a person now")))
            }
            (false, _) => Err(conflict(format!(
                "Step '{step}' of instance '{id}' is not waiting now: try again when it is reached, or add ?buffer=true"
            ))),
        }
    }
}

fn conflict(detail: String) -> Failure {
    Failure::new(Reason::InvalidState, detail)
}
