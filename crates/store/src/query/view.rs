//! Rows as searches show them.

use engine::{
    DecisionKey, DefinitionKey, ElementKey, EvaluationKey, FormKey, IncidentKey, IncidentKind, InstanceKey, JobKey,
    RequirementsKey, TimerKey, UserTaskKey, VariableKey, WaitKey,
};

use crate::Millis;
use crate::row::{
    AuditEntity, BatchState, EvaluatedInput, ExecutionState, InstanceState, ItemState, JobKind, JobState, MatchedRule, Operation,
    SubscriptionKind, SubscriptionState, TimerKind, TimerState, UserTaskState,
};

#[derive(Debug, Clone, PartialEq)]
pub struct DefinitionView {
    pub key: DefinitionKey,
    pub process_id: String,
    pub name: Option<String>,
    pub version: i32,
    pub version_tag: Option<String>,
    pub resource_name: String,
    pub resource: u64,
    pub tenant: String,
    pub deleted: bool,
    pub has_start_form: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct InstanceView {
    pub key: InstanceKey,
    pub definition: DefinitionKey,
    pub process_id: String,
    pub name: Option<String>,
    pub version: i32,
    pub version_tag: Option<String>,
    pub tenant: String,
    pub state: InstanceState,
    pub started: Millis,
    pub ended: Option<Millis>,
    pub has_incident: bool,
    pub parent_instance: Option<InstanceKey>,
    pub parent_element: Option<ElementKey>,
    pub root: InstanceKey,
    pub tags: Vec<String>,
    pub business_id: Option<String>,
    /// Since when, while it is suspended.
    pub suspended: Option<Millis>,
}

/// As searches show it: alive is active.
#[derive(Debug, Clone, PartialEq)]
pub struct ElementView {
    pub key: ElementKey,
    pub instance: InstanceKey,
    pub root: InstanceKey,
    pub definition: DefinitionKey,
    pub process_id: String,
    pub tenant: String,
    pub element_id: String,
    pub element_name: Option<String>,
    pub kind: String,
    pub scope: ElementKey,
    pub state: InstanceState,
    pub started: Millis,
    pub ended: Option<Millis>,
    /// Whether an incident is open in it, inside it, or in what that has called.
    pub has_incident: bool,
    /// Its own.
    pub incident: Option<IncidentKey>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct VariableView {
    pub key: VariableKey,
    pub instance: InstanceKey,
    pub root: InstanceKey,
    pub scope: ElementKey,
    pub tenant: String,
    pub name: String,
    /// Cut at [`Query::value_chars_max`].
    pub value: String,
    /// Whether it was cut.
    pub is_truncated: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct JobView {
    pub key: JobKey,
    pub job_type: String,
    pub instance: InstanceKey,
    pub root: InstanceKey,
    pub definition: DefinitionKey,
    pub process_id: String,
    pub tenant: String,
    pub element_id: String,
    pub element_instance: ElementKey,
    /// A JSON object.
    pub headers: String,
    pub state: JobState,
    pub retries: i32,
    pub worker: String,
    pub deadline: Option<Millis>,
    pub error_code: String,
    pub error_message: String,
    pub failed_with_retries_left: bool,
    pub kind: JobKind,
    /// Why a listener refused, if it did.
    pub denied: Option<String>,
    pub created: Millis,
    pub updated: Millis,
    pub ended: Option<Millis>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct IncidentView {
    pub key: IncidentKey,
    pub instance: InstanceKey,
    pub root: InstanceKey,
    pub definition: DefinitionKey,
    pub process_id: String,
    pub tenant: String,
    pub element_id: String,
    pub element_instance: ElementKey,
    pub job: Option<JobKey>,
    pub kind: IncidentKind,
    pub message: String,
    pub created: Millis,
    pub resolved: Option<Millis>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RequirementsView {
    pub key: RequirementsKey,
    pub id: String,
    pub name: String,
    pub version: i32,
    pub resource_name: String,
    pub resource: u64,
    pub tenant: String,
    pub deleted: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct DecisionView {
    pub key: DecisionKey,
    pub id: String,
    pub name: String,
    pub version: i32,
    pub version_tag: Option<String>,
    pub tenant: String,
    pub requirements: RequirementsKey,
    pub requirements_id: String,
    pub requirements_name: String,
    pub requirements_version: i32,
    pub resource: u64,
    pub deleted: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct EvaluatedDecisionView {
    pub evaluation: EvaluationKey,
    pub place: u32,
    /// Absent for the function of a knowledge model, as is its version.
    pub decision: Option<DecisionKey>,
    pub decision_id: String,
    pub name: String,
    pub version: Option<i32>,
    pub kind: String,
    pub root_decision: DecisionKey,
    pub tenant: String,
    pub evaluated: Millis,
    /// JSON text.
    pub output: String,
    pub instance: Option<InstanceKey>,
    pub root: Option<InstanceKey>,
    pub business_id: Option<String>,
    pub definition: Option<DefinitionKey>,
    pub element_instance: Option<ElementKey>,
    /// Empty without [`Query::with_details`], as are the rules.
    pub inputs: Vec<EvaluatedInput>,
    pub rules: Vec<MatchedRule>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TimerView {
    pub key: TimerKey,
    pub definition: DefinitionKey,
    pub process_id: String,
    pub tenant: String,
    /// Absent for start events, as are root and element instance.
    pub instance: Option<InstanceKey>,
    pub root: Option<InstanceKey>,
    pub element_id: String,
    pub element_instance: Option<ElementKey>,
    pub kind: TimerKind,
    pub text: String,
    pub number: u32,
    pub due: Millis,
    pub state: TimerState,
    pub created: Millis,
    pub ended: Option<Millis>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SubscriptionView {
    pub key: WaitKey,
    pub kind: SubscriptionKind,
    pub definition: DefinitionKey,
    pub process_id: String,
    pub tenant: String,
    /// Absent for start events, as are root and element instance.
    pub instance: Option<InstanceKey>,
    pub root: Option<InstanceKey>,
    pub element_id: String,
    pub element_instance: Option<ElementKey>,
    pub state: SubscriptionState,
    /// Of the message or signal; empty otherwise.
    pub name: String,
    pub correlation_key: String,
    pub created: Millis,
    pub updated: Millis,
}

#[derive(Debug, Clone, PartialEq)]
pub struct MessageCorrelationView {
    pub key: u64,
    pub message: u64,
    pub subscription: WaitKey,
    pub definition: DefinitionKey,
    pub process_id: String,
    pub tenant: String,
    pub instance: InstanceKey,
    pub root: InstanceKey,
    pub element_id: String,
    /// Absent where the message started the instance.
    pub element_instance: Option<ElementKey>,
    pub message_name: String,
    pub correlation_key: String,
    pub correlated: Millis,
}

#[derive(Debug, Clone, PartialEq)]
pub struct UserTaskView {
    pub key: UserTaskKey,
    pub instance: InstanceKey,
    pub root: InstanceKey,
    pub definition: DefinitionKey,
    pub process_id: String,
    pub process_name: Option<String>,
    pub version: i32,
    pub tenant: String,
    pub element_id: String,
    pub element_name: Option<String>,
    pub element_instance: ElementKey,
    /// A JSON object.
    pub headers: String,
    pub state: UserTaskState,
    pub assignee: Option<String>,
    pub candidate_groups: Vec<String>,
    pub candidate_users: Vec<String>,
    pub due: Option<Millis>,
    pub follow_up: Option<Millis>,
    pub priority: i32,
    pub form: Option<FormKey>,
    pub external_form: Option<String>,
    pub created: Millis,
    pub ended: Option<Millis>,
    /// Those of the instance, as is the business id.
    pub tags: Vec<String>,
    pub business_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ExecutionView {
    pub key: JobKey,
    pub action: String,
    pub tenant: String,
    pub state: ExecutionState,
    /// A JSON object.
    pub input: String,
    /// Likewise.
    pub result: Option<String>,
    pub error_code: String,
    pub error_message: String,
    pub priority: i32,
    pub attempts: i32,
    pub retries: i32,
    pub worker: String,
    /// Where it waits for a time: until then.
    pub due: Option<Millis>,
    pub created: Millis,
    pub started: Option<Millis>,
    pub ended: Option<Millis>,
    pub unique_key: Option<String>,
    /// A JSON object.
    pub group: Option<String>,
    /// Its place in its queue, from 1. No search tells.
    pub position: Option<u64>,
    /// How far its worker has come, as a JSON object.
    pub progress: Option<String>,
}

/// A job, of a process or of none, that nobody tries any more.
#[derive(Debug, Clone, PartialEq)]
pub struct DeadLetterView {
    pub key: JobKey,
    pub action: String,
    pub tenant: String,
    /// Of a job of a process.
    pub instance: Option<InstanceKey>,
    pub element_instance: Option<ElementKey>,
    pub state: JobState,
    pub error_code: String,
    pub error_message: String,
    pub priority: i32,
    /// How often it was handed out.
    pub attempts: i32,
    pub retries: i32,
    /// Who had it last.
    pub worker: String,
    pub created: Millis,
    /// Since when.
    pub failed: Millis,
    /// Of an execution, a JSON object.
    pub input: Option<String>,
    /// A JSON object.
    pub group: Option<String>,
    /// Likewise.
    pub progress: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct BatchView {
    pub key: u64,
    pub tenant: String,
    pub kind: String,
    pub state: BatchState,
    pub actor: String,
    pub started: Option<Millis>,
    pub ended: Option<Millis>,
    pub total: u64,
    pub completed: u64,
    pub failed: u64,
    pub error: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct BatchItemView {
    pub key: u64,
    pub batch: u64,
    pub item: u64,
    pub tenant: String,
    pub kind: String,
    pub instance: Option<InstanceKey>,
    pub root: Option<InstanceKey>,
    pub state: ItemState,
    pub processed: Option<Millis>,
    pub error: Option<String>,
}

/// Something in the audit trail.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditView {
    pub key: u64,
    pub at: Millis,
    pub actor: Option<String>,
    pub operation: Operation,
    pub entity: AuditEntity,
    pub entity_key: String,
    pub tenant: String,
    pub definition: Option<DefinitionKey>,
    pub process_id: Option<String>,
    pub instance: Option<InstanceKey>,
    pub root: Option<InstanceKey>,
    pub element_instance: Option<ElementKey>,
    pub job: Option<JobKey>,
    pub job_type: Option<String>,
    pub worker: Option<String>,
    pub user_task: Option<UserTaskKey>,
    pub deployment: Option<u64>,
    pub resource: Option<u64>,
    pub form: Option<FormKey>,
    pub requirements: Option<RequirementsKey>,
    pub requirements_id: Option<String>,
    pub decision: Option<DecisionKey>,
    pub decision_id: Option<String>,
    pub batch: Option<u64>,
    pub description: Option<String>,
}
