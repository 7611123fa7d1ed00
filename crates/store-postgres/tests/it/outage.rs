//! The database goes away and comes back.

use std::time::{Duration, Instant};

use store::query::{Entity, Query, Tenants};
use store::{CommitError, Error, Store};
use store_postgres::{Options, Postgres};

use crate::database::{patient, with_database};
use crate::tick::{LEASE, ONE, PATIENCE, ROOM, acquire, request, tick, until_it_works};

#[test]
fn cut_connections_are_replaced() {
    with_database(|database| async move {
        let store = database.store().await;
        let mut owned = acquire(&store, "owner").await;
        for _ in 0..5 {
            store.commit(tick(&owned)).await.unwrap();
            database.cut_connections().await;
            until_it_works(|| store.now()).await;
            until_it_works(|| store.append(ONE, vec![request("after the cut")], ROOM)).await;
            until_it_works(|| store.inbox(ONE, 0, 10, 1_000)).await;
            owned = until_it_works(|| store.acquire(ONE, "owner", LEASE)).await.unwrap();
        }
        assert_eq!((owned.position, owned.inbox_tail), (5, 5));
    });
}

#[test]
fn a_read_only_database_refuses_for_now() {
    with_database(|database| async move {
        let store = database.store().await;
        let owned = acquire(&store, "owner").await;
        let read_only = |word| format!("ALTER DATABASE {} SET default_transaction_read_only = {word}", database.name);
        let admin = database.client().await;
        admin.batch_execute(&read_only("on")).await.unwrap();
        database.cut_connections().await;
        match until_refused(&store, &owned).await {
            CommitError::Store(Error::ReadOnly { reason }) => assert!(reason.contains("read-only"), "{reason}"),
            other => panic!("{other:?}"),
        }
        store.now().await.expect("reads go on");
        let admin = database.client().await;
        admin.batch_execute("SET default_transaction_read_only = off").await.unwrap();
        admin.batch_execute(&read_only("off")).await.unwrap();
        store.commit(tick(&owned)).await.expect("a new connection finds the database writable");
    });
}

/// The first answer after a cut may still be about the cut.
async fn until_refused(store: &Postgres, owned: &store::Ownership) -> CommitError {
    for _ in 0..10 {
        match store.commit(tick(owned)).await {
            Err(CommitError::Store(Error::Unavailable { .. })) => {}
            Err(refused) => return refused,
            Ok(_) => panic!("a read-only database took a tick"),
        }
    }
    panic!("never refused as read-only");
}

#[test]
fn a_database_that_does_not_answer_is_given_up_in_time() {
    with_database(|database| async move {
        let options = Options { call_timeout: Duration::from_secs(2), ..Options::default() };
        let store = Postgres::connect(&database.url, options).await.unwrap();
        let owned = until_it_works(|| store.acquire(ONE, "owner", LEASE)).await.unwrap();
        let mut client = database.client().await;
        let blocking = client.transaction().await.unwrap();
        blocking.execute("SELECT FROM partitions FOR UPDATE", &[]).await.unwrap();
        let begun = Instant::now();
        match store.commit(tick(&owned)).await {
            Err(CommitError::Store(Error::Unavailable { .. })) => {}
            other => panic!("{other:?}"),
        }
        assert!(begun.elapsed() < PATIENCE);
        blocking.rollback().await.unwrap();
        let again = until_it_works(|| store.acquire(ONE, "owner", LEASE)).await.unwrap();
        assert!(again.position <= 1, "written or not, but the new owner knows");
    });
}

#[test]
fn an_unreachable_database_is_said_to_be() {
    with_database(|_| async {
        match Postgres::connect("postgres://127.0.0.1:1/caudal", Options::default()).await.map(drop) {
            Err(Error::Unavailable { reason }) => assert!(reason.contains("refused"), "{reason}"),
            other => panic!("{other:?}"),
        }
    });
}

#[test]
fn more_searches_than_connections_wait_in_line() {
    with_database(|database| async move {
        let options = Options { searches_max: 2, ..patient() };
        let store = std::sync::Arc::new(Postgres::connect(&database.url, options).await.unwrap());
        let reading: Vec<_> = (0..50)
            .map(|_| {
                let store = store.clone();
                tokio::spawn(async move { store.search(&Query::of(Entity::Jobs, Tenants::Everything)).await })
            })
            .collect();
        for read in reading {
            read.await.unwrap().unwrap();
        }
        let sessions = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'caudal'";
        let count: i64 = database.client().await.query_one(sessions, &[]).await.unwrap().get(0);
        assert!(count <= 3, "two searches and a listener, not {count}");
        assert_eq!(store.pool().0, 0);
    });
}
