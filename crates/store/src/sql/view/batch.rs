//! What is shown of operations over many, and of their items.

use engine::InstanceKey;

use super::row::Row;
use super::{Cells, Columns};
use crate::Error;
use crate::query::ScalarKind::{Int, Text};
use crate::query::{BatchItemView, BatchView};
use crate::row::{BatchState, ItemState};
use crate::sql::column::Table::Own;

pub(super) const BATCH: Columns = &[
    (Own, "@.key", Int),
    (Own, "@.tenant", Text),
    (Own, "@.kind", Text),
    (Own, "@.state", Text),
    (Own, "@.actor", Text),
    (Own, "@.started", Int),
    (Own, "@.ended", Int),
    (Own, "@.total", Int),
    (Own, "@.completed", Int),
    (Own, "@.failed", Int),
    (Own, "@.error", Text),
];

pub(super) fn batch(row: &mut Row<'_, impl Cells>) -> Result<BatchView, Error> {
    Ok(BatchView {
        key: row.key()?,
        tenant: row.text()?,
        kind: row.text()?,
        state: BatchState::from_word(&row.text()?)?,
        actor: row.text()?,
        started: row.int_maybe()?,
        ended: row.int_maybe()?,
        total: row.key()?,
        completed: row.key()?,
        failed: row.key()?,
        error: row.text_maybe()?,
    })
}

pub(super) const ITEM: Columns = &[
    (Own, "@.key", Int),
    (Own, "@.batch", Int),
    (Own, "@.item", Int),
    (Own, "@.tenant", Text),
    (Own, "@.kind", Text),
    (Own, "@.instance", Int),
    (Own, "@.root", Int),
    (Own, "@.state", Text),
    (Own, "@.processed", Int),
    (Own, "@.error", Text),
];

pub(super) fn item(row: &mut Row<'_, impl Cells>) -> Result<BatchItemView, Error> {
    Ok(BatchItemView {
        key: row.key()?,
        batch: row.key()?,
        item: row.key()?,
        tenant: row.text()?,
        kind: row.text()?,
        instance: row.key_maybe()?.map(InstanceKey),
        root: row.key_maybe()?.map(InstanceKey),
        state: ItemState::from_word(&row.text()?)?,
        processed: row.int_maybe()?,
        error: row.text_maybe()?,
    })
}
