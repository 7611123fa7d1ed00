//! Send tasks: done by a worker, or a message published here (`zeebe:publishMessage`).

use model::{JobTaskFlavour, Kind};

use super::job_task;
use crate::bpmn::site::Site;
use crate::bpmn::{event, extension};
use crate::draft::DraftElement;

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> DraftElement {
    if let Some(definition) = extension::only(site, "taskDefinition") {
        return job_task::read(site, definition, JobTaskFlavour::Send);
    }
    if let Some(publish) = extension::only(site, "publishMessage") {
        let published = event::published(site, site.node, publish);
        return site.element(published.map(Kind::SendTask));
    }
    site.complain("a send task needs a zeebe:taskDefinition with the job type, or a zeebe:publishMessage");
    site.element(None)
}
