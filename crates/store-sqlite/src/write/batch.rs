//! Operations over many with their items, and instances that are deleted.

use engine::{InstanceKey, PartitionId};
use rusqlite::{Connection, params};
use store::row::{Batch, BatchItem};
use store::{BatchItemChange, Changes, format, words};

use crate::failure::Failure;
use crate::statement;

pub(super) fn write(connection: &Connection, partition: PartitionId, changes: &Changes) -> Result<(), Failure> {
    changes.batches_put.iter().try_for_each(|row| put(connection, partition, row))?;
    changes.batch_items_new.iter().try_for_each(|row| insert_item(connection, partition, row))?;
    for BatchItemChange { key, state, processed, error } in &changes.batch_items_changed {
        let row = params![partition.0, *key as i64, state.word(), processed, error];
        connection.prepare_cached(statement::CHANGE_BATCH_ITEM)?.execute(row)?;
    }
    changes.instances_deleted.iter().try_for_each(|key| delete(connection, partition, *key))
}

fn put(connection: &Connection, partition: PartitionId, row: &Batch) -> Result<(), Failure> {
    connection.prepare_cached(statement::PUT_BATCH)?.execute(params![
        partition.0,
        row.key as i64,
        row.tenant,
        row.asked.work.word(),
        row.state.word(),
        row.actor,
        row.started,
        row.ended,
        row.due,
        row.total as i64,
        row.completed as i64,
        row.failed as i64,
        row.after.map(|after| after as i64),
        format::encode_asked(&row.asked),
        row.error,
    ])?;
    Ok(())
}

fn insert_item(connection: &Connection, partition: PartitionId, row: &BatchItem) -> Result<(), Failure> {
    connection.prepare_cached(statement::INSERT_BATCH_ITEM)?.execute(params![
        partition.0,
        row.key as i64,
        row.batch as i64,
        row.item as i64,
        row.tenant,
        row.kind,
        row.instance.map(|key| key.0 as i64),
        row.root.map(|key| key.0 as i64),
        row.state.word(),
        row.processed,
        row.error,
    ])?;
    Ok(())
}

/// A finished instance with those it called, as far as they have finished.
fn delete(connection: &Connection, partition: PartitionId, key: InstanceKey) -> Result<(), Failure> {
    let mut select = connection.prepare_cached(statement::FINISHED_TREE)?;
    let doomed = select.query_map(params![partition.0, key.0 as i64], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let doomed: Vec<(i64, String)> = doomed.collect::<Result<_, _>>()?;
    for (key, tags) in doomed {
        for tag in words::tags_from_text(&tags) {
            connection.prepare_cached(statement::DELETE_INSTANCE_TAG)?.execute(params![partition.0, tag, key])?;
        }
        for sql in OF_INSTANCE {
            connection.prepare_cached(sql)?.execute(params![partition.0, key])?;
        }
    }
    Ok(())
}

/// Candidates before their tasks, everything before the instance itself.
const OF_INSTANCE: [&str; 11] = [
    statement::DELETE_CANDIDATES_OF_INSTANCE,
    statement::DELETE_USER_TASKS_OF_INSTANCE,
    statement::DELETE_ELEMENTS_OF_INSTANCE,
    statement::DELETE_VARIABLES_OF_INSTANCE,
    statement::DELETE_JOBS_OF_INSTANCE,
    statement::DELETE_INCIDENTS_OF_INSTANCE,
    statement::DELETE_TIMERS_OF_INSTANCE,
    statement::DELETE_SUBSCRIPTIONS_OF_INSTANCE,
    statement::DELETE_MESSAGE_CORRELATIONS_OF_INSTANCE,
    statement::DELETE_EVALUATED_DECISIONS_OF_INSTANCE,
    statement::DELETE_INSTANCE,
];
