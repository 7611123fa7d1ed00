//! What callers are told.

use std::sync::Arc;

use engine::{DecisionKey, DefinitionKey, ElementKey, EvaluationKey, FormKey, InstanceKey, JobKey, RequirementsKey, UserTaskKey};
use model::ListenerEvent;

use super::Reported;
use crate::row::JobKind;
use crate::{Millis, row};

/// What a caller is told.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    Deployed(Deployed),
    ResourceDeleted {
        key: u64,
    },
    Created(Created),
    /// Nothing to tell beyond that it happened.
    Done,
    VariablesSet {
        key: u64,
    },
    Activated(Vec<ActivatedJob>),
    Evaluated(Evaluated),
    /// The key of a message or a signal.
    Published {
        key: u64,
        tenant: Arc<str>,
    },
    /// The message, and the first instance that took it.
    Correlated {
        key: u64,
        instance: InstanceKey,
        tenant: Arc<str>,
    },
    /// What conditions have started.
    Started {
        key: u64,
        tenant: Arc<str>,
        instances: Vec<(DefinitionKey, InstanceKey)>,
    },
    /// What is to happen to a user task waits for those who listen.
    Listening(Listening),
    /// The instance is cancelled, or deleted, and goes in turns.
    Going {
        instance: InstanceKey,
    },
    Rejected(Rejection),
    Submitted(Submitted),
    CompletedExecutions(CompletedExecutions),
    /// An operation over many, and what it does.
    BatchStarted {
        key: u64,
        kind: Arc<str>,
    },
    /// In the order in which they were told.
    Reported(Vec<Reported>),
}

/// Executions in the order in which they were submitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submitted {
    pub at: Millis,
    pub executions: Vec<SubmittedExecution>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmittedExecution {
    pub job: JobKey,
    /// Not one that was there before, with the same unique key.
    pub is_new: bool,
    /// Of one that is new, where a policy tells groups apart.
    pub group: Option<Arc<str>>,
}

/// All that are named in neither list are completed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CompletedExecutions {
    pub refused: Vec<(JobKey, Rejection)>,
    /// Jobs that may belong to a process: each is a command of its own.
    pub others: Vec<JobKey>,
}

/// What somebody waits for who has asked for something to happen to a user task.
#[derive(Debug, Clone, PartialEq)]
pub struct Listening {
    pub task: UserTaskKey,
    pub element_instance: ElementKey,
    pub tenant: Arc<str>,
    pub event: ListenerEvent,
    /// Jobs with a higher key were made for this or later.
    pub since: u64,
    /// How many listen.
    pub listeners: u32,
    /// What is answered once all were heard.
    pub then: Option<u64>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Deployed {
    pub key: u64,
    pub tenant: Arc<str>,
    pub processes: Vec<DeployedProcess>,
    pub requirements: Vec<DeployedRequirements>,
    pub forms: Vec<DeployedForm>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct DeployedProcess {
    pub process_id: Arc<str>,
    pub version: i32,
    pub definition: DefinitionKey,
    pub resource_name: Arc<str>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct DeployedForm {
    pub key: FormKey,
    pub id: Arc<str>,
    pub version: i32,
    pub resource_name: Arc<str>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct DeployedRequirements {
    pub key: RequirementsKey,
    pub id: Arc<str>,
    pub name: Arc<str>,
    pub version: i32,
    pub resource_name: Arc<str>,
    pub decisions: Vec<DeployedDecision>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct DeployedDecision {
    pub key: DecisionKey,
    pub id: Arc<str>,
    pub name: Arc<str>,
    pub version: i32,
}

/// How an evaluation came out. One that failed is an answer too, but leaves no rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluated {
    pub key: EvaluationKey,
    pub decision: DeployedDecision,
    pub requirements: RequirementsKey,
    pub requirements_id: Arc<str>,
    pub tenant: Arc<str>,
    /// JSON text; `null` where it failed.
    pub output: Arc<str>,
    pub failure: Option<EvaluationFailure>,
    pub decisions: Vec<row::EvaluatedDecision>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvaluationFailure {
    /// The decision that failed, which may be a required one.
    pub decision_id: Arc<str>,
    pub message: Arc<str>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Created {
    pub instance: InstanceKey,
    pub definition: DefinitionKey,
    pub process_id: Arc<str>,
    pub version: i32,
    pub tenant: Arc<str>,
    pub tags: Vec<Arc<str>>,
    pub business_id: Option<Arc<str>>,
}

/// A job as a worker gets it.
#[derive(Debug, Clone, PartialEq)]
pub struct ActivatedJob {
    pub key: JobKey,
    pub job_type: Arc<str>,
    pub instance: InstanceKey,
    pub root: InstanceKey,
    pub definition: DefinitionKey,
    pub process_id: Arc<str>,
    pub version: i32,
    pub element_id: Arc<str>,
    pub element_instance: ElementKey,
    /// A JSON object.
    pub headers: Arc<str>,
    pub worker: Arc<str>,
    pub retries: i32,
    pub deadline: Millis,
    /// A JSON object.
    pub variables: String,
    pub tenant: Arc<str>,
    pub tags: Vec<Arc<str>>,
    pub business_id: Option<Arc<str>>,
    pub kind: JobKind,
    /// Which lease this is: what its worker says of the job counts only while it is this one, or nobody's.
    pub lease: u32,
    /// What an earlier worker said of how far it came, as a JSON object.
    pub progress: Option<Arc<str>>,
    /// The trace that its instance or execution was started from, as the headers it came in: a JSON object, found among `headers` too.
    pub trace: Option<Arc<str>>,
}

/// The command was understood and refused; nothing changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    pub code: Code,
    pub reason: String,
}

/// Why, in the words clients branch on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    InvalidArgument,
    NotFound,
    AlreadyExists,
    InvalidState,
    /// A bound was reached.
    Exhausted,
    /// It came too late: nobody waited for it any more.
    Expired,
}
