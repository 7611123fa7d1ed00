//! Service tasks.

use model::JobTaskFlavour;

use super::job_task;
use crate::bpmn::extension;
use crate::bpmn::site::Site;
use crate::draft::DraftElement;

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> DraftElement {
    match extension::only(site, "taskDefinition") {
        Some(definition) => job_task::read(site, definition, JobTaskFlavour::Service),
        None => {
            site.complain("a service task needs a zeebe:taskDefinition with the job type");
            site.element(None)
        }
    }
}
