//! Which entity has which fields.

use super::{Entity, Field};

impl Entity {
    /// The entity's own key: the last criterion of every order.
    pub fn key(self) -> Field {
        match self {
            Self::Definitions => Field::DefinitionKey,
            Self::Instances => Field::InstanceKey,
            Self::Elements => Field::ElementKey,
            Self::Variables => Field::VariableKey,
            Self::Jobs => Field::JobKey,
            Self::Incidents => Field::IncidentKey,
            Self::Requirements => Field::RequirementsKey,
            Self::Decisions => Field::DecisionKey,
            Self::EvaluatedDecisions => Field::EvaluatedKey,
            Self::Timers => Field::TimerKey,
            Self::MessageSubscriptions | Self::Waits => Field::SubscriptionKey,
            Self::MessageCorrelations => Field::CorrelatedKey,
            Self::UserTasks => Field::UserTaskKey,
            Self::Executions | Self::DeadLetters => Field::ExecutionKey,
            Self::Batches => Field::BatchKey,
            Self::BatchItems => Field::BatchItemKey,
            Self::Operations | Self::Audit => Field::AuditKey,
        }
    }

    /// What this entity can be filtered and sorted by.
    pub fn fields(self) -> &'static [Field] {
        match self {
            Self::Definitions => DEFINITION_FIELDS,
            Self::Instances => INSTANCE_FIELDS,
            Self::Elements => ELEMENT_FIELDS,
            Self::Variables => VARIABLE_FIELDS,
            Self::Jobs => JOB_FIELDS,
            Self::Incidents => INCIDENT_FIELDS,
            Self::Requirements => REQUIREMENTS_FIELDS,
            Self::Decisions => DECISION_FIELDS,
            Self::EvaluatedDecisions => EVALUATED_DECISION_FIELDS,
            Self::Timers => TIMER_FIELDS,
            Self::MessageSubscriptions => MESSAGE_SUBSCRIPTION_FIELDS,
            Self::Waits => WAIT_FIELDS,
            Self::MessageCorrelations => MESSAGE_CORRELATION_FIELDS,
            Self::UserTasks => USER_TASK_FIELDS,
            Self::Executions => EXECUTION_FIELDS,
            Self::Batches => BATCH_FIELDS,
            Self::BatchItems => BATCH_ITEM_FIELDS,
            Self::Operations | Self::Audit => AUDIT_FIELDS,
            Self::DeadLetters => DEAD_LETTER_FIELDS,
        }
    }
}

const DEFINITION_FIELDS: &[Field] = &[
    Field::DefinitionKey,
    Field::ProcessId,
    Field::DefinitionName,
    Field::Version,
    Field::VersionTag,
    Field::ResourceName,
    Field::Tenant,
    Field::DeploymentKey,
    Field::DefinitionState,
    Field::HasStartForm,
];

const INSTANCE_FIELDS: &[Field] = &[
    Field::InstanceKey,
    Field::InstanceState,
    Field::Started,
    Field::Ended,
    Field::ParentInstanceKey,
    Field::ParentElementKey,
    Field::HasIncident,
    Field::BusinessId,
    Field::DefinitionKey,
    Field::ProcessId,
    Field::DefinitionName,
    Field::Version,
    Field::VersionTag,
    Field::Tenant,
];

const ELEMENT_FIELDS: &[Field] = &[
    Field::ElementKey,
    Field::InstanceKey,
    Field::DefinitionKey,
    Field::ProcessId,
    Field::Tenant,
    Field::ElementId,
    Field::ElementName,
    Field::ElementKind,
    Field::ElementState,
    Field::ScopeKey,
    Field::Started,
    Field::Ended,
    Field::HasIncident,
    Field::IncidentKey,
];

const VARIABLE_FIELDS: &[Field] =
    &[Field::VariableKey, Field::InstanceKey, Field::ScopeKey, Field::Tenant, Field::Name, Field::Value, Field::IsTruncated];

const JOB_FIELDS: &[Field] = &[
    Field::JobKey,
    Field::JobType,
    Field::JobState,
    Field::InstanceKey,
    Field::DefinitionKey,
    Field::ProcessId,
    Field::Tenant,
    Field::ElementId,
    Field::ElementKey,
    Field::Retries,
    Field::Worker,
    Field::Deadline,
    Field::ErrorCode,
    Field::ErrorMessage,
    Field::FailedWithRetriesLeft,
    Field::JobKind,
    Field::ListenerEvent,
    Field::IsDenied,
    Field::DeniedReason,
    Field::Created,
    Field::Updated,
    Field::Ended,
];

const INCIDENT_FIELDS: &[Field] = &[
    Field::IncidentKey,
    Field::IncidentKind,
    Field::IncidentState,
    Field::ErrorMessage,
    Field::MessageHash,
    Field::InstanceKey,
    Field::DefinitionKey,
    Field::ProcessId,
    Field::Tenant,
    Field::ElementId,
    Field::ElementKey,
    Field::JobKey,
    Field::Created,
];

const REQUIREMENTS_FIELDS: &[Field] = &[
    Field::RequirementsKey,
    Field::RequirementsId,
    Field::RequirementsName,
    Field::RequirementsVersion,
    Field::ResourceName,
    Field::Tenant,
    Field::DefinitionState,
];

