//! What rows can be filtered and sorted by.

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Entity {
    Definitions,
    Instances,
    /// Neither sequence flows nor the process itself.
    Elements,
    Variables,
    Jobs,
    Incidents,
    /// DMN files.
    Requirements,
    Decisions,
    /// One for each decision that an evaluation looked at.
    EvaluatedDecisions,
    /// One for each planned firing.
    Timers,
    /// Subscriptions to messages, those of start events too.
    MessageSubscriptions,
    /// Messages, signals, conditions and called instances that are waited for.
    Waits,
    /// What was correlated to what.
    MessageCorrelations,
    /// Tasks for people.
    UserTasks,
    /// Work that belongs to no process.
    Executions,
    /// Operations over many.
    Batches,
    /// What they are about.
    BatchItems,
    /// What people did.
    Operations,
    /// The same, and what workers did with jobs.
    Audit,
    /// Jobs, of processes and of none, that nobody tries any more.
    DeadLetters,
}

/// What can be filtered and sorted by. Which entity has which is said by [`Entity::fields`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Field {
    // of the definition
    DefinitionKey,
    ProcessId,
    DefinitionName,
    Version,
    VersionTag,
    ResourceName,
    Tenant,
    /// `ACTIVE`, `DELETED`.
    DefinitionState,
    HasStartForm,
    // of the instance
    InstanceKey,
    /// `ACTIVE`, `COMPLETED`, `TERMINATED`.
    InstanceState,
    Started,
    Ended,
    ParentInstanceKey,
    ParentElementKey,
    HasIncident,
    BusinessId,
    // of the element instance
    ElementKey,
    ElementId,
    ElementName,
    ElementKind,
    /// `ACTIVE`, `COMPLETED`, `TERMINATED`.
    ElementState,
    ScopeKey,
    // of the variable
    VariableKey,
    Name,
    Value,
    IsTruncated,
    // of the job
    JobKey,
    JobType,
    /// `CREATED`, `COMPLETED`, …
    JobState,
    Retries,
    Worker,
    Deadline,
    ErrorCode,
    ErrorMessage,
    FailedWithRetriesLeft,
    /// `BPMN_ELEMENT`, `EXECUTION_LISTENER`, …
    JobKind,
    /// `START`, `ASSIGNING`, …
    ListenerEvent,
    /// Of completed jobs.
    IsDenied,
    DeniedReason,
    Created,
    Updated,
    // of the incident
    IncidentKey,
    IncidentKind,
    /// `ACTIVE`, `RESOLVED`.
    IncidentState,
    /// A hash of the message, as Java's `String.hashCode` gives it.
    MessageHash,
    // of the requirements
    RequirementsKey,
    RequirementsId,
    RequirementsName,
    RequirementsVersion,
    DeploymentKey,
    // of the decision
    DecisionKey,
    DecisionId,
    DecisionName,
    // of the evaluated decision
    EvaluatedKey,
    /// The evaluation's key and the place in it: `12-1`.
    EvaluatedId,
    EvaluationKey,
    /// `DECISION_TABLE`, `LITERAL_EXPRESSION`, …
    DecisionKind,
    RootDecisionKey,
    Evaluated,
    // of the timer
    TimerKey,
    /// `DATE`, `DURATION`, `CYCLE`.
    TimerKind,
    /// `PENDING`, `FIRED`, `CANCELED`.
    TimerState,
    Due,
    /// Which occurrence.
    Number,
    // of the subscription to a message, or to something else
    SubscriptionKey,
    /// `MESSAGE`, `SIGNAL`, `CONDITION`, `CHILD`.
    SubscriptionKind,
    /// `CREATED`, `CORRELATED`, `DELETED`.
    SubscriptionState,
    MessageName,
    CorrelationKey,
    // of the correlation
    CorrelatedKey,
    MessageKey,
    Correlated,
    // of the user task
    UserTaskKey,
    /// `CREATED`, `COMPLETED`, …
    UserTaskState,
    Assignee,
    Priority,
    FollowUp,
    // of the execution
    ExecutionKey,
    /// `WAITING`, `RUNNING`, …
    ExecutionState,
    Attempts,
    UniqueKey,
    Group,
    // of the operation over many, and of its items
    BatchKey,
    /// `CANCEL_PROCESS_INSTANCE`, …
    BatchKind,
    /// `CREATED`, `ACTIVE`, …
    BatchState,
    Actor,
    /// Of the row of an item.
    BatchItemKey,
    /// Of what the item is about.
    ItemKey,
    /// `ACTIVE`, `COMPLETED`, …
    ItemState,
    Processed,
    // of the audit trail
    AuditKey,
    At,
    /// `ANONYMOUS`, `USER`.
    ActorKind,
    /// `CREATE`, `ASSIGN`, …
    Operation,
    /// `USER_TASK`, `JOB`, …
    AuditEntity,
    EntityKey,
    /// `DEPLOYED_RESOURCES`, `USER_TASKS`, `ADMIN`.
    Category,
    ResourceKey,
    FormKey,
    Description,
}

