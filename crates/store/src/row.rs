//! What the tables hold, row by row, as plain data.
//!
//! Rows of running work are narrow: what belongs to a definition (process id, names, types, headers, tenant) is stored once with it
//! and joined when somebody reads.

mod audit;
mod batch;
mod execution;
mod listener;
mod outbox;
mod policy;
mod schedule;
mod user_task;
mod wait;

use std::sync::Arc;

use engine::{
    CompensationKey, DecisionKey, DefinitionKey, ElementKey, EvaluationKey, IncidentKey, IncidentKind, InstanceKey, JobKey,
    Phase, Progress, RequirementsKey, Token, VariableKey, WaitKey,
};
use model::{Binding, ElementIx, ListenerEvent, StartForm};

use crate::Millis;
pub use audit::{Audit, AuditEntity, ENDED, Operation};
pub use batch::{Batch, BatchItem, BatchState, ItemState};
pub use execution::{Execution, ExecutionState, Unique, UniqueHolder, UniqueName};
pub use listener::GlobalListeners;
pub use outbox::{Announcement, AnnouncementKey};
pub use policy::{PaceState, PolicyVersion};
pub use schedule::{LastOccurrence, QueueStats, Schedule};
pub use user_task::{Attributes, Candidates, Form, Transition, UserTask, UserTaskState};
pub use wait::{
    Correlation, LockName, Message, MessageLock, Signal, Subscription, SubscriptionKind, SubscriptionState, Timer, TimerKind,
    TimerState, WaitOrigin,
};

/// One version of a process definition.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    pub key: DefinitionKey,
    pub process_id: Arc<str>,
    pub version: i32,
    pub name: Option<Arc<str>>,
    pub version_tag: Option<Arc<str>>,
    pub tenant: Arc<str>,
    /// The resource it came in; several definitions may share one.
    pub resource: u64,
    pub resource_name: Arc<str>,
    pub deployment: u64,
    /// SHA-256 over name and content of the resource.
    pub checksum: Vec<u8>,
    pub deleted: bool,
    /// Element by element, in the order of the compiled process: rows of instances name elements by their place in it.
    pub elements: Vec<DefinitionElement>,
    /// The ids of its flows, likewise. Not known for those deployed before it was kept.
    pub flows: Option<Vec<Arc<str>>>,
    /// What a person is shown who starts it.
    pub start_form: Option<StartForm>,
}

impl Definition {
    /// Which version of its start form is meant; where that was deleted since, the last there was.
    pub fn start_form_among<'a>(&self, versions: &'a [Form]) -> Option<&'a Form> {
        let form = self.start_form.as_ref()?;
        let is_meant = |version: &&Form| match &form.binding {
            Binding::Latest => true,
            Binding::Deployment => version.deployment == self.deployment,
            Binding::VersionTag(tag) => version.version_tag.as_ref() == Some(tag),
        };
        let meant = || versions.iter().filter(is_meant);
        meant().rfind(|version| !version.deleted).or_else(|| meant().next_back())
    }
}

/// What a name leads to: as much of a definition as deploying and starting need to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionHead {
    pub key: DefinitionKey,
    pub version: i32,
    pub checksum: Vec<u8>,
}

/// What searches show of an element of a definition.
#[derive(Debug, Clone, PartialEq)]
pub struct DefinitionElement {
    pub id: Arc<str>,
    pub name: Option<Arc<str>>,
    /// `SERVICE_TASK` and the like.
    pub kind: Arc<str>,
    /// Static headers as a JSON object.
    pub headers: Arc<str>,
}

/// One version of a DMN file: decisions and what they require of each other.
#[derive(Debug, Clone, PartialEq)]
pub struct DecisionRequirements {
    pub key: RequirementsKey,
    pub id: Arc<str>,
    pub name: Arc<str>,
    pub version: i32,
    pub tenant: Arc<str>,
    pub resource: u64,
    pub resource_name: Arc<str>,
    pub deployment: u64,
    /// SHA-256 over name and content of the resource.
    pub checksum: Vec<u8>,
    /// Its decisions are deleted with it.
    pub deleted: bool,
    /// In the order of the file.
    pub decisions: Vec<Decision>,
}

/// One version of a decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    pub key: DecisionKey,
    pub id: Arc<str>,
    pub name: Arc<str>,
    pub version: i32,
    pub version_tag: Option<Arc<str>>,
}

/// The latest version of a decision, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LatestDecision {
    pub id: Arc<str>,
    pub tenant: Arc<str>,
    pub key: DecisionKey,
    pub requirements: RequirementsKey,
}

