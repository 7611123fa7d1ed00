//! What is shown of executions.

use engine::{ElementKey, InstanceKey, JobKey};

use super::row::Row;
use super::{Cells, Columns};
use crate::Error;
use crate::query::ScalarKind::{Int, Text};
use crate::query::{DeadLetterView, ExecutionView};
use crate::row::{ExecutionState, JobState};
use crate::sql::column::Table::Own;

pub(super) const EXECUTION: Columns = &[
    (Own, "@.key", Int),
    (Own, "@.job_type", Text),
    (Own, "@.tenant", Text),
    (
        Own,
        "(CASE @.availability WHEN 'LEASED' THEN 'RUNNING' WHEN 'STUCK' THEN 'FAILED' WHEN 'DONE' THEN \
         (CASE @.state WHEN 'CANCELED' THEN 'CANCELLED' ELSE 'COMPLETED' END) ELSE 'WAITING' END)",
        Text,
    ),
    (Own, "@.input", Text),
    (Own, "@.result", Text),
    (Own, "@.error_code", Text),
    (Own, "@.error_message", Text),
    (Own, "@.priority", Int),
    (Own, "@.attempts", Int),
    (Own, "@.retries", Int),
    (Own, "@.worker", Text),
    (Own, "(CASE @.availability WHEN 'BACKING_OFF' THEN @.due END)", Int),
    (Own, "@.created", Int),
    (Own, "@.started", Int),
    (Own, "@.ended", Int),
    (Own, "@.unique_key", Text),
    (Own, "@.group_key", Text),
    (Own, "@.progress", Text),
];

pub(super) fn execution(row: &mut Row<'_, impl Cells>) -> Result<ExecutionView, Error> {
    Ok(ExecutionView {
        key: JobKey(row.key()?),
        action: row.text()?,
        tenant: row.text()?,
        state: ExecutionState::from_word(&row.text()?)?,
        input: row.text()?,
        result: row.text_maybe()?,
        error_code: row.text()?,
        error_message: row.text()?,
        priority: row.number()?,
        attempts: row.number()?,
        retries: row.number()?,
        worker: row.text()?,
        due: row.int_maybe()?,
        created: row.int()?,
        started: row.int_maybe()?,
        ended: row.int_maybe()?,
        unique_key: row.text_maybe()?,
        group: row.text_maybe()?,
        position: None,
        progress: row.text_maybe()?,
    })
}

pub(super) const DEAD_LETTER: Columns = &[
    (Own, "@.key", Int),
    (Own, "@.job_type", Text),
    (Own, "@.tenant", Text),
    (Own, "@.instance", Int),
    (Own, "@.element_instance", Int),
    (Own, "@.state", Text),
    (Own, "@.error_code", Text),
    (Own, "@.error_message", Text),
    (Own, "@.priority", Int),
    (Own, "coalesce(@.attempts, @.leases, (CASE WHEN @.worker = '' THEN 0 ELSE 1 END))", Int),
    (Own, "@.retries", Int),
    (Own, "@.worker", Text),
    (Own, "@.created", Int),
    (Own, "@.updated", Int),
    (Own, "@.input", Text),
    (Own, "@.group_key", Text),
    (Own, "@.progress", Text),
];

pub(super) fn dead_letter(row: &mut Row<'_, impl Cells>) -> Result<DeadLetterView, Error> {
    Ok(DeadLetterView {
        key: JobKey(row.key()?),
        action: row.text()?,
        tenant: row.text()?,
        instance: row.int_maybe()?.map(|key| InstanceKey(key as u64)),
        element_instance: row.int_maybe()?.map(|key| ElementKey(key as u64)),
        state: JobState::from_word(&row.text()?)?,
        error_code: row.text()?,
        error_message: row.text()?,
        priority: row.number()?,
        attempts: row.number()?,
        retries: row.number()?,
        worker: row.text()?,
        created: row.int()?,
        failed: row.int()?,
        input: row.text_maybe()?,
        group: row.text_maybe()?,
        progress: row.text_maybe()?,
    })
}