/// What a scalar is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScalarKind {
    Bool,
    Int,
    Text,
}

impl Field {
    /// What its values are.
    #[rustfmt::skip]
    pub fn kind(self) -> ScalarKind {
        match self {
            Self::HasIncident | Self::HasStartForm | Self::IsTruncated | Self::FailedWithRetriesLeft | Self::IsDenied => ScalarKind::Bool,
            Self::DefinitionKey | Self::Version | Self::InstanceKey | Self::Started | Self::Ended | Self::ParentInstanceKey
            | Self::ParentElementKey | Self::ElementKey | Self::ScopeKey | Self::VariableKey | Self::JobKey | Self::Retries
            | Self::Deadline | Self::Created | Self::Updated | Self::IncidentKey | Self::MessageHash | Self::RequirementsKey
            | Self::RequirementsVersion | Self::DeploymentKey | Self::DecisionKey | Self::EvaluatedKey | Self::EvaluationKey
            | Self::RootDecisionKey | Self::Evaluated | Self::TimerKey | Self::Due | Self::Number | Self::SubscriptionKey
            | Self::CorrelatedKey | Self::MessageKey | Self::Correlated | Self::UserTaskKey | Self::Priority | Self::FollowUp
            | Self::ExecutionKey | Self::Attempts | Self::BatchKey | Self::BatchItemKey | Self::ItemKey
            | Self::Processed | Self::AuditKey | Self::At | Self::ResourceKey | Self::FormKey => ScalarKind::Int,
            Self::ProcessId | Self::DefinitionName | Self::VersionTag | Self::ResourceName | Self::Tenant
            | Self::DefinitionState | Self::InstanceState | Self::BusinessId | Self::ElementId | Self::ElementName
            | Self::ElementKind | Self::ElementState | Self::Name | Self::Value | Self::JobType | Self::JobState | Self::Worker
            | Self::ErrorCode | Self::ErrorMessage | Self::IncidentKind | Self::IncidentState | Self::RequirementsId
            | Self::RequirementsName | Self::DecisionId | Self::DecisionName | Self::EvaluatedId | Self::DecisionKind
            | Self::TimerKind | Self::TimerState | Self::SubscriptionKind | Self::SubscriptionState | Self::MessageName | Self::CorrelationKey
            | Self::UserTaskState | Self::Assignee | Self::JobKind | Self::ListenerEvent | Self::DeniedReason
            | Self::ExecutionState | Self::UniqueKey | Self::Group | Self::BatchKind | Self::BatchState | Self::Actor
            | Self::ItemState | Self::ActorKind | Self::Operation
            | Self::AuditEntity | Self::EntityKey | Self::Category | Self::Description => ScalarKind::Text,
        }
    }
}
