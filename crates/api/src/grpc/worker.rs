//! What polls and streams of a worker have in common: their checks, and the job as it gets it.

use std::sync::Arc;

use store::log::ActivatedJob;
use store::row;

use super::wire;
use super::wire::activated_job::{JobKind, ListenerEventType};
use crate::task_listener::{self, Properties};

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

fn kind(kind: row::JobKind) -> JobKind {
    match kind {
        row::JobKind::Element => JobKind::BpmnElement,
        row::JobKind::AdHoc => JobKind::AdHocSubProcess,
        row::JobKind::Listener(event) if event.is_of_task() => JobKind::TaskListener,
        row::JobKind::Listener(_) => JobKind::ExecutionListener,
    }
}

fn event(kind: row::JobKind) -> ListenerEventType {
    ListenerEventType::from_str_name(kind.event_word()).unwrap_or(ListenerEventType::Unspecified)
}

impl From<Properties> for wire::UserTaskProperties {
    fn from(task: Properties) -> Self {
        Self {
            action: task.action,
            assignee: task.assignee,
            candidate_groups: task.candidate_groups,
            candidate_users: task.candidate_users,
            changed_attributes: task.changed_attributes,
            due_date: task.due_date,
            follow_up_date: task.follow_up_date,
            form_key: task.form_key.map(|key| key as i64),
            priority: task.priority,
            user_task_key: task.user_task_key.map(|key| key as i64),
        }
    }
}

impl From<ActivatedJob> for wire::ActivatedJob {
    fn from(job: ActivatedJob) -> Self {
        let user_task = task_listener::properties(&job).map(Into::into);
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
            user_task,
            kind: kind(job.kind).into(),
            listener_event_type: event(job.kind).into(),
            tags: job.tags.iter().map(|tag| tag.as_ref().to_owned()).collect(),
            priority: 0,
            business_id: job.business_id.as_deref().unwrap_or_default().to_owned(),
            lease_token: None,
            physical_tenant_id: String::new(),
        }
    }
}
