//! What polls and streams of a worker have in common: their checks, and the job as it gets it.

use std::sync::Arc;

use store::log::ActivatedJob;

use super::wire;
use super::wire::activated_job::{JobKind, ListenerEventType};

/// A worker must name a type and how long it may keep a job.
pub(super) fn check(job_type: &str, timeout: i64) -> Result<(), String> {
    if job_type.trim().is_empty() {
        return Err("the job type is blank".to_owned());
    }
    if timeout < 1 {
        return Err(format!("the timeout must be greater than zero, but it is {timeout}"));
    }
    Ok(())
}

pub(super) fn names(given: Vec<String>) -> Vec<Arc<str>> {
    given.into_iter().map(Arc::from).collect()
}

impl From<ActivatedJob> for wire::ActivatedJob {
    fn from(job: ActivatedJob) -> Self {
        Self {
            key: job.key.0 as i64,
            r#type: job.job_type.as_ref().to_owned(),
            process_instance_key: job.instance.0 as i64,
            bpmn_process_id: job.process_id.as_ref().to_owned(),
            process_definition_version: job.version,
            process_definition_key: job.definition.0 as i64,
            element_id: job.element_id.as_ref().to_owned(),
            element_instance_key: job.element_instance.0 as i64,
            custom_headers: job.headers.as_ref().to_owned(),
            worker: job.worker.as_ref().to_owned(),
            retries: job.retries,
            deadline: job.deadline,
            variables: job.variables,
            tenant_id: job.tenant.as_ref().to_owned(),
            user_task: None,
            kind: match job.kind {
                store::row::JobKind::Element => JobKind::BpmnElement,
                store::row::JobKind::AdHoc => JobKind::AdHocSubProcess,
            }
            .into(),
            listener_event_type: ListenerEventType::Unspecified.into(),
            tags: job.tags.iter().map(|tag| tag.as_ref().to_owned()).collect(),
            priority: 0,
            business_id: job.business_id.as_deref().unwrap_or_default().to_owned(),
            lease_token: None,
            physical_tenant_id: String::new(),
        }
    }
}