const DECISION_FIELDS: &[Field] = &[
    Field::DecisionKey,
    Field::DecisionId,
    Field::DecisionName,
    Field::Version,
    Field::VersionTag,
    Field::Tenant,
    Field::RequirementsKey,
    Field::RequirementsId,
    Field::RequirementsName,
    Field::RequirementsVersion,
    Field::DeploymentKey,
    Field::DefinitionState,
];

const EVALUATED_DECISION_FIELDS: &[Field] = &[
    Field::EvaluatedKey,
    Field::EvaluatedId,
    Field::EvaluationKey,
    Field::DecisionKey,
    Field::DecisionId,
    Field::DecisionName,
    Field::Version,
    Field::DecisionKind,
    Field::RootDecisionKey,
    Field::RequirementsKey,
    Field::Tenant,
    Field::Evaluated,
    Field::InstanceKey,
    Field::DefinitionKey,
    Field::ElementKey,
];

const TIMER_FIELDS: &[Field] = &[
    Field::TimerKey,
    Field::DefinitionKey,
    Field::ProcessId,
    Field::Tenant,
    Field::InstanceKey,
    Field::ElementId,
    Field::ElementKey,
    Field::TimerKind,
    Field::TimerState,
    Field::Due,
    Field::Number,
    Field::Created,
    Field::Ended,
];

const MESSAGE_SUBSCRIPTION_FIELDS: &[Field] = &[
    Field::SubscriptionKey,
    Field::DefinitionKey,
    Field::ProcessId,
    Field::Tenant,
    Field::InstanceKey,
    Field::ElementId,
    Field::ElementKey,
    Field::SubscriptionState,
    Field::MessageName,
    Field::CorrelationKey,
    Field::Created,
    Field::Updated,
];

const WAIT_FIELDS: &[Field] = &[
    Field::SubscriptionKey,
    Field::SubscriptionKind,
    Field::DefinitionKey,
    Field::ProcessId,
    Field::Tenant,
    Field::InstanceKey,
    Field::ElementId,
    Field::ElementKey,
    Field::MessageName,
    Field::CorrelationKey,
    Field::Created,
    Field::Updated,
];

const MESSAGE_CORRELATION_FIELDS: &[Field] = &[
    Field::CorrelatedKey,
    Field::MessageKey,
    Field::SubscriptionKey,
    Field::DefinitionKey,
    Field::ProcessId,
    Field::Tenant,
    Field::InstanceKey,
    Field::ElementId,
    Field::ElementKey,
    Field::MessageName,
    Field::CorrelationKey,
    Field::Correlated,
];

const USER_TASK_FIELDS: &[Field] = &[
    Field::UserTaskKey,
    Field::UserTaskState,
    Field::Assignee,
    Field::Priority,
    Field::DefinitionKey,
    Field::ProcessId,
    Field::Tenant,
    Field::InstanceKey,
    Field::ElementId,
    Field::ElementName,
    Field::ElementKey,
    Field::Due,
    Field::FollowUp,
    Field::Created,
    Field::Ended,
];

const EXECUTION_FIELDS: &[Field] = &[
    Field::ExecutionKey,
    Field::ExecutionState,
    Field::JobType,
    Field::Tenant,
    Field::Priority,
    Field::Retries,
    Field::Attempts,
    Field::Worker,
    Field::ErrorCode,
    Field::ErrorMessage,
    Field::UniqueKey,
    Field::Group,
    Field::Created,
    Field::Started,
    Field::Ended,
];

const BATCH_FIELDS: &[Field] =
    &[Field::BatchKey, Field::BatchKind, Field::BatchState, Field::Tenant, Field::Actor, Field::Started, Field::Ended];

const BATCH_ITEM_FIELDS: &[Field] = &[
    Field::BatchItemKey,
    Field::BatchKey,
    Field::ItemKey,
    Field::BatchKind,
    Field::Tenant,
    Field::InstanceKey,
    Field::ItemState,
    Field::Processed,
];

const AUDIT_FIELDS: &[Field] = &[
    Field::AuditKey,
    Field::At,
    Field::Actor,
    Field::ActorKind,
    Field::Operation,
    Field::AuditEntity,
    Field::EntityKey,
    Field::Category,
    Field::Tenant,
    Field::DefinitionKey,
    Field::ProcessId,
    Field::InstanceKey,
    Field::ElementKey,
    Field::JobKey,
    Field::JobType,
    Field::Worker,
    Field::UserTaskKey,
    Field::DeploymentKey,
    Field::ResourceKey,
    Field::FormKey,
    Field::RequirementsKey,
    Field::RequirementsId,
    Field::DecisionKey,
    Field::DecisionId,
    Field::BatchKey,
    Field::Description,
];

const DEAD_LETTER_FIELDS: &[Field] = &[
    Field::ExecutionKey,
    Field::JobType,
    Field::JobState,
    Field::Tenant,
    Field::InstanceKey,
    Field::Priority,
    Field::Retries,
    Field::Worker,
    Field::ErrorCode,
    Field::ErrorMessage,
    Field::Created,
    Field::Updated,
];
