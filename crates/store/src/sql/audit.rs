//! Where the audit trail is found: what was written for it, and what the rows of jobs say of their last try (ADR 31).

use super::Dialect;
use super::column::Presence::{self, Always, Maybe};
use super::column::Table::{self, Definition, Own, Requirements};
use crate::query::Field;

/// In place of a table. What restricts it restricts each of its parts.
pub(super) const TRAIL: &str = "(\
    SELECT partition, key, at, actor, operation, entity, entity_key, tenant, definition, instance, element_instance, job, job_type, \
        worker, user_task, deployment, resource, form, requirements, decision, decision_id, batch, description FROM audit \
    UNION ALL SELECT partition, key - 1, dispatched, NULL, 'DISPATCH', entity, entity_key, tenant, definition, instance, \
        element_instance, job, job_type, worker, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM audit \
        WHERE dispatched IS NOT NULL \
    UNION ALL SELECT partition, key, dispatched, NULL, 'DISPATCH', 'JOB', CAST(key AS text), tenant, definition, instance, \
        element_instance, key, job_type, worker, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM jobs \
        WHERE dispatched IS NOT NULL \
    UNION ALL SELECT partition, key + 4611686018427387904, ended, NULL, \
        CASE state WHEN 'COMPLETED' THEN 'COMPLETE' ELSE 'CANCEL' END, 'JOB', CAST(key AS text), tenant, definition, instance, \
        element_instance, key, job_type, worker, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM jobs \
        WHERE ended IS NOT NULL AND (state = 'COMPLETED' OR (state = 'CANCELED' AND instance IS NOT NULL)))";

const _: () = assert!(crate::row::ENDED == 4_611_686_018_427_387_904);

pub(super) fn place(field: Field, dialect: Dialect) -> (Table, &'static str, Presence) {
    match field {
        Field::At => (Own, "@.at", Always),
        Field::Actor => (Own, "@.actor", Maybe),
        Field::ActorKind => (Own, actor_kind(dialect), Always),
        Field::Operation => (Own, "@.operation", Always),
        Field::AuditEntity => (Own, "@.entity", Always),
        Field::EntityKey => (Own, "@.entity_key", Always),
        Field::Category => (Own, category(dialect), Always),
        Field::Tenant => (Own, "@.tenant", Always),
        Field::DefinitionKey => (Own, "@.definition", Maybe),
        Field::ProcessId => (Definition, "@.process_id", Maybe),
        Field::InstanceKey => (Own, "@.instance", Maybe),
        Field::ElementKey => (Own, "@.element_instance", Maybe),
        Field::JobKey => (Own, "@.job", Maybe),
        Field::JobType => (Own, "@.job_type", Maybe),
        Field::Worker => (Own, "@.worker", Maybe),
        Field::UserTaskKey => (Own, "@.user_task", Maybe),
        Field::DeploymentKey => (Own, "@.deployment", Maybe),
        Field::ResourceKey => (Own, "@.resource", Maybe),
        Field::FormKey => (Own, "@.form", Maybe),
        Field::RequirementsKey => (Own, "@.requirements", Maybe),
        Field::RequirementsId => (Requirements, "@.id", Maybe),
        Field::DecisionKey => (Own, "@.decision", Maybe),
        Field::DecisionId => (Own, "@.decision_id", Maybe),
        Field::BatchKey => (Own, "@.batch", Maybe),
        Field::Description => (Own, "@.description", Maybe),
        // Those are all it has; the last is its own key.
        _ => (Own, "@.key", Always),
    }
}

fn actor_kind(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => "(CASE WHEN @.actor IS NULL THEN 'ANONYMOUS' ELSE 'USER' END)",
        Dialect::Postgres => "((CASE WHEN @.actor IS NULL THEN 'ANONYMOUS' ELSE 'USER' END) COLLATE \"C\")",
    }
}

/// As [`crate::row::AuditEntity::category`] has it.
fn category(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => {
            "(CASE WHEN @.entity = 'USER_TASK' THEN 'USER_TASKS' WHEN @.entity IN ('POLICY', 'LISTENER', 'SCHEDULE') THEN 'ADMIN' \
             ELSE 'DEPLOYED_RESOURCES' END)"
        }
        Dialect::Postgres => {
            "((CASE WHEN @.entity = 'USER_TASK' THEN 'USER_TASKS' WHEN @.entity IN ('POLICY', 'LISTENER', 'SCHEDULE') THEN 'ADMIN' \
             ELSE 'DEPLOYED_RESOURCES' END) COLLATE \"C\")"
        }
    }
}
