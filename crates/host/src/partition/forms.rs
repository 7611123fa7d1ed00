//! The forms of user tasks.

use std::sync::Arc;

use engine::{ElementKey, IncidentKind, InstanceKey, Undecided};

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
        let verdict = Err(missing(form));
        // Refused where something else of this command has ended the element.
        let _given = self.step(tick, instance, &engine::Command::GiveForm { element, verdict })?;
        Ok(())
    }
}

fn missing(form: &str) -> Undecided {
    let reason = format!("Expected to find a form with id '{form}', but no form with this id is found");
    Undecided { kind: IncidentKind::FormNotFound, reason: reason.into() }
}
