//! Work that belongs to no process, and policies of queues.

use engine::PartitionId;
use rusqlite::{Connection, params};
use store::row::{Execution, Job, Unique};

use store::{Changes, format};

use crate::failure::Failure;
use crate::statement;

pub(super) fn write(connection: &Connection, partition: PartitionId, changes: &Changes) -> Result<(), Failure> {
    insert(connection, partition, &changes.executions_new)?;
    change(connection, partition, &changes.executions_changed)?;
    keep_leases(connection, partition, changes)?;
    for row in &changes.policies_new {
        let policy = format::encode_policy(row.policy.as_ref());
        let row = params![partition.0, row.reference, row.version, policy, row.changed, row.changed_by];
        connection.prepare_cached(statement::INSERT_POLICY)?.execute(row)?;
    }
    for row in &changes.listeners_new {
        let row = params![partition.0, row.version, format::encode_listeners(&row.listeners), row.changed, row.changed_by];
        connection.prepare_cached(statement::INSERT_GLOBAL_LISTENERS)?.execute(row)?;
    }
    for row in &changes.paces_put {
        let starts = format::encode_starts(&row.starts);
        let row = params![partition.0, row.job_type, row.tenant, row.bucket, starts, row.until];
        connection.prepare_cached(statement::PUT_PACE)?.execute(row)?;
    }
    Ok(())
}

fn insert(connection: &Connection, partition: PartitionId, rows: &[Job]) -> Result<(), Failure> {
    let whole: Vec<_> = rows.iter().filter_map(whole).collect();
    statement::INSERT_EXECUTION.all(connection, &whole, |(row, execution), values| {
        let unique = execution.unique.as_ref();
        values.put(params![
            partition.0,
            row.key.0 as i64,
            row.job_type,
            row.tenant,
            row.priority,
            row.state.word(),
            row.availability.word(),
            row.due(),
            row.retries,
            row.worker,
            row.deadline,
            row.error_code,
            row.error_message,
            row.failed_with_retries_left,
            row.created,
            row.updated,
            row.ended,
            row.group,
            execution.input,
            execution.result,
            execution.attempts,
            execution.started,
            unique.map(|unique: &Unique| &unique.key),
            unique.and_then(|unique| unique.until),
            row.dispatched,
            row.headers,
        ])
    })
}

fn change(connection: &Connection, partition: PartitionId, rows: &[Job]) -> Result<(), Failure> {
    let mut update = connection.prepare_cached(statement::CHANGE_EXECUTION)?;
    for (row, execution) in rows.iter().filter_map(whole) {
        update.execute(params![
            partition.0,
            row.key.0 as i64,
            row.priority,
            row.state.word(),
            row.availability.word(),
            row.due(),
            row.retries,
            row.worker,
            row.deadline,
            row.error_code,
            row.error_message,
            row.failed_with_retries_left,
            row.updated,
            row.ended,
            execution.result,
            execution.attempts,
            execution.started,
            row.dispatched,
        ])?;
    }
    Ok(())
}

/// After the rows themselves: few jobs have it.
fn keep_leases(connection: &Connection, partition: PartitionId, changes: &Changes) -> Result<(), Failure> {
    for row in changes.jobs_written() {
        let Some((leases, progress)) = row.extras() else { continue };
        let params = params![partition.0, row.key.0 as i64, leases, progress];
        connection.prepare_cached(statement::KEEP_LEASE)?.execute(params)?;
    }
    Ok(())
}

fn whole(row: &Job) -> Option<(&Job, &Execution)> {
    row.execution.as_deref().map(|execution| (row, execution))
}
