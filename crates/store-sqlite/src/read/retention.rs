//! What is old enough to go.

use engine::{InstanceKey, PartitionId};
use rusqlite::{Connection, params};
use store::Millis;
use store::retention::{Finished, FinishedAfter};

use super::load::{key_at, text_at};
use crate::failure::Failure;
use crate::statement;

pub(crate) fn finished(
    connection: &Connection,
    partition: PartitionId,
    after: FinishedAfter,
    before: Millis,
    limit: usize,
) -> Result<Vec<Finished>, Failure> {
    let mut select = connection.prepare_cached(statement::FINISHED_INSTANCES)?;
    let mut rows = select.query(params![partition.0, after.ended, after.key.0 as i64, before, limit as i64])?;
    let mut finished = Vec::new();
    while let Some(row) = rows.next()? {
        finished.push(Finished {
            key: InstanceKey(key_at(row, 0)?),
            ended: row.get(1)?,
            process_id: text_at(row, 2)?.into(),
            tenant: text_at(row, 3)?.into(),
            is_called: row.get(4)?,
        });
    }
    Ok(finished)
}

/// Of each instance with all it has called.
pub(crate) fn weights(
    connection: &Connection,
    partition: PartitionId,
    instances: &[InstanceKey],
    limit: usize,
) -> Result<Vec<usize>, Failure> {
    let mut select = connection.prepare_cached(statement::INSTANCE_WEIGHT)?;
    let weigh = |key: &InstanceKey| {
        let rows: i64 = select.query_row(params![partition.0, key.0 as i64, limit as i64], |row| row.get(0))?;
        Ok(rows as usize)
    };
    instances.iter().map(weigh).collect()
}
