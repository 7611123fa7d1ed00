//! What is shown of the audit trail.

use engine::{DecisionKey, DefinitionKey, ElementKey, FormKey, InstanceKey, JobKey, RequirementsKey, UserTaskKey};

use super::row::Row;
use super::{Cells, Columns};
use crate::Error;
use crate::query::AuditView;
use crate::query::ScalarKind::{Int, Text};
use crate::row::{AuditEntity, Operation};
use crate::sql::column::Table::{Definition, Instance, Own, Requirements};

pub(super) const AUDIT: Columns = &[
    (Own, "@.key", Int),
    (Own, "@.at", Int),
    (Own, "@.actor", Text),
    (Own, "@.operation", Text),
    (Own, "@.entity", Text),
    (Own, "@.entity_key", Text),
    (Own, "@.tenant", Text),
    (Own, "@.definition", Int),
    (Definition, "@.process_id", Text),
    (Own, "@.instance", Int),
    (Instance, "@.root", Int),
    (Own, "@.element_instance", Int),
    (Own, "@.job", Int),
    (Own, "@.job_type", Text),
    (Own, "@.worker", Text),
    (Own, "@.user_task", Int),
    (Own, "@.deployment", Int),
    (Own, "@.resource", Int),
    (Own, "@.form", Int),
    (Own, "@.requirements", Int),
    (Requirements, "@.id", Text),
    (Own, "@.decision", Int),
    (Own, "@.decision_id", Text),
    (Own, "@.batch", Int),
    (Own, "@.description", Text),
];

pub(super) fn audit(row: &mut Row<'_, impl Cells>) -> Result<AuditView, Error> {
    Ok(AuditView {
        key: row.key()?,
        at: row.int()?,
        actor: row.text_maybe()?,
        operation: Operation::from_word(&row.text()?)?,
        entity: AuditEntity::from_word(&row.text()?)?,
        entity_key: row.text()?,
        tenant: row.text()?,
        definition: row.key_maybe()?.map(DefinitionKey),
        process_id: row.text_maybe()?,
        instance: row.key_maybe()?.map(InstanceKey),
        root: row.key_maybe()?.map(InstanceKey),
        element_instance: row.key_maybe()?.map(ElementKey),
        job: row.key_maybe()?.map(JobKey),
        job_type: row.text_maybe()?,
        worker: row.text_maybe()?,
        user_task: row.key_maybe()?.map(UserTaskKey),
        deployment: row.key_maybe()?,
        resource: row.key_maybe()?,
        form: row.key_maybe()?.map(FormKey),
        requirements: row.key_maybe()?.map(RequirementsKey),
        requirements_id: row.text_maybe()?,
        decision: row.key_maybe()?.map(DecisionKey),
        decision_id: row.text_maybe()?,
        batch: row.key_maybe()?,
        description: row.text_maybe()?,
    })
}
