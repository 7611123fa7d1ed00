//! Positions are gapless and become visible in order, also when transactions overlap.

use store::Store;
use tokio_postgres::Transaction;

use crate::database::{Database, with_database};
use crate::tick::{ONE, command};

const APPEND: &str = include_str!("../../sql/append.sql");

/// Appends one command in a transaction that is still open.
async fn append_unfinished(transaction: &Transaction<'_>) -> i64 {
    let (first_key, kinds, requests) = (ONE.first_key() as i64, ["cancel"].as_slice(), [b"slow".as_slice()]);
    let rows = transaction.query(APPEND, &[&1i64, &first_key, &kinds, &requests.as_slice()]).await.expect("appends");
    rows[0].get(0)
}

/// Until somebody waits for a lock.
async fn somebody_waits(database: &Database) {
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
            async move { store.append(ONE, vec![command("quick")]).await }
        });
        somebody_waits(&database).await;
        // The later position must not be seen before the earlier one.
        assert!(store.pending(ONE, 0, 10).await.unwrap().is_empty());
        slow.commit().await.unwrap();
        assert_eq!(quick.await.unwrap().unwrap(), [2]);
        let pending = store.pending(ONE, 0, 10).await.unwrap();
        let requests: Vec<_> = pending.iter().map(|one| (one.position, one.request.as_slice())).collect();
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
            async move { store.append(ONE, vec![command("quick")]).await }
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
                    mine.extend(store.append(ONE, vec![command("a"), command("b")]).await.unwrap());
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
