//! The audit trail, as columns of a statement.

use store::Commit;

use super::batches::batch;
use crate::call::Call;

pub(super) fn of_changes(commit: &Commit) -> Option<Call<'_>> {
    batch(commit, include_str!("../../sql/insert_audit.sql"), &commit.changes.audit_new, |call, rows| {
        call.keys(rows.iter().map(|row| row.key))
            .ints(rows.iter().map(|row| row.at))
            .texts_opt(rows.iter().map(|row| row.actor.as_deref()))
            .texts(rows.iter().map(|row| row.operation.word()))
            .texts(rows.iter().map(|row| row.entity.word()))
            .texts(rows.iter().map(|row| &*row.entity_key))
            .texts(rows.iter().map(|row| &*row.tenant))
            .keys_opt(rows.iter().map(|row| row.definition.map(|key| key.0)))
            .keys_opt(rows.iter().map(|row| row.instance.map(|key| key.0)))
            .keys_opt(rows.iter().map(|row| row.element_instance.map(|key| key.0)))
            .keys_opt(rows.iter().map(|row| row.job.map(|key| key.0)))
            .texts_opt(rows.iter().map(|row| row.job_type.as_deref()))
            .texts_opt(rows.iter().map(|row| row.worker.as_deref()))
            .ints_opt(rows.iter().map(|row| row.dispatched))
            .keys_opt(rows.iter().map(|row| row.user_task.map(|key| key.0)))
            .keys_opt(rows.iter().map(|row| row.deployment))
            .keys_opt(rows.iter().map(|row| row.resource))
            .keys_opt(rows.iter().map(|row| row.form.map(|key| key.0)))
            .keys_opt(rows.iter().map(|row| row.requirements.map(|key| key.0)))
            .keys_opt(rows.iter().map(|row| row.decision.map(|key| key.0)))
            .texts_opt(rows.iter().map(|row| row.decision_id.as_deref()))
            .keys_opt(rows.iter().map(|row| row.batch))
            .texts_opt(rows.iter().map(|row| row.description.as_deref()))
    })
}
