//! The audit trail.

use engine::PartitionId;
use rusqlite::{Connection, params};
use store::row::Audit;

use crate::failure::Failure;
use crate::statement;

pub(super) fn insert(connection: &Connection, partition: PartitionId, rows: &[Audit]) -> Result<(), Failure> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut insert = connection.prepare_cached(statement::INSERT_AUDIT)?;
    for row in rows {
        insert.execute(params![
            partition.0,
            row.key as i64,
            row.at,
            row.actor,
            row.operation.word(),
            row.entity.word(),
            row.entity_key,
            row.tenant,
            row.definition.map(|key| key.0 as i64),
            row.instance.map(|key| key.0 as i64),
            row.element_instance.map(|key| key.0 as i64),
            row.job.map(|key| key.0 as i64),
            row.job_type,
            row.worker,
            row.dispatched,
            row.user_task.map(|key| key.0 as i64),
            row.deployment.map(|key| key as i64),
            row.resource.map(|key| key as i64),
            row.form.map(|key| key.0 as i64),
            row.requirements.map(|key| key.0 as i64),
            row.decision.map(|key| key.0 as i64),
            row.decision_id,
            row.batch.map(|key| key as i64),
            row.description,
        ])?;
    }
    Ok(())
}
