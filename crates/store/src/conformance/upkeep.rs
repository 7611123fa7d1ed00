//! Cleaning up.

use std::sync::Arc;

use super::owner::{Owner, PARTITION};
use super::rows;
use crate::{Changes, Store, Wanted};

pub(super) async fn first_answers_are_purged_in_small_batches(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let rows: Vec<_> = (0..10).map(|n| rows::idempotent("t", &format!("k{n}"), 100 + n)).collect();
    owner.commit(Changes { idempotent_new: rows, ..Changes::default() }).await;
    assert_eq!(store.purge_idempotent(PARTITION, 99, 100).await.unwrap(), 0);
    assert_eq!(store.purge_idempotent(PARTITION, 106, 4).await.unwrap(), 4);
    assert_eq!(store.purge_idempotent(PARTITION, 106, 4).await.unwrap(), 3);
    assert_eq!(store.purge_idempotent(PARTITION, 106, 4).await.unwrap(), 0);
    let wanted = Wanted { idempotent: (0..10).map(|n| ("t".into(), format!("k{n}").into())).collect(), ..Wanted::default() };
    assert_eq!(store.load(PARTITION, &wanted, 0).await.unwrap().idempotent.len(), 3);
}
