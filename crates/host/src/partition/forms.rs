//! The forms of user tasks: which version is meant.

use std::sync::Arc;

use engine::{ElementKey, FormKey, IncidentKind, InstanceKey, Undecided};
use model::{Binding, Form, Kind};

use super::Partition;
use super::tick::Tick;
use super::unit::Stop;

impl Partition {
    /// Gives a user task the form it seeks.
    pub(super) fn answer_form(
        &mut self,
        tick: &mut Tick,
        instance: InstanceKey,
        element: ElementKey,
        form: &Arc<str>,
    ) -> Result<(), Stop> {
        let verdict = self.sought_form(instance, element, form)?;
        // Refused where something else of this command has ended the element.
        let _given = self.step(tick, instance, &engine::Command::GiveForm { element, verdict })?;
        Ok(())
    }

    fn sought_form(
        &self,
        instance: InstanceKey,
        element: ElementKey,
        form: &Arc<str>,
    ) -> Result<Result<FormKey, Undecided>, Stop> {
        let Some(hot) = self.hot.get(instance) else { return Ok(Err(missing(form, &Binding::Latest))) };
        let alive = hot.instance.elements.get(&element);
        let binding = match alive.map(|alive| &hot.definition.process.element(alive.element).kind) {
            Some(Kind::UserTask(task)) => match &task.form {
                Some(Form::Deployed { binding, .. }) => binding,
                Some(Form::External(_)) | None => &Binding::Latest,
            },
            Some(Kind::JobTask(task)) => task.form.as_ref().map_or(&Binding::Latest, |form| &form.1),
            _ => &Binding::Latest,
        };
        let row = &hot.definition.row;
        let versions = self.forms_named(&(form.clone(), row.tenant.clone()))?;
        let found = versions.iter().rfind(|form| match binding {
            _ if form.deleted => false,
            Binding::Latest => true,
            Binding::Deployment => form.deployment == row.deployment,
            Binding::VersionTag(tag) => form.version_tag.as_ref() == Some(tag),
        });
        Ok(found.map(|form| form.key).ok_or_else(|| missing(form, binding)))
    }
}

fn missing(form: &str, binding: &Binding) -> Undecided {
    let which = match binding {
        Binding::Latest => String::new(),
        Binding::Deployment => " in the deployment of the process".to_owned(),
        Binding::VersionTag(tag) => format!(" with version tag '{tag}'"),
    };
    let reason =
        format!("Expected to find a form with id '{form}', but there is none{which}: deploy it and resolve the incident");
    Undecided { kind: IncidentKind::FormNotFound, reason: reason.into() }
}
