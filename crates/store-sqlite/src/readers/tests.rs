//! Slow searches hold up nobody, end in time, and let the write-ahead log begin anew.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use engine::PartitionId;
use rusqlite::Connection;
use store::log::NewRequest;
use store::query::{Entity, Query, Tenants};
use store::{Backlog, Error, ReadyAfter, Store, Wanted};

use crate::checkpoint::Sizes;
use crate::failure::Failure;
use crate::schema::tests::Folder;
use crate::{Options, Sqlite};

const PARTITION: PartitionId = PartitionId(1);
const LONG: Duration = Duration::from_secs(600);

/// Counts rows that are made on the way; one of the log first, so that it reads from a snapshot.
fn count_up(connection: &Connection, rows: i64) -> Result<i64, Failure> {
    let sql = "WITH RECURSIVE n (n) AS (SELECT count(*) FROM log UNION ALL SELECT n + 1 FROM n LIMIT ?1) SELECT count(*) FROM n";
    Ok(connection.query_row(sql, [rows], |row| row.get(0))?)
}

const ROOM: Backlog = Backlog { requests_max: 1_000, bytes_max: 100_000_000 };

fn requests(bytes: usize) -> Vec<NewRequest> {
    vec![NewRequest { kind: "create", request: vec![7; bytes], lives: None }]
}

type Searching = Vec<tokio::task::JoinHandle<Result<i64, Error>>>;

/// More searches than there are threads, and none ends before what comes first here is dropped.
async fn fill(store: &Arc<Sqlite>) -> (mpsc::Sender<()>, Searching) {
    let (end, told) = mpsc::channel::<()>();
    let told = Arc::new(std::sync::Mutex::new(told));
    let searching = (0..32).map(|_| {
        let (store, told) = (store.clone(), told.clone());
        let search = move |connection: &Connection| {
            let found = count_up(connection, 10);
            let _ = told.lock().unwrap().recv();
            found
        };
        tokio::spawn(async move { store.searches.run_within(LONG, search).await })
    });
    let searching = searching.collect();
    while store.searches.in_use().0 < store.searches.in_use().1 {
        tokio::task::yield_now().await;
    }
    (end, searching)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn searches_hold_up_nothing_an_owner_reads() {
    let folder = Folder::new("searches");
    let store = Arc::new(crate::open(folder.path(), Options::default()).unwrap());
    store.append(PARTITION, requests(1), ROOM).await.unwrap();
    let (end, searching) = fill(&store).await;
    assert_eq!(store.inbox(PARTITION, 0, 10, 100).await.unwrap().len(), 1);
    store.load(PARTITION, &Wanted::default(), 0).await.unwrap();
    store.ready_jobs(PARTITION, "work", "t", ReadyAfter::START, 10).await.unwrap();
    store.due(PARTITION, (0, 0), 10).await.unwrap();
    store.process_named(PARTITION, "p", "t").await.unwrap();
    store.statuses(PARTITION, &[1]).await.unwrap();
    drop(end);
    for search in searching {
        assert_eq!(search.await.unwrap().unwrap(), 10);
    }
}

#[tokio::test]
async fn a_search_that_takes_too_long_is_ended() {
    let folder = Folder::new("slow-search");
    let store = crate::open(folder.path(), Options::default()).unwrap();
    let (limit, mut ended) = (Duration::from_millis(20), 0);
    while ended < 3 {
        match store.searches.run_within(limit, |connection| count_up(connection, i64::MAX)).await {
            Err(Error::TooSlow { limit: told }) => assert_eq!(told, limit),
            // On a busy machine the time may be over before it has begun.
            Err(Error::Unavailable { .. }) => continue,
            other => panic!("{other:?}"),
        }
        ended += 1;
    }
    store.search(&Query::of(Entity::Jobs, Tenants::Everything)).await.expect("the next one is not concerned");
    store.append(PARTITION, requests(1), ROOM).await.expect("and nothing keeps a snapshot");
}

#[tokio::test]
async fn searches_wait_no_longer_than_they_may_take() {
    let folder = Folder::new("long-line");
    let store = Arc::new(crate::open(folder.path(), Options::default()).unwrap());
    let (end, searching) = fill(&store).await;
    let limit = Duration::from_millis(20);
    let mut late = pin!(store.searches.run_within(limit, |connection| count_up(connection, i64::MAX)));
    tokio::select! {
        biased;
        early = &mut late => panic!("{early:?}"),
        () = std::future::ready(()) => {}
    }
    // It has been asked for, and nobody is free to take it before its time is over.
    tokio::time::sleep(2 * limit).await;
    drop(end);
    match late.await {
        Err(Error::Unavailable { reason, .. }) => assert!(reason.contains("all the time there was"), "{reason}"),
        other => panic!("{other:?}"),
    }
    for search in searching {
        assert_eq!(search.await.unwrap().unwrap(), 10);
    }
}

/// Bytes of the write-ahead log.
fn log_size(folder: &Folder) -> u64 {
    std::fs::metadata(folder.path().join("caudal.db-wal")).unwrap().len()
}

/// Reads that overlap, so that there is hardly a moment at which nobody reads.
fn keep_reading(store: &Arc<Sqlite>, enough: &Arc<AtomicBool>) -> Vec<tokio::task::JoinHandle<usize>> {
    let reading = |number: i64| {
        let (store, enough) = (store.clone(), enough.clone());
        async move {
            let mut count = 0;
            while !enough.load(Ordering::Relaxed) {
                let rows = 20_000 + 7_000 * number;
                store.searches.run_within(LONG, move |connection| count_up(connection, rows)).await.unwrap();
                count += 1;
            }
            count
        }
    };
    (0..6).map(|number| tokio::spawn(reading(number))).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_stays_small_however_reads_overlap() {
    let folder = Folder::new("overlapping");
    let sizes = Sizes { step: 100, max: 300 };
    let store = Arc::new(crate::open_sized(folder.path(), Options::default(), sizes).unwrap());
    let enough = Arc::new(AtomicBool::new(false));
    let reading = keep_reading(&store, &enough);
    for _ in 0..300 {
        // Some ten pages each: three thousand of them, ten times what there may be.
        store.append(PARTITION, requests(40_000), ROOM).await.unwrap();
        let pages = log_size(&folder) / 4_120;
        assert!(pages < (sizes.max + sizes.step + 50) as u64, "{pages} pages");
    }
    enough.store(true, Ordering::Relaxed);
    for reader in reading {
        assert!(0 < reader.await.unwrap(), "every reader was served");
    }
}
