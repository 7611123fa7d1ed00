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
    pub fn kind(self) -> ScalarKind {
        match self {
            Self::HasIncident | Self::IsTruncated | Self::FailedWithRetriesLeft => ScalarKind::Bool,
            Self::DefinitionKey
            | Self::Version
            | Self::InstanceKey
            | Self::Started
            | Self::Ended
            | Self::ParentInstanceKey
            | Self::ParentElementKey
            | Self::ElementKey
            | Self::ScopeKey
            | Self::VariableKey
            | Self::JobKey
            | Self::Retries
            | Self::Deadline
            | Self::Created
            | Self::Updated
            | Self::IncidentKey
            | Self::MessageHash
            | Self::RequirementsKey
            | Self::RequirementsVersion
            | Self::DeploymentKey
            | Self::DecisionKey
            | Self::EvaluatedKey
            | Self::EvaluationKey
            | Self::RootDecisionKey
            | Self::Evaluated => ScalarKind::Int,
            Self::ProcessId
            | Self::DefinitionName
            | Self::VersionTag
            | Self::ResourceName
            | Self::Tenant
            | Self::DefinitionState
            | Self::InstanceState
            | Self::BusinessId
            | Self::ElementId
            | Self::ElementName
            | Self::ElementKind
            | Self::ElementState
            | Self::Name
            | Self::Value
            | Self::JobType
            | Self::JobState
            | Self::Worker
            | Self::ErrorCode
            | Self::ErrorMessage
            | Self::IncidentKind
            | Self::IncidentState
            | Self::RequirementsId
            | Self::RequirementsName
            | Self::DecisionId
            | Self::DecisionName
            | Self::EvaluatedId
            | Self::DecisionKind => ScalarKind::Text,
        }
    }
}

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
    Field::DefinitionState,
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
