//! The value of a field in a row.

use engine::{DefinitionKey, InstanceKey};
use model::ElementIx;

use super::audit::{self, Happened};
use super::database::Tables;
use crate::query::{Field, Scalar, VALUE_CHARS_SHOWN};
use crate::row::{
    Batch, BatchItem, Correlation, Decision, DecisionRequirements, Definition, DefinitionElement, Element, EvaluatedDecision,
    Incident, Instance, Job, JobState, Subscription, Timer, UserTask, Variable,
};
use crate::words;

#[derive(Clone, Copy)]
pub(super) enum Row<'a> {
    Definition(&'a Definition),
    Instance(&'a Instance),
    Element(&'a Element),
    Variable(&'a Variable),
    Job(&'a Job),
    Incident(&'a Incident),
    Requirements(&'a DecisionRequirements),
    Decision(&'a DecisionRequirements, &'a Decision),
    EvaluatedDecision(&'a EvaluatedDecision),
    Timer(&'a Timer),
    Subscription(&'a Subscription),
    MessageCorrelation(&'a Correlation),
    UserTask(&'a UserTask),
    Execution(&'a Job),
    Batch(&'a Batch),
    BatchItem(&'a BatchItem),
    Audit(Happened<'a>),
    DeadLetter(&'a Job),
}

impl Row<'_> {
    /// The instance it belongs to.
    pub(super) fn instance(self) -> Option<InstanceKey> {
        match self {
            Self::Definition(_) | Self::Instance(_) | Self::Requirements(_) | Self::Decision(..) => None,
            Self::Execution(_) | Self::DeadLetter(_) => None,
            Self::Batch(_) => None,
            Self::BatchItem(row) => row.instance,
            Self::Element(row) => Some(row.instance),
            Self::Variable(row) => Some(row.instance),
            Self::Job(row) => Some(row.origin?.instance),
            Self::Incident(row) => Some(row.instance),
            Self::EvaluatedDecision(row) => Some(row.origin?.instance),
            Self::Timer(row) => Some(row.origin?.instance),
            Self::Subscription(row) => Some(row.origin?.instance),
            Self::MessageCorrelation(row) => Some(row.instance),
            Self::UserTask(row) => Some(row.instance),
            Self::Audit(row) => row.row().instance,
        }
    }
}

/// `None` where there is no value, and for fields the entity does not have.
pub(super) fn value(tables: &Tables, row: Row<'_>, field: Field) -> Option<Scalar> {
    match row {
        Row::Definition(row) => of_definition(row, field),
        Row::Instance(row) => of_instance(tables, row, field),
        Row::Element(row) => of_element(tables, row, field),
        Row::Variable(row) => of_variable(tables, row, field),
        Row::Job(row) => of_job(tables, row, field),
        Row::Incident(row) => of_incident(tables, row, field),
        Row::Requirements(row) => of_requirements(row, field),
        Row::Decision(requirements, row) => of_decision(requirements, row, field),
        Row::EvaluatedDecision(row) => of_evaluated_decision(row, field),
        Row::Timer(row) => of_timer(tables, row, field),
        Row::Subscription(row) => of_subscription(tables, row, field),
        Row::MessageCorrelation(row) => of_correlation(tables, row, field),
        Row::UserTask(row) => of_user_task(tables, row, field),
        Row::Execution(row) => of_execution(row, field),
        Row::Batch(row) => of_batch(row, field),
        Row::BatchItem(row) => of_batch_item(row, field),
        Row::Audit(row) => audit::value(tables, &row.row(), field),
        Row::DeadLetter(row) => of_dead_letter(row, field),
    }
}

fn of_definition(row: &Definition, field: Field) -> Option<Scalar> {
    match field {
        Field::DefinitionKey => key(row.key.0),
        Field::ProcessId => text(&row.process_id),
        Field::DefinitionName => text(row.name.as_ref()?),
        Field::Version => int(row.version),
        Field::VersionTag => text(row.version_tag.as_ref()?),
        Field::ResourceName => text(&row.resource_name),
        Field::Tenant => text(&row.tenant),
        Field::DeploymentKey => key(row.deployment),
        Field::DefinitionState => text(if row.deleted { "DELETED" } else { "ACTIVE" }),
        Field::HasStartForm => Some(Scalar::Bool(row.start_form.is_some())),
        _ => None,
    }
}

fn of_instance(tables: &Tables, row: &Instance, field: Field) -> Option<Scalar> {
    match field {
        Field::InstanceKey => key(row.key.0),
        Field::InstanceState => text(row.state.word()),
        Field::Started => int(row.started),
        Field::Ended => int(row.ended?),
        Field::ParentInstanceKey => key(row.parent?.0.0),
        Field::ParentElementKey => key(row.parent?.1.0),
        Field::HasIncident => Some(Scalar::Bool(tables.stuck.contains_key(&row.key.0))),
        Field::BusinessId => text(row.business_id.as_ref()?),
        Field::DefinitionKey | Field::ProcessId | Field::DefinitionName | Field::Version | Field::VersionTag | Field::Tenant => {
            of_definition(definition(tables, row.definition)?, field)
        }
        _ => None,
    }
}

fn of_element(tables: &Tables, row: &Element, field: Field) -> Option<Scalar> {
    match field {
        Field::ElementKey => key(row.key.0),
        Field::InstanceKey => key(row.instance.0),
        Field::DefinitionKey | Field::ProcessId | Field::Tenant => of_definition(definition(tables, row.definition)?, field),
        Field::ElementKind if row.progress.is_some() => text(words::BODY),
        Field::ElementId | Field::ElementName | Field::ElementKind => {
            of_definition_element(element(tables, row.definition, row.element)?, field)
        }
        Field::ElementState => text(row.state.word()),
        Field::ScopeKey => key(row.scope.0),
        Field::Started => int(row.started),
        Field::Ended => int(row.ended?),
        Field::HasIncident => Some(Scalar::Bool(tables.stuck.contains_key(&row.key.0))),
        Field::IncidentKey => key(row.incident?.0),
        _ => None,
    }
}

fn of_variable(tables: &Tables, row: &Variable, field: Field) -> Option<Scalar> {
    match field {
        Field::VariableKey => key(row.key.0),
        Field::InstanceKey => key(row.instance.0),
        Field::ScopeKey => key(row.scope.0),
        Field::Tenant => of_definition(definition(tables, row.definition)?, field),
        Field::Name => text(&row.name),
        Field::Value => text(&row.value),
        Field::IsTruncated => Some(Scalar::Bool(VALUE_CHARS_SHOWN < row.value.chars().count())),
        _ => None,
    }
}

fn of_job(tables: &Tables, row: &Job, field: Field) -> Option<Scalar> {
    match field {
        Field::JobKey => key(row.key.0),
        Field::JobType => text(&row.job_type),
        Field::JobState => text(row.state.word()),
        Field::InstanceKey => key(row.origin?.instance.0),
        Field::DefinitionKey | Field::ProcessId => of_definition(definition(tables, row.origin?.definition)?, field),
        Field::Tenant => text(&row.tenant),
        Field::ElementId => of_definition_element(element(tables, row.origin?.definition, row.origin?.element)?, field),
        Field::ElementKey => key(row.origin?.element_instance.0),
        Field::Retries => int(row.retries),
        Field::Worker => text(&row.worker),
        Field::Deadline => int(row.deadline?),
        Field::ErrorCode => text(&row.error_code),
        Field::ErrorMessage => text(&row.error_message),
        Field::FailedWithRetriesLeft => Some(Scalar::Bool(row.failed_with_retries_left)),
        Field::JobKind => text(row.kind.word()),
        Field::ListenerEvent => text(row.kind.event_word()),
        Field::IsDenied if row.state == JobState::Completed => Some(Scalar::Bool(row.denied.is_some())),
        Field::DeniedReason if row.state == JobState::Completed => text(row.denied.as_deref().unwrap_or_default()),
        Field::Created => int(row.created),
        Field::Updated => int(row.updated),
        Field::Ended => int(row.ended?),
        _ => None,
    }
}

fn of_batch(row: &Batch, field: Field) -> Option<Scalar> {
    match field {
        Field::BatchKey => key(row.key),
        Field::BatchKind => text(row.asked.work.word()),
        Field::BatchState => text(row.state.word()),
        Field::Tenant => text(&row.tenant),
        Field::Actor => text(&row.actor),
        Field::Started => int(row.started?),
        Field::Ended => int(row.ended?),
        _ => None,
    }
}

fn of_batch_item(row: &BatchItem, field: Field) -> Option<Scalar> {
    match field {
        Field::BatchItemKey => key(row.key),
        Field::BatchKey => key(row.batch),
        Field::ItemKey => key(row.item),
        Field::BatchKind => text(&row.kind),
        Field::Tenant => text(&row.tenant),
        Field::InstanceKey => key(row.instance?.0),
        Field::ItemState => text(row.state.word()),
        Field::Processed => int(row.processed?),
        _ => None,
    }
}

fn of_dead_letter(row: &Job, field: Field) -> Option<Scalar> {
    match field {
        Field::ExecutionKey => key(row.key.0),
        Field::JobType => text(&row.job_type),
        Field::JobState => text(row.state.word()),
        Field::Tenant => text(&row.tenant),
        Field::InstanceKey => key(row.origin?.instance.0),
        Field::Priority => int(row.priority),
        Field::Retries => int(row.retries),
        Field::Worker => text(&row.worker),
        Field::ErrorCode => text(&row.error_code),
        Field::ErrorMessage => text(&row.error_message),
        Field::Created => int(row.created),
        Field::Updated => int(row.updated),
        _ => None,
    }
}

fn of_execution(row: &Job, field: Field) -> Option<Scalar> {
    let execution = row.execution.as_deref()?;
    match field {
        Field::ExecutionKey => key(row.key.0),
        Field::ExecutionState => text(row.execution_state().word()),
        Field::JobType => text(&row.job_type),
        Field::Tenant => text(&row.tenant),
        Field::Priority => int(row.priority),
        Field::Retries => int(row.retries),
        Field::Attempts => int(execution.attempts),
        Field::Worker => text(&row.worker),
        Field::ErrorCode => text(&row.error_code),
        Field::ErrorMessage => text(&row.error_message),
        Field::UniqueKey => text(&execution.unique.as_ref()?.key),
        Field::Group => text(row.group.as_ref()?),
        Field::Created => int(row.created),
        Field::Started => int(execution.started?),
        Field::Ended => int(row.ended?),
        _ => None,
    }
}

fn of_incident(tables: &Tables, row: &Incident, field: Field) -> Option<Scalar> {
    match field {
        Field::IncidentKey => key(row.key.0),
        Field::IncidentKind => text(words::incident_kind_word(row.kind)),
        Field::IncidentState => text(if row.resolved.is_some() { "RESOLVED" } else { "ACTIVE" }),
        Field::ErrorMessage => text(&row.message),
        Field::MessageHash => int(words::message_hash(&row.message)),
        Field::InstanceKey => key(row.instance.0),
        Field::DefinitionKey | Field::ProcessId | Field::Tenant => of_definition(definition(tables, row.definition)?, field),
        Field::ElementId => of_definition_element(element(tables, row.definition, row.element)?, field),
        Field::ElementKey => key(row.element_instance.0),
        Field::JobKey => key(row.job?.0),
        Field::Created => int(row.created),
        _ => None,
    }
}

fn of_requirements(row: &DecisionRequirements, field: Field) -> Option<Scalar> {
    match field {
        Field::RequirementsKey => key(row.key.0),
        Field::RequirementsId => text(&row.id),
        Field::RequirementsName => text(&row.name),
        Field::RequirementsVersion => int(row.version),
        Field::ResourceName => text(&row.resource_name),
        Field::DeploymentKey => key(row.deployment),
        Field::Tenant => text(&row.tenant),
        Field::DefinitionState => text(if row.deleted { "DELETED" } else { "ACTIVE" }),
        _ => None,
    }
}

fn of_decision(requirements: &DecisionRequirements, row: &Decision, field: Field) -> Option<Scalar> {
    match field {
        Field::DecisionKey => key(row.key.0),
        Field::DecisionId => text(&row.id),
        Field::DecisionName => text(&row.name),
        Field::Version => int(row.version),
        Field::VersionTag => text(row.version_tag.as_ref()?),
        _ => of_requirements(requirements, field),
    }
}

fn of_evaluated_decision(row: &EvaluatedDecision, field: Field) -> Option<Scalar> {
    match field {
        Field::EvaluatedKey => key(row.key()),
        Field::EvaluatedId => text(&format!("{}-{}", row.evaluation, row.place)),
        Field::EvaluationKey => key(row.evaluation.0),
        Field::DecisionKey => key(row.decision?.0),
        Field::DecisionId => text(&row.decision_id),
        Field::DecisionName => text(&row.name),
        Field::Version => int(row.version?),
        Field::DecisionKind => text(&row.kind),
        Field::RootDecisionKey => key(row.root_decision.0),
        Field::RequirementsKey => key(row.requirements.0),
        Field::Tenant => text(&row.tenant),
        Field::Evaluated => int(row.evaluated),
        Field::InstanceKey => key(row.origin?.instance.0),
        Field::DefinitionKey => key(row.origin?.definition.0),
        Field::ElementKey => key(row.origin?.element_instance.0),
        _ => None,
    }
}

fn of_timer(tables: &Tables, row: &Timer, field: Field) -> Option<Scalar> {
    match field {
        Field::TimerKey => key(row.key.0),
        Field::DefinitionKey => key(row.definition.0),
        Field::ProcessId => of_definition(definition(tables, row.definition)?, field),
        Field::Tenant => text(&row.tenant),
        Field::InstanceKey => key(row.origin?.instance.0),
        Field::ElementId => of_definition_element(element(tables, row.definition, row.element)?, field),
        Field::ElementKey => key(row.origin?.element_instance.0),
        Field::TimerKind => text(words::timer_kind_word(row.kind)),
        Field::TimerState => text(row.state.word()),
        Field::Due => int(row.due),
        Field::Number => int(row.number),
        Field::Created => int(row.created),
        Field::Ended => int(row.ended?),
        _ => None,
    }
}

fn of_subscription(tables: &Tables, row: &Subscription, field: Field) -> Option<Scalar> {
    match field {
        Field::SubscriptionKey => key(row.key.0),
        Field::SubscriptionKind => text(row.kind.word()),
        Field::DefinitionKey => key(row.definition.0),
        Field::ProcessId => text(&row.process_id),
        Field::Tenant => text(&row.tenant),
        Field::InstanceKey => key(row.origin?.instance.0),
        Field::ElementId => of_definition_element(element(tables, row.definition, row.element)?, field),
        Field::ElementKey => key(row.origin?.element_instance.0),
        Field::SubscriptionState => text(row.state.shown(row.created, row.updated).word()),
        Field::MessageName => text(&row.name),
        Field::CorrelationKey => text(&row.correlation_key),
        Field::Created => int(row.created),
        Field::Updated => int(row.updated),
        _ => None,
    }
}

fn of_correlation(tables: &Tables, row: &Correlation, field: Field) -> Option<Scalar> {
    match field {
        Field::CorrelatedKey => key(row.key),
        Field::MessageKey => key(row.message),
        Field::SubscriptionKey => key(row.subscription.0),
        Field::DefinitionKey => key(row.definition.0),
        Field::ProcessId => text(&row.process_id),
        Field::Tenant => text(&row.tenant),
        Field::InstanceKey => key(row.instance.0),
        Field::ElementId => of_definition_element(element(tables, row.definition, row.element)?, field),
        Field::ElementKey => key(row.element_instance?.0),
        Field::MessageName => text(&row.name),
        Field::CorrelationKey => text(&row.correlation_key),
        Field::Correlated => int(row.at),
        _ => None,
    }
}

fn of_user_task(tables: &Tables, row: &UserTask, field: Field) -> Option<Scalar> {
    match field {
        Field::UserTaskKey => key(row.key.0),
        Field::UserTaskState => text(row.state.word()),
        Field::Assignee => text(row.assignee.as_ref()?),
        Field::Priority => int(row.priority),
        Field::DefinitionKey => key(row.definition.0),
        Field::ProcessId => of_definition(definition(tables, row.definition)?, field),
        Field::Tenant => text(&row.tenant),
        Field::InstanceKey => key(row.instance.0),
        Field::ElementId => of_definition_element(element(tables, row.definition, row.element)?, field),
        // A task without a name goes by its id.
        Field::ElementName => {
            let element = element(tables, row.definition, row.element)?;
            text(element.name.as_ref().unwrap_or(&element.id))
        }
        Field::ElementKey => key(row.element_instance.0),
        Field::Due => int(row.due?),
        Field::FollowUp => int(row.follow_up?),
        Field::Created => int(row.created),
        Field::Ended => int(row.ended?),
        _ => None,
    }
}

fn of_definition_element(element: &DefinitionElement, field: Field) -> Option<Scalar> {
    match field {
        Field::ElementId => text(&element.id),
        Field::ElementName => text(element.name.as_ref()?),
        Field::ElementKind => text(&element.kind),
        _ => None,
    }
}

pub(super) fn definition(tables: &Tables, key: DefinitionKey) -> Option<&Definition> {
    tables.definitions.get(&key)
}

pub(super) fn element(tables: &Tables, key: DefinitionKey, ix: ElementIx) -> Option<&DefinitionElement> {
    definition(tables, key)?.elements.get(ix.0 as usize)
}

pub(super) fn key(key: u64) -> Option<Scalar> {
    Some(Scalar::Int(key as i64))
}

pub(super) fn int(number: impl Into<i64>) -> Option<Scalar> {
    Some(Scalar::Int(number.into()))
}

pub(super) fn text(text: &str) -> Option<Scalar> {
    Some(Scalar::Text(text.to_owned()))
}
