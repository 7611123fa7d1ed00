//! Operations over many, and what of them is still to be done.

use std::sync::Arc;

use engine::InstanceKey;
use store::row::{Batch, BatchItem, BatchState, ItemState};
use store::{Error, format};
use tokio_postgres::Row;

use crate::Postgres;
use crate::call::Call;
use crate::reading::Reading;

impl Postgres {
    pub(crate) async fn batch_by_key(&self, key: u64) -> Result<Option<Batch>, Error> {
        let call = Call::new(include_str!("../sql/batch_by_key.sql")).key(key);
        self.owner.query(call).await?.first().map(batch).transpose()
    }

    pub(crate) async fn items_to_do(&self, batch: u64, limit: usize) -> Result<Vec<BatchItem>, Error> {
        let call = Call::new(include_str!("../sql/open_items.sql")).key(batch).limit(limit);
        self.owner.query(call).await?.iter().map(item).collect()
    }
}

fn batch(row: &Row) -> Result<Batch, Error> {
    let mut row = Reading::of(row);
    Ok(Batch {
        key: row.key()?,
        tenant: row.text()?,
        state: BatchState::from_word(row.get()?)?,
        actor: row.text()?,
        started: row.get()?,
        ended: row.get()?,
        due: row.get()?,
        total: row.key()?,
        completed: row.key()?,
        failed: row.key()?,
        after: row.key_maybe()?,
        asked: Arc::new(format::decode_asked(row.get()?)?),
        error: row.text_maybe()?,
    })
}

fn item(row: &Row) -> Result<BatchItem, Error> {
    let mut row = Reading::of(row);
    Ok(BatchItem {
        key: row.key()?,
        batch: row.key()?,
        item: row.key()?,
        tenant: row.text()?,
        kind: row.text()?,
        instance: row.key_maybe()?.map(InstanceKey),
        root: row.key_maybe()?.map(InstanceKey),
        state: ItemState::from_word(row.get()?)?,
        processed: row.get()?,
        error: row.text_maybe()?,
    })
}
