//! One owner at a time; a deposed one cannot write.

use std::time::{Duration, Instant};

use engine::WaitKey;
use store::{Changes, Commit, CommitError, Store};
use store_postgres::Postgres;

use crate::database::{Database, patient, with_database};
use crate::stall::{Network, Proxy};
use crate::tick::{ONE, PATIENCE, acquire, after, tick};

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
        assert_eq!(second.partitions().await.unwrap()[0].position, 0, "nothing was written");
        second.commit(tick(&new)).await.unwrap();
    });
}

#[test]
fn a_tick_out_of_order_writes_nothing() {
    with_database(|database| async move {
        let owner = database.store().await;
        let owned = acquire(&owner, "owner").await;
        let lost = tick(&owned);
        let next = tick(&after(&owned, &lost));
        match owner.commit(next.clone()).await {
            Err(CommitError::OutOfOrder { next_key }) => assert_eq!(next_key, owned.next_key),
            other => panic!("{other:?}"),
        }
        assert_eq!(owner.partitions().await.unwrap()[0].position, 0);
        // The connection is as good as before.
        owner.commit(lost).await.unwrap();
        owner.commit(next).await.unwrap();
    });
}

/// Ticks handed over while one before is held up are written in the order in which they were handed over.
#[test]
fn ticks_wait_in_line() {
    with_database(|database| async move {
        let store = database.store().await;
        let owned = acquire(&store, "owner").await;
        let mut client = database.client().await;
        let blocking = client.transaction().await.unwrap();
        blocking.execute("SELECT FROM partitions FOR UPDATE", &[]).await.unwrap();
        let first = tick(&owned);
        let second = tick(&after(&owned, &first));
        let third = tick(&after(&after(&owned, &first), &second));
        let unblock = async {
            crate::inbox::somebody_waits(&database).await;
            blocking.rollback().await.unwrap();
        };
        let (first, second, third, ()) =
            tokio::join!(store.commit(first), store.commit(second), store.commit(third.clone()), unblock);
        first.unwrap();
        second.unwrap();
        third.unwrap();
        assert_eq!(store.partitions().await.unwrap()[0].position, 3);
    });
}

#[test]
fn acquiring_waits_for_a_commit_under_way() {
    with_database(|database| async move {
        let store = database.store().await;
        let owned = acquire(&store, "owner").await;
        let mut client = database.client().await;
        let commit = client.transaction().await.unwrap();
        commit.execute("UPDATE partitions SET position = 7, next_key = next_key + 9 WHERE partition = 1", &[]).await.unwrap();
        // A commit whose outcome is unknown may still be under way: whoever acquires again sees how it ended.
        let again = tokio::spawn(async move { acquire(&store, "owner").await });
        tokio::task::yield_now().await;
        commit.commit().await.unwrap();
        let again = again.await.unwrap();
        assert_eq!((again.position, again.fence.epoch), (7, owned.fence.epoch + 1));
        assert_eq!(again.next_key, owned.next_key + 9);
    });
}

#[test]
fn an_owner_held_up_in_its_commit_does_not_keep_others_out() {
    with_database(|database| async move {
        let proxy = Proxy::to(&database.host_and_port()).await;
        let held = Postgres::connect(&database.url_through(proxy.port), patient()).await.unwrap();
        let other = database.store().await;
        let owned = held.acquire(ONE, "held", Duration::ZERO).await.unwrap().unwrap();
        let first = tick(&owned);
        held.commit(first.clone()).await.unwrap();
        // All of the next tick gets there but its COMMIT. It has one if it writes what most ticks do not.
        proxy.network.send_replace(Network::KeepsCommits);
        let changes = Changes { turns_done: vec![WaitKey(1)], ..Changes::default() };
        let second = Commit { changes, ..tick(&after(&owned, &first)) };
        let committing = tokio::spawn(async move { held.commit(second).await });
        in_transaction(&database).await;
        let begun = Instant::now();
        let new = acquire(&other, "other").await;
        assert!(begun.elapsed() < PATIENCE, "the database ends a transaction that says no more");
        assert_eq!(new.position, 1, "nothing of it is there");
        proxy.network.send_replace(Network::Passes);
        assert!(matches!(committing.await.unwrap(), Err(CommitError::Store(store::Error::Unavailable { .. }))));
    });
}

/// Until a session of the database has a transaction open and says no more.
async fn in_transaction(database: &Database) {
    let client = database.client().await;
    let open = "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND state = 'idle in transaction'";
    while client.query_one(open, &[&database.name]).await.expect("the server tells").get::<_, i64>(0) == 0 {
        tokio::task::yield_now().await;
    }
}
