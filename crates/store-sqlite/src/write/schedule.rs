//! What is submitted again and again, and what has happened in queues.

use engine::PartitionId;
use rusqlite::{Connection, ToSql, params};
use store::{Changes, format};

use crate::failure::Failure;
use crate::statement;

pub(super) fn write(connection: &Connection, partition: PartitionId, changes: &Changes) -> Result<(), Failure> {
    for row in &changes.schedules_put {
        let schedule = format::encode_schedule(row);
        let key = row.key as i64;
        let row = params![partition.0, key, row.tenant, row.reference, row.action, row.cron, row.due, schedule];
        connection.prepare_cached(statement::PUT_SCHEDULE)?.execute(row)?;
    }
    for key in &changes.schedules_gone {
        connection.prepare_cached(statement::DELETE_SCHEDULE)?.execute(params![partition.0, *key as i64])?;
    }
    for row in &changes.queue_stats_put {
        let (columns, stats) = (row.columns(), format::encode_stats(&row.stats));
        let mut values: Vec<&dyn ToSql> = vec![&partition.0, &row.job_type, &row.tenant];
        values.extend(columns.iter().map(|column| column as &dyn ToSql));
        values.push(&stats);
        connection.prepare_cached(statement::PUT_QUEUE_STATS)?.execute(&*values)?;
    }
    Ok(())
}
