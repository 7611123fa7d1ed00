//! The audit trail: who did what, when, to what (ADR 31).

use std::sync::Arc;

use engine::{DecisionKey, DefinitionKey, ElementKey, FormKey, InstanceKey, JobKey, RequirementsKey, UserTaskKey};

use crate::Millis;

/// Something a person did, or a worker's try that did not end well. It says by itself what it was about: that may be gone.
/// What happened to a job otherwise is not written here: its own row says when it was handed out and how it ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Audit {
    /// The key before it stands for the dispatch of a try.
    pub key: u64,
    pub at: Millis,
    /// Nobody with a name.
    pub actor: Option<Arc<str>>,
    pub operation: Operation,
    pub entity: AuditEntity,
    /// A key, or where there is none what people call it.
    pub entity_key: Arc<str>,
    pub tenant: Arc<str>,
    pub definition: Option<DefinitionKey>,
    pub instance: Option<InstanceKey>,
    pub element_instance: Option<ElementKey>,
    pub job: Option<JobKey>,
    pub job_type: Option<Arc<str>>,
    pub worker: Option<Arc<str>>,
    /// When the try began that ended here.
    pub dispatched: Option<Millis>,
    pub user_task: Option<UserTaskKey>,
    pub deployment: Option<u64>,
    pub resource: Option<u64>,
    pub form: Option<FormKey>,
    pub requirements: Option<RequirementsKey>,
    pub decision: Option<DecisionKey>,
    pub decision_id: Option<Arc<str>>,
    /// The batch operation it was part of.
    pub batch: Option<u64>,
    /// The name of a variable, of a file; the message of a failure.
    pub description: Option<Arc<str>>,
}

impl Audit {
    /// With nothing said about what it belongs to.
    pub fn of(key: u64, at: Millis, operation: Operation, entity: AuditEntity, entity_key: Arc<str>, tenant: Arc<str>) -> Self {
        Self {
            key,
            at,
            actor: None,
            operation,
            entity,
            entity_key,
            tenant,
            definition: None,
            instance: None,
            element_instance: None,
            job: None,
            job_type: None,
            worker: None,
            dispatched: None,
            user_task: None,
            deployment: None,
            resource: None,
            form: None,
            requirements: None,
            decision: None,
            decision_id: None,
            batch: None,
            description: None,
        }
    }
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Create,
    Update,
    Delete,
    Assign,
    Unassign,
    Complete,
    Cancel,
    Modify,
    Migrate,
    Resolve,
    Suspend,
    Resume,
    /// To try again.
    Retry,
    /// A timer, before its time.
    Fire,
    Reschedule,
    /// A worker got a job.
    Dispatch,
    /// A worker could not do it.
    Fail,
    /// A worker threw an error.
    Throw,
    /// A worker had it for too long.
    TimeOut,
    /// A worker gave it back, for another or for later.
    Release,
}

/// To what it was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditEntity {
    /// A deployed process, form, or file of decisions.
    Resource,
    Decision,
    ProcessInstance,
    Incident,
    Variable,
    UserTask,
    Job,
    Batch,
    Timer,
    Policy,
    /// A global listener.
    Listener,
    /// What is submitted again and again.
    Schedule,
}

impl AuditEntity {
    /// As clients sort operations.
    pub fn category(self) -> &'static str {
        match self {
            Self::UserTask => "USER_TASKS",
            Self::Policy | Self::Listener | Self::Schedule => "ADMIN",
            Self::Resource
            | Self::Decision
            | Self::ProcessInstance
            | Self::Incident
            | Self::Variable
            | Self::Job
            | Self::Batch
            | Self::Timer => "DEPLOYED_RESOURCES",
        }
    }
}

/// The end of a job has the key of the job with this added: its dispatch has the key of the job.
pub const ENDED: u64 = 1 << 62;