/// One decision that an evaluation looked at. It says by itself what it was, since a knowledge model is no decision of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct EvaluatedDecision {
    pub evaluation: EvaluationKey,
    /// From 1, required decisions first.
    pub place: u32,
    /// Absent for the function of a knowledge model, as is its version.
    pub decision: Option<DecisionKey>,
    pub decision_id: Arc<str>,
    pub name: Arc<str>,
    pub version: Option<i32>,
    /// `DECISION_TABLE`, `LITERAL_EXPRESSION`, …
    pub kind: Arc<str>,
    pub requirements: RequirementsKey,
    /// The decision that was asked for.
    pub root_decision: DecisionKey,
    pub tenant: Arc<str>,
    pub evaluated: Millis,
    /// JSON text.
    pub output: Arc<str>,
    pub inputs: Vec<EvaluatedInput>,
    pub rules: Vec<MatchedRule>,
    /// The task that asked for it, if one did.
    pub origin: Option<EvaluationOrigin>,
}

impl EvaluatedDecision {
    /// Its own key: an evaluation takes as many keys as it has decisions, the first of them for itself.
    pub fn key(&self) -> u64 {
        self.evaluation.0 + u64::from(self.place) - 1
    }
}

/// The value of an input of a decision table.
#[derive(Debug, Clone, PartialEq)]
pub struct EvaluatedInput {
    pub id: Arc<str>,
    pub name: Arc<str>,
    /// JSON text.
    pub value: Arc<str>,
}

/// A rule of a decision table that matched.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchedRule {
    pub id: Arc<str>,
    /// From 1.
    pub index: u32,
    pub outputs: Vec<EvaluatedOutput>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct EvaluatedOutput {
    pub id: Arc<str>,
    pub name: Arc<str>,
    /// JSON text.
    pub value: Arc<str>,
}

/// The task that asked for an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EvaluationOrigin {
    pub instance: InstanceKey,
    pub definition: DefinitionKey,
    pub element_instance: ElementKey,
}

/// A deployed file.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    pub key: u64,
    pub name: Arc<str>,
    pub content: Arc<[u8]>,
    pub tenant: Arc<str>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    pub key: InstanceKey,
    pub definition: DefinitionKey,
    pub state: InstanceState,
    /// Of the process itself as an element instance.
    pub phase: Phase,
    pub started: Millis,
    pub ended: Option<Millis>,
    pub parent: Option<(InstanceKey, ElementKey)>,
    pub root: InstanceKey,
    /// How many called it, one through the other: 0 for those nobody called.
    pub depth: u32,
    pub tags: Vec<Arc<str>>,
    pub business_id: Option<Arc<str>>,
}

impl Instance {
    /// One to which nothing has happened yet, called by nobody.
    pub fn begun(key: InstanceKey, definition: DefinitionKey, now: Millis) -> Instance {
        Instance {
            key,
            definition,
            state: InstanceState::Active,
            phase: Phase::Entering,
            started: now,
            ended: None,
            parent: None,
            root: key,
            depth: 0,
            tags: Vec::new(),
            business_id: None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstanceState {
    Active,
    /// It runs, and an operator has stopped it: stored as active, with when it was suspended.
    Suspended,
    Completed,
    Terminated,
}

/// An element instance other than the process itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Element {
    pub key: ElementKey,
    pub instance: InstanceKey,
    pub definition: DefinitionKey,
    pub element: ElementIx,
    pub scope: ElementKey,
    pub state: ElementState,
    pub started: Millis,
    pub ended: Option<Millis>,
    /// Its active incident.
    pub incident: Option<IncidentKey>,
    /// Of the body of a repeated activity.
    pub progress: Option<Progress>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElementState {
    Alive(Phase),
    Completed,
    Terminated,
}

/// Tokens of one flow that wait at a join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tokens {
    pub instance: InstanceKey,
    pub token: Token,
    pub count: u32,
}

/// A completed activity that its scope can undo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compensation {
    pub key: CompensationKey,
    pub instance: InstanceKey,
    pub scope: ElementKey,
    pub activity: ElementIx,
}

/// An instance that goes on with a step that took long.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    pub key: WaitKey,
    pub instance: InstanceKey,
    /// When it may.
    pub due: Millis,
    pub left: engine::Turn,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    pub key: VariableKey,
    pub instance: InstanceKey,
    pub definition: DefinitionKey,
    pub scope: ElementKey,
    pub name: Arc<str>,
    /// JSON text.
    pub value: Arc<str>,
}

