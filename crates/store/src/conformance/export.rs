//! Following the log. A store in memory keeps none, and nobody can follow it.

use std::sync::Arc;

use engine::InstanceKey;

use super::owner::{LONG, NOW, OTHER, Owner, PARTITION};
use crate::{Changes, Commit, LogRow, Logged, Store};

pub(super) async fn the_log_is_read_after_a_position(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let log = [(None, vec![]), (Some(InstanceKey(7)), vec![2, 0]), (Some(InstanceKey(8)), vec![2, 0, 1, 2])];
    let log = log.into_iter().enumerate();
    let log = log.map(|(n, (instance, events))| LogRow { position: n as u64 + 1, kind: "create", instance, events });
    let tick = Commit { log: log.collect(), ..owner.tick(Changes::default()) };
    store.commit(tick.clone()).await.unwrap();
    owner.went_through(&tick);
    let of = |row: &LogRow| Logged { position: row.position, at: NOW, instance: row.instance, events: row.events.clone() };
    let all: Vec<Logged> = tick.log.iter().map(of).collect();
    if store.happened(PARTITION, 0, 10, 1_000).await.unwrap().is_empty() {
        return;
    }
    assert_eq!(store.happened(PARTITION, 0, 10, 1_000).await.unwrap(), all);
    assert_eq!(store.happened(PARTITION, 0, 2, 1_000).await.unwrap(), all[..2]);
    assert_eq!(store.happened(PARTITION, 1, 10, 1_000).await.unwrap(), all[1..]);
    assert_eq!(store.happened(PARTITION, 3, 10, 1_000).await.unwrap(), []);
    // The first whatever it weighs, those behind it while they fit.
    assert_eq!(store.happened(PARTITION, 2, 10, 1).await.unwrap(), all[2..]);
    assert_eq!(store.happened(PARTITION, 0, 10, 2).await.unwrap(), all[..2]);
    assert_eq!(store.happened(OTHER, 0, 10, 1_000).await.unwrap(), []);
}

pub(super) async fn a_place_never_moves_back(store: Arc<dyn Store>) {
    let fence = Owner::of(&store).await.ownership.fence;
    assert_eq!(store.export_place(PARTITION, "events").await.unwrap(), None);
    assert!(store.put_export_place(fence, "events", 5).await.unwrap());
    if store.export_place(PARTITION, "events").await.unwrap().is_none() {
        return;
    }
    assert!(store.put_export_place(fence, "events", 9).await.unwrap());
    assert!(store.put_export_place(fence, "events", 7).await.unwrap());
    assert!(store.put_export_place(fence, "others", 3).await.unwrap());
    assert_eq!(store.export_place(PARTITION, "events").await.unwrap(), Some(9));
    assert_eq!(store.export_place(PARTITION, "others").await.unwrap(), Some(3));
    assert_eq!(store.export_place(OTHER, "events").await.unwrap(), None);
    // A new epoch: the one before writes nothing.
    store.release(fence).await.unwrap();
    store.acquire(PARTITION, "another", LONG).await.unwrap().unwrap();
    assert!(!store.put_export_place(fence, "events", 20).await.unwrap());
    assert_eq!(store.export_place(PARTITION, "events").await.unwrap(), Some(9));
}
