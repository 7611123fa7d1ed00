//! Other servers are woken.

use std::time::Duration;

use store::{Commit, Store};
use tokio::sync::watch;

use crate::database::with_database;
use crate::tick::{ONE, ROOM, acquire, request, tick};

/// Waits for a change. It has no upper bound of its own but that of the test run; a minute says it failed.
async fn woken(wakeups: &mut watch::Receiver<u64>) {
    tokio::time::timeout(Duration::from_secs(60), wakeups.changed()).await.expect("woken").expect("the store is there");
}

#[test]
fn by_another_servers_append_and_commit_and_after_a_cut() {
    with_database(|database| async move {
        let (store, other) = (database.store().await, database.store().await);
        let mut wakeups = store.wakeups();
        // It listens now.
        woken(&mut wakeups).await;
        other.append(ONE, vec![request("a"), request("b")], ROOM).await.unwrap();
        woken(&mut wakeups).await;

        let owned = acquire(&other, "other").await;
        other.commit(tick(&owned)).await.unwrap();
        let owned = acquire(&other, "other").await;
        other.commit(Commit { wake: true, ..tick(&owned) }).await.unwrap();
        woken(&mut wakeups).await;
        // One of two commits asked for it.
        assert_eq!(*wakeups.borrow(), 3);

        database.cut_connections().await;
        woken(&mut wakeups).await;
    });
}
