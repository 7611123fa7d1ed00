//! Operations over many, and what of them is still to be done.

use std::sync::Arc;

use engine::InstanceKey;
use rusqlite::{Connection, OptionalExtension, Row, params};
use store::format;
use store::row::{Batch, BatchItem, BatchState, ItemState};

use super::load::{key_at, key_maybe, text_at};
use crate::failure::Failure;
use crate::statement;

pub(crate) fn batch_operation(connection: &Connection, key: u64) -> Result<Option<Batch>, Failure> {
    let mut select = connection.prepare_cached(statement::BATCH_BY_KEY)?;
    select.query_row(params![key as i64], |row| Ok(batch(row))).optional()?.transpose()
}

pub(crate) fn open_items(connection: &Connection, batch: u64, limit: usize) -> Result<Vec<BatchItem>, Failure> {
    let mut select = connection.prepare_cached(statement::OPEN_ITEMS)?;
    let items = select.query_map(params![batch as i64, limit as i64], |row| Ok(item(row)))?;
    items.collect::<Result<Vec<_>, _>>()?.into_iter().collect()
}

fn batch(row: &Row<'_>) -> Result<Batch, Failure> {
    let asked: Vec<u8> = row.get(11)?;
    Ok(Batch {
        key: key_at(row, 0)?,
        tenant: row.get(1)?,
        state: BatchState::from_word(text_at(row, 2)?)?,
        actor: row.get(3)?,
        started: row.get(4)?,
        ended: row.get(5)?,
        due: row.get(6)?,
        total: key_at(row, 7)?,
        completed: key_at(row, 8)?,
        failed: key_at(row, 9)?,
        after: key_maybe(row, 10)?,
        asked: Arc::new(format::decode_asked(&asked)?),
        error: row.get(12)?,
    })
}

fn item(row: &Row<'_>) -> Result<BatchItem, Failure> {
    Ok(BatchItem {
        key: key_at(row, 0)?,
        batch: key_at(row, 1)?,
        item: key_at(row, 2)?,
        tenant: row.get(3)?,
        kind: row.get(4)?,
        instance: key_maybe(row, 5)?.map(InstanceKey),
        root: key_maybe(row, 6)?.map(InstanceKey),
        state: ItemState::from_word(text_at(row, 7)?)?,
        processed: row.get(8)?,
        error: row.get(9)?,
    })
}
