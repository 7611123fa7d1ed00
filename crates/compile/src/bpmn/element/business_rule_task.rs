//! Business rule tasks: done by a worker. Decisions are refused for now.

use model::JobTaskFlavour;

use super::job_task;
use crate::bpmn::extension;
use crate::bpmn::site::Site;
use crate::draft::DraftElement;

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> DraftElement {
    let decision = extension::only(site, "calledDecision");
    let definition = extension::only(site, "taskDefinition");
    match (decision, definition) {
        (None, Some(definition)) => job_task::read(site, definition, JobTaskFlavour::BusinessRule),
        (Some(_), None) => site.unsupported("business rule task with a decision"),
        (Some(_), Some(_)) | (None, None) => {
            site.complain("a business rule task needs either a zeebe:calledDecision or a zeebe:taskDefinition");
            site.element(None)
        }
    }
}
