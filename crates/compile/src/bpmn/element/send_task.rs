//! Send tasks: done by a worker. Publishing the message here is refused as an unsupported extension.

use model::JobTaskFlavour;

use super::job_task;
use crate::bpmn::extension;
use crate::bpmn::site::Site;
use crate::draft::DraftElement;

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> DraftElement {
    if let Some(definition) = extension::only(site, "taskDefinition") {
        return job_task::read(site, definition, JobTaskFlavour::Send);
    }
    if extension::all(site.node, "publishMessage").is_empty() {
        site.complain("a send task needs a zeebe:taskDefinition with the job type");
    }
    site.element(None)
}
