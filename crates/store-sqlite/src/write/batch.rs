//! Operations over many with their items, and instances that are deleted.

use engine::PartitionId;
use rusqlite::{Connection, params};
use store::row::{Batch, BatchItem};
use store::{BatchItemChange, Changes, format};

use super::retention::delete_instance;
use crate::failure::Failure;
use crate::statement;

pub(super) fn write(connection: &Connection, partition: PartitionId, changes: &Changes) -> Result<(), Failure> {
    changes.batches_put.iter().try_for_each(|row| put(connection, partition, row))?;
    changes.batch_items_new.iter().try_for_each(|row| insert_item(connection, partition, row))?;
    for BatchItemChange { key, state, processed, error } in &changes.batch_items_changed {
        let row = params![partition.0, *key as i64, state.word(), processed, error];
        connection.prepare_cached(statement::CHANGE_BATCH_ITEM)?.execute(row)?;
    }
    changes.instances_deleted.iter().try_for_each(|key| delete_instance(connection, partition, *key))
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
