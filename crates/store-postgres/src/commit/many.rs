//! Operations over many, their items, and instances that are deleted, as columns of statements.

use store::{Changes, Commit, format};

use super::batches::batch;
use crate::call::Call;
use crate::retention::DELETE_INSTANCES;

/// What each operation is to do, as it is stored.
pub(super) fn asked(changes: &Changes) -> Vec<Vec<u8>> {
    changes.batches_put.iter().map(|row| format::encode_asked(&row.asked)).collect()
}

pub(super) fn of_changes<'a>(commit: &'a Commit, asked: &'a [Vec<u8>]) -> impl Iterator<Item = Call<'a>> {
    let changes = &commit.changes;
    let put = batch(commit, include_str!("../../sql/put_batches.sql"), &changes.batches_put, |call, rows| {
        call.keys(rows.iter().map(|row| row.key))
            .texts(rows.iter().map(|row| &*row.tenant))
            .texts(rows.iter().map(|row| row.asked.work.word()))
            .texts(rows.iter().map(|row| row.state.word()))
            .texts(rows.iter().map(|row| &*row.actor))
            .ints_opt(rows.iter().map(|row| row.started))
            .ints_opt(rows.iter().map(|row| row.ended))
            .ints_opt(rows.iter().map(|row| row.due))
            .keys(rows.iter().map(|row| row.total))
            .keys(rows.iter().map(|row| row.completed))
            .keys(rows.iter().map(|row| row.failed))
            .keys_opt(rows.iter().map(|row| row.after))
            .blobs(asked.iter().map(Vec::as_slice))
            .texts_opt(rows.iter().map(|row| row.error.as_deref()))
    });
    let items = batch(commit, include_str!("../../sql/insert_batch_items.sql"), &changes.batch_items_new, |call, rows| {
        call.keys(rows.iter().map(|row| row.key))
            .keys(rows.iter().map(|row| row.batch))
            .keys(rows.iter().map(|row| row.item))
            .texts(rows.iter().map(|row| &*row.tenant))
            .texts(rows.iter().map(|row| &*row.kind))
            .keys_opt(rows.iter().map(|row| row.instance.map(|key| key.0)))
            .keys_opt(rows.iter().map(|row| row.root.map(|key| key.0)))
            .texts(rows.iter().map(|row| row.state.word()))
            .ints_opt(rows.iter().map(|row| row.processed))
            .texts_opt(rows.iter().map(|row| row.error.as_deref()))
    });
    let changed = batch(commit, include_str!("../../sql/change_batch_items.sql"), &changes.batch_items_changed, |call, rows| {
        call.keys(rows.iter().map(|row| row.key))
            .texts(rows.iter().map(|row| row.state.word()))
            .ints_opt(rows.iter().map(|row| row.processed))
            .texts_opt(rows.iter().map(|row| row.error.as_deref()))
    });
    let deleted =
        batch(commit, &DELETE_INSTANCES, &changes.instances_deleted, |call, keys| call.keys(keys.iter().map(|key| key.0)));
    [put, items, changed, deleted].into_iter().flatten()
}
