//! Positions of an inbox are gapless and become visible in order, also when transactions overlap.

use store::{Backlog, Commit, Error, Store};
use tokio_postgres::Transaction;

use crate::database::{Database, with_database};
use crate::tick::{ONE, ROOM, acquire, after, request, tick};

const OPEN: &str = include_str!("../../sql/open_partition.sql");
const LOCK: &str = include_str!("../../sql/lock_inbox.sql");
const APPEND: &str = include_str!("../../sql/append.sql");

/// Appends one request in a transaction that is still open.
async fn append_unfinished(transaction: &Transaction<'_>) -> i64 {
    transaction.execute(OPEN, &[&1i64, &(ONE.first_key() as i64)]).await.expect("opens");
    transaction.execute(LOCK, &[&1i64]).await.expect("locks");
    let (kinds, requests, lives) = (["cancel"].as_slice(), [b"slow".as_slice()], [None::<i64>]);
    let (most, bytes) = (10i64, 1_000i64);
    let rows = transaction.query(APPEND, &[&1i64, &kinds, &requests.as_slice(), &lives.as_slice(), &most, &bytes]).await;
    rows.expect("appends")[0].get(0)
}

/// Until somebody waits for a lock.
pub(crate) async fn somebody_waits(database: &Database) {
    let client = database.client().await;
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'";
    while client.query_one(waiting, &[&database.name]).await.expect("the server tells").get::<_, i64>(0) == 0 {
        tokio::task::yield_now().await;
    }
}

#[test]
fn an_appender_that_commits_first_did_not_start_first() {
    with_database(|database| async move {
        let store = std::sync::Arc::new(database.store().await);
        let mut client = database.client().await;
        let slow = client.transaction().await.unwrap();
        assert_eq!(append_unfinished(&slow).await, 1);
        let quick = tokio::spawn({
            let store = store.clone();
            async move { store.append(ONE, vec![request("quick")], ROOM).await }
        });
        somebody_waits(&database).await;
        // The later position must not be seen before the earlier one.
        assert!(store.inbox(ONE, 0, 10, 1_000).await.unwrap().is_empty());
        slow.commit().await.unwrap();
        assert_eq!(quick.await.unwrap().unwrap(), [2]);
        let waiting = store.inbox(ONE, 0, 10, 1_000).await.unwrap();
        let requests: Vec<_> = waiting.iter().map(|one| (one.position, one.request.as_slice())).collect();
        assert_eq!(requests, [(1, b"slow".as_slice()), (2, b"quick".as_slice())]);
    });
}

#[test]
fn an_appender_that_gives_up_leaves_no_gap() {
    with_database(|database| async move {
        let store = std::sync::Arc::new(database.store().await);
        let mut client = database.client().await;
        let slow = client.transaction().await.unwrap();
        assert_eq!(append_unfinished(&slow).await, 1);
        let quick = tokio::spawn({
            let store = store.clone();
            async move { store.append(ONE, vec![request("quick")], ROOM).await }
        });
        somebody_waits(&database).await;
        slow.rollback().await.unwrap();
        assert_eq!(quick.await.unwrap().unwrap(), [1]);
    });
}

#[test]
fn many_appenders_share_out_the_positions() {
    with_database(|database| async move {
        let mut appending = Vec::new();
        for _ in 0..4 {
            let store = database.store().await;
            appending.push(tokio::spawn(async move {
                let mut mine = Vec::new();
                for _ in 0..25 {
                    mine.extend(store.append(ONE, vec![request("a"), request("b")], ROOM).await.unwrap());
                }
                mine
            }));
        }
        let mut all = Vec::new();
        for appended in appending {
            all.extend(appended.await.unwrap());
        }
        all.sort_unstable();
        assert_eq!(all, (1..=200).collect::<Vec<u64>>());
    });
}

/// Those who append and the owner who commits do not wait for each other.
#[test]
fn an_owner_commits_while_somebody_appends() {
    with_database(|database| async move {
        let store = database.store().await;
        let owned = acquire(&store, "owner").await;
        let mut client = database.client().await;
        let slow = client.transaction().await.unwrap();
        assert_eq!(append_unfinished(&slow).await, 1);
        let first = tick(&owned);
        store.commit(first.clone()).await.unwrap();
        assert_eq!(store.renew(owned.fence, crate::tick::LEASE).await.unwrap().unwrap().inbox_tail, 0);
        slow.commit().await.unwrap();
        let owned = after(&owned, &first);
        store.commit(Commit { inbox_to: 1, ..tick(&owned) }).await.unwrap();
        assert!(store.inbox(ONE, 0, 10, 1_000).await.unwrap().is_empty());
    });
}

/// An owner that took over knows nothing of what the one before took out, and takes out what is there.
#[test]
fn another_server_goes_on_taking_requests_out() {
    with_database(|database| async move {
        let (first, second) = (database.store().await, database.store().await);
        first.append(ONE, (1..=4).map(|n| request(&n.to_string())).collect(), ROOM).await.unwrap();
        let owned = acquire(&first, "first").await;
        first.commit(Commit { inbox_to: 2, ..tick(&owned) }).await.unwrap();
        first.release(owned.fence).await.unwrap();
        let owned = acquire(&second, "second").await;
        assert_eq!((owned.inbox_to, owned.inbox_tail), (2, 4));
        second.commit(Commit { inbox_to: 3, ..tick(&owned) }).await.unwrap();
        let left = second.inbox(ONE, 0, 10, 1_000).await.unwrap();
        assert_eq!(left.iter().map(|one| one.position).collect::<Vec<_>>(), [4]);
        let rows = database.client().await.query("SELECT position FROM inbox", &[]).await.unwrap();
        assert_eq!(rows.len(), 1, "nothing is left behind");
    });
}

/// Servers that are the first to name a partition, at once: each request is there once.
#[test]
fn the_first_appenders_of_all_append_once() {
    with_database(|database| async move {
        let mut stores = Vec::new();
        for _ in 0..4 {
            stores.push(std::sync::Arc::new(database.store().await));
        }
        for round in 1..=20 {
            let partition = engine::PartitionId(round);
            let appending: Vec<_> = stores
                .iter()
                .map(|store| {
                    let store = store.clone();
                    tokio::spawn(async move { store.append(partition, vec![request("a")], ROOM).await.unwrap() })
                })
                .collect();
            let mut positions = Vec::new();
            for appended in appending {
                positions.extend(appended.await.unwrap());
            }
            positions.sort_unstable();
            assert_eq!(positions, [1, 2, 3, 4]);
            assert_eq!(stores[0].inbox(partition, 0, 10, 1_000).await.unwrap().len(), 4);
        }
    });
}

/// A bound holds for all servers together.
#[test]
fn many_appenders_share_one_bound() {
    with_database(|database| async move {
        let bound = Backlog { requests_max: 30, ..ROOM };
        let mut appending = Vec::new();
        for _ in 0..4 {
            let store = database.store().await;
            appending.push(tokio::spawn(async move {
                let mut refused = 0;
                for _ in 0..10 {
                    match store.append(ONE, vec![request("a")], bound).await {
                        Ok(_) => {}
                        Err(Error::Exhausted { .. }) => refused += 1,
                        Err(other) => panic!("{other}"),
                    }
                }
                refused
            }));
        }
        let mut refused = 0;
        for appended in appending {
            refused += appended.await.unwrap();
        }
        assert_eq!(refused, 10);
    });
}
