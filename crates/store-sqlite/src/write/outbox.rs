//! What is to be announced through a broker.

use engine::PartitionId;
use rusqlite::{Connection, params};
use store::Changes;

use crate::failure::Failure;
use crate::statement;

pub(super) fn write(connection: &Connection, partition: PartitionId, changes: &Changes) -> Result<(), Failure> {
    for row in &changes.announcements_new {
        connection.prepare_cached(statement::INSERT_ANNOUNCEMENT)?.execute(params![
            partition.0,
            row.key.0 as i64,
            row.job.0 as i64,
            row.instance.0 as i64,
            row.element_instance.0 as i64,
            row.job_type,
            row.tenant,
            row.retries,
            row.created,
            row.payload,
            row.lease,
            row.element_id,
            row.progress,
            row.trace,
        ])?;
    }
    for key in &changes.announcements_gone {
        connection.prepare_cached(statement::DELETE_ANNOUNCEMENT)?.execute(params![partition.0, key.0 as i64])?;
    }
    Ok(())
}
