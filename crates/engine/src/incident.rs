//! Incidents: what keeps an element where it is until a person resolves it.

use crate::expression::Trouble;
use crate::step::Run;
use crate::{ElementKey, Event, IncidentKey, IncidentKind, JobKey, Phase, Rejected};

impl Run<'_> {
    /// The element stays where it is until the incident is resolved.
    pub(crate) fn raise(&mut self, element: ElementKey, job: Option<JobKey>, trouble: Trouble) {
        let key = IncidentKey(self.keys.take());
        self.emit(Event::IncidentRaised { key, element, job, kind: trouble.kind, message: trouble.message.into() });
    }

    /// Takes the incident away and tries again what raised it. A job's incident only frees the job.
    pub(crate) fn resolve(&mut self, key: IncidentKey) -> Result<(), Rejected> {
        let incident = self.instance.incidents.get(&key).cloned().ok_or(Rejected::NoSuchIncident)?;
        self.emit(Event::IncidentResolved { key, element: incident.element });
        if incident.job.is_some() {
            return Ok(());
        }
        match self.instance.elements[&incident.element].phase {
            Phase::Entering => self.activate(incident.element),
            Phase::Leaving => self.finish(incident.element),
            Phase::Active => {
                if let Some(event) = self.listener_of(incident.element) {
                    self.listen_to_task(incident.element, event);
                }
            }
        }
        Ok(())
    }

    /// Shows a person that a command was refused through no fault of the process. What is stuck already is shown already.
    pub(crate) fn mark(&mut self, reason: &str) {
        let root = self.instance.key.root();
        if self.instance.elements[&root].incident.is_none() {
            self.raise(root, None, Trouble { kind: IncidentKind::Fault, message: reason.to_owned() });
        }
    }
}
