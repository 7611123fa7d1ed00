//! One owner at a time; a deposed one cannot write.

use std::time::Duration;

use store::{CommitError, Store};

use crate::database::with_database;
use crate::tick::{ONE, acquire, command, tick};

#[test]
fn a_deposed_owner_cannot_commit() {
    with_database(|database| async move {
        let (first, second) = (database.store().await, database.store().await);
        let old = first.acquire(ONE, "first", Duration::ZERO).await.unwrap().unwrap();
        let new = acquire(&second, "second").await;
        match first.commit(tick(&old)).await {
            Err(CommitError::Deposed { epoch }) => assert_eq!(epoch, new.fence.epoch),
            other => panic!("{other:?}"),
        }
        assert!(first.renew(old.fence, Duration::from_secs(60)).await.unwrap().is_none());
        assert!(second.statuses(ONE, &[1]).await.unwrap().is_empty(), "nothing was written");
        second.commit(tick(&new)).await.unwrap();
    });
}

#[test]
fn a_tick_that_was_overtaken_writes_nothing() {
    with_database(|database| async move {
        let (owner, other) = (database.store().await, database.store().await);
        let owned = acquire(&owner, "owner").await;
        assert_eq!(other.append(ONE, vec![command("a"), command("b")]).await.unwrap(), [1, 2]);
        match owner.commit(tick(&owned)).await {
            Err(CommitError::Overtaken { tail: 2 }) => {}
            other => panic!("{other:?}"),
        }
        let status = &owner.partitions().await.unwrap()[0];
        assert_eq!((status.tail, status.processed_to), (2, 0));
        // The connection is as good as before.
        owner.commit(tick(&store::Ownership { tail: 2, ..owned })).await.unwrap();
    });
}

#[test]
fn acquiring_waits_for_a_commit_under_way() {
    with_database(|database| async move {
        let store = database.store().await;
        let owned = acquire(&store, "owner").await;
        let mut client = database.client().await;
        let commit = client.transaction().await.unwrap();
        commit.execute("UPDATE partitions SET tail = 7, processed_to = 7 WHERE partition = 1", &[]).await.unwrap();
        // A commit whose outcome is unknown may still be under way: whoever acquires again sees how it ended.
        let again = tokio::spawn(async move { acquire(&store, "owner").await });
        tokio::task::yield_now().await;
        commit.commit().await.unwrap();
        let again = again.await.unwrap();
        assert_eq!((again.tail, again.fence.epoch), (7, owned.fence.epoch + 1));
    });
}