/// A job. What a worker may do with it is decided by `queue`; this is its record.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    pub key: JobKey,
    /// The element instance that waits for it; absent for work that belongs to no process.
    pub origin: Option<JobOrigin>,
    pub job_type: Arc<str>,
    pub tenant: Arc<str>,
    /// Higher ones are handed out first.
    pub priority: i32,
    /// A JSON object, where they are not those of the element.
    pub headers: Option<Arc<str>>,
    pub kind: JobKind,
    /// What last happened to it, as searches show it.
    pub state: JobState,
    /// What may happen to it next.
    pub availability: Availability,
    pub retries: i32,
    /// Who has, or last had, the lease.
    pub worker: Arc<str>,
    /// When the current or last lease ends.
    pub deadline: Option<Millis>,
    pub error_code: Arc<str>,
    pub error_message: Arc<str>,
    pub failed_with_retries_left: bool,
    /// Why a listener refused, if it did.
    pub denied: Option<Arc<str>>,
    pub created: Millis,
    pub updated: Millis,
    pub ended: Option<Millis>,
    /// Which of the groups that a policy tells apart, as a JSON object.
    pub group: Option<Arc<str>>,
    /// Of work that belongs to no process.
    pub execution: Option<Box<Execution>>,
    /// When it was handed out last, unless the audit trail has it already.
    pub dispatched: Option<Millis>,
    /// How long it may be ready, where a policy says so.
    pub wait_until: Option<Millis>,
    /// The number of the current or last lease; it only grows, so it tells one worker's claim from another's.
    pub leases: u32,
    /// How far its worker has come, as a JSON object; kept for the next one.
    pub progress: Option<Arc<str>>,
}

impl Job {
    /// When something happens to it by itself.
    pub fn due(&self) -> Option<Millis> {
        match self.availability {
            Availability::Ready => self.wait_until,
            Availability::Leased
            | Availability::BackingOff { .. }
            | Availability::Held
            | Availability::Stuck
            | Availability::Done => self.availability.due(self.deadline),
        }
    }

    /// What `due` says of one that is ready.
    pub fn wait_of(availability: Availability, due: Option<Millis>) -> Option<Millis> {
        due.filter(|_| availability == Availability::Ready)
    }

    /// Whether it failed and waits for its next try.
    pub fn waits_for_retry(&self) -> bool {
        matches!(self.availability, Availability::BackingOff { .. }) && self.failed_with_retries_left
    }

    /// What is stored of leases and progress beyond the rest of the row: nothing for a job that is handed out once and says nothing, so
    /// that such a row is no longer, and costs no more, than one without them.
    pub fn extras(&self) -> Option<(u32, Option<&Arc<str>>)> {
        let is_told = self.leases != self.leases_untold() || self.progress.is_some();
        is_told.then_some((self.leases, self.progress.as_ref()))
    }

    /// How many leases there were if nothing is stored about it.
    pub fn leases_untold(&self) -> u32 {
        match &self.execution {
            Some(execution) => execution.attempts,
            None => u32::from(!self.worker.is_empty()),
        }
    }
}

/// The element instance a job belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobOrigin {
    pub instance: InstanceKey,
    pub definition: DefinitionKey,
    pub element: ElementIx,
    pub element_instance: ElementKey,
}

/// What a job is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JobKind {
    /// The element's own work.
    #[default]
    Element,
    /// To direct an ad-hoc sub-process.
    AdHoc,
    /// Somebody listens to what happens to the element.
    Listener(ListenerEvent),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobState {
    Created,
    Completed,
    Failed,
    RetriesUpdated,
    TimedOut,
    Cancelled,
    ErrorThrown,
    /// Its instance goes on as one of another definition.
    Migrated,
}

/// What may happen to a job next. `Leased` and `BackingOff` end by themselves at their time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Availability {
    /// Waits for a worker.
    Ready,
    /// A worker has it until `deadline`.
    Leased,
    /// Waits for its time, then is ready.
    BackingOff { until: Millis },
    /// Its turn came while its instance was suspended: ready when that goes on.
    Held,
    /// An incident holds it.
    Stuck,
    /// Completed, cancelled, or its error was caught.
    Done,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Incident {
    pub key: IncidentKey,
    pub instance: InstanceKey,
    pub definition: DefinitionKey,
    pub element: ElementIx,
    pub element_instance: ElementKey,
    pub job: Option<JobKey>,
    pub kind: IncidentKind,
    pub message: Arc<str>,
    pub created: Millis,
    pub resolved: Option<Millis>,
}

/// The first answer to a request with an idempotency key.
#[derive(Debug, Clone, PartialEq)]
pub struct Idempotent {
    pub tenant: Arc<str>,
    pub key: Arc<str>,
    /// Tells whether a second request with the key is the same request.
    pub fingerprint: u64,
    pub position: u64,
    /// The answer, as [`crate::format`] writes it.
    pub answer: Vec<u8>,
    pub expires: Millis,
}
