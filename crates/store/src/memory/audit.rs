//! The audit trail: what was written for it, and what the rows of jobs say of their last try.

use std::sync::Arc;

use super::database::Tables;
use super::field::{Row, definition, int, key, text};
use crate::query::{AuditView, Field, Scalar};
use crate::row::{Audit, AuditEntity, ENDED, Job, JobState, Operation};

/// One thing that happened.
#[derive(Clone, Copy)]
pub(super) enum Happened<'a> {
    Written(&'a Audit),
    /// The beginning of a try whose end was written.
    Tried(&'a Audit),
    Dispatched(&'a Job),
    Ended(&'a Job),
}

pub(super) fn operations(tables: &Tables) -> impl Iterator<Item = Row<'_>> {
    tables.audit.values().map(|row| Row::Audit(Happened::Written(row)))
}

pub(super) fn trail(tables: &Tables) -> impl Iterator<Item = Row<'_>> {
    let tried = tables.audit.values().filter(|row| row.dispatched.is_some()).map(|row| Row::Audit(Happened::Tried(row)));
    let dispatched = tables.jobs.values().filter(|job| job.dispatched.is_some());
    let ended = tables.jobs.values().filter(|job| {
        let counts = job.state == JobState::Completed || (job.state == JobState::Cancelled && job.origin.is_some());
        job.ended.is_some() && counts
    });
    let of_jobs = dispatched.map(|job| Row::Audit(Happened::Dispatched(job)));
    operations(tables).chain(tried).chain(of_jobs).chain(ended.map(|job| Row::Audit(Happened::Ended(job))))
}

impl Happened<'_> {
    /// As a row of its own.
    pub(super) fn row(self) -> Audit {
        match self {
            Self::Written(row) => row.clone(),
            Self::Tried(row) => Audit {
                at: row.dispatched.unwrap_or_default(),
                definition: row.definition,
                instance: row.instance,
                element_instance: row.element_instance,
                job: row.job,
                job_type: row.job_type.clone(),
                worker: row.worker.clone(),
                ..Audit::of(row.key - 1, 0, Operation::Dispatch, row.entity, row.entity_key.clone(), row.tenant.clone())
            },
            Self::Dispatched(job) => of_job(job, job.key.0, job.dispatched, Operation::Dispatch),
            Self::Ended(job) => {
                let operation = if job.state == JobState::Completed { Operation::Complete } else { Operation::Cancel };
                of_job(job, job.key.0 + ENDED, job.ended, operation)
            }
        }
    }
}

fn of_job(job: &Job, key: u64, at: Option<i64>, operation: Operation) -> Audit {
    let own: Arc<str> = job.key.to_string().into();
    Audit {
        definition: job.origin.map(|origin| origin.definition),
        instance: job.origin.map(|origin| origin.instance),
        element_instance: job.origin.map(|origin| origin.element_instance),
        job: Some(job.key),
        job_type: Some(job.job_type.clone()),
        worker: Some(job.worker.clone()),
        ..Audit::of(key, at.unwrap_or_default(), operation, AuditEntity::Job, own, job.tenant.clone())
    }
}

pub(super) fn value(tables: &Tables, row: &Audit, field: Field) -> Option<Scalar> {
    match field {
        Field::AuditKey => key(row.key),
        Field::At => int(row.at),
        Field::Actor => text(row.actor.as_ref()?),
        Field::ActorKind => text(if row.actor.is_some() { "USER" } else { "ANONYMOUS" }),
        Field::Operation => text(row.operation.word()),
        Field::AuditEntity => text(row.entity.word()),
        Field::EntityKey => text(&row.entity_key),
        Field::Category => text(row.entity.category()),
        Field::Tenant => text(&row.tenant),
        Field::DefinitionKey => key(row.definition?.0),
        Field::ProcessId => text(&definition(tables, row.definition?)?.process_id),
        Field::InstanceKey => key(row.instance?.0),
        Field::ElementKey => key(row.element_instance?.0),
        Field::JobKey => key(row.job?.0),
        Field::JobType => text(row.job_type.as_ref()?),
        Field::Worker => text(row.worker.as_ref()?),
        Field::UserTaskKey => key(row.user_task?.0),
        Field::DeploymentKey => key(row.deployment?),
        Field::ResourceKey => key(row.resource?),
        Field::FormKey => key(row.form?.0),
        Field::RequirementsKey => key(row.requirements?.0),
        Field::RequirementsId => text(&tables.requirements.get(&row.requirements?)?.id),
        Field::DecisionKey => key(row.decision?.0),
        Field::DecisionId => text(row.decision_id.as_ref()?),
        Field::BatchKey => key(row.batch?),
        Field::Description => text(row.description.as_ref()?),
        _ => None,
    }
}

pub(super) fn view(tables: &Tables, row: &Audit) -> AuditView {
    let maybe = |text: &Option<Arc<str>>| text.as_deref().map(str::to_owned);
    AuditView {
        key: row.key,
        at: row.at,
        actor: maybe(&row.actor),
        operation: row.operation,
        entity: row.entity,
        entity_key: row.entity_key.to_string(),
        tenant: row.tenant.to_string(),
        definition: row.definition,
        process_id: row.definition.and_then(|key| definition(tables, key)).map(|one| one.process_id.to_string()),
        instance: row.instance,
        root: row.instance.and_then(|key| tables.instances.get(&key)).map(|instance| instance.root),
        element_instance: row.element_instance,
        job: row.job,
        job_type: maybe(&row.job_type),
        worker: maybe(&row.worker),
        user_task: row.user_task,
        deployment: row.deployment,
        resource: row.resource,
        form: row.form,
        requirements: row.requirements,
        requirements_id: row.requirements.and_then(|key| tables.requirements.get(&key)).map(|one| one.id.to_string()),
        decision: row.decision,
        decision_id: maybe(&row.decision_id),
        batch: row.batch,
        description: maybe(&row.description),
    }
}
