//! What all tasks done by a worker have in common: `zeebe:taskDefinition` and `zeebe:taskHeaders`.

use model::{JobTask, JobTaskFlavour, Kind, Retries};
use roxmltree::Node;

use crate::bpmn::extension;
use crate::bpmn::site::Site;
use crate::draft::DraftElement;
use crate::expression;

const RETRIES: i32 = 3;

/// Reads a task of which the definition has been found.
pub(in crate::bpmn) fn read(site: &mut Site<'_, '_, '_>, definition: Node<'_, '_>, flavour: JobTaskFlavour) -> DraftElement {
    let task = task(site, definition, flavour);
    site.element(task.map(Kind::JobTask))
}

pub(super) fn task(site: &mut Site<'_, '_, '_>, definition: Node<'_, '_>, flavour: JobTaskFlavour) -> Option<JobTask> {
    let job_type = match definition.attribute("type").filter(|value| !value.is_empty()) {
        Some(value) => expression::text("the job type", value),
        None => Err("zeebe:taskDefinition needs a type: the name workers ask for".to_owned()),
    };
    let job_type = site.note(definition, job_type);
    let retries = retries(definition.attribute("retries").unwrap_or_default());
    let retries = site.note(definition, retries);
    let headers = extension::headers(site);
    let headers_computed = Vec::new();
    job_type.zip(retries).map(|(job_type, retries)| JobTask { flavour, job_type, retries, headers, headers_computed, form: None })
}

/// What is no number is accepted here and becomes an incident when the job is made, as in Camunda 8.
pub(in crate::bpmn) fn retries(value: &str) -> Result<Retries, String> {
    if value.is_empty() {
        return Ok(Retries::Fixed(RETRIES));
    }
    if let Ok(number) = value.parse() {
        return Ok(Retries::Fixed(number));
    }
    let computed = match expression::source(value) {
        Some(source) => expression::parse("the number of retries", source),
        None => expression::parse("the number of retries", &expression::literal(value)),
    };
    computed.map(Retries::Computed)
}
