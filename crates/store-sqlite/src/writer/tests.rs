//! What happens when there is no room, and when there is no work.

use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::PartitionId;
use store::log::NewRequest;
use store::{Backlog, Changes, Commit, CommitError, Error, Store};

use super::Cache;
use crate::{Options, Sqlite};

const PARTITION: PartitionId = PartitionId(1);

/// A bound on the size of the file fails exactly as a full disk does.
async fn bound_pages(store: &Sqlite, pages: i64) {
    let bound = store.writer.run(move |connection| {
        let count: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
        let bound = if pages == 0 { count } else { pages };
        Ok(connection.pragma_update_and_check(None, "max_page_count", bound, |row| row.get::<_, i64>(0))?)
    });
    bound.await.unwrap();
}

const ROOM: Backlog = Backlog { requests_max: 100, bytes_max: 100_000_000 };

fn requests(count: usize) -> Vec<NewRequest> {
    (0..count).map(|_| NewRequest { kind: "create", request: vec![7; 100_000], lives: None }).collect()
}

#[tokio::test]
async fn a_full_disk_is_reported_and_recovered_from() {
    let folder = crate::schema::tests::Folder::new("full-disk");
    let store = Arc::new(crate::open(folder.path(), Options::default()).unwrap());
    store.append(PARTITION, requests(1), ROOM).await.unwrap();
    bound_pages(&store, 0).await;
    for _ in 0..3 {
        match store.append(PARTITION, requests(1), ROOM).await {
            Err(Error::Full { .. }) => {}
            other => panic!("expected a full disk, got {other:?}"),
        }
    }
    // Reading goes on, and nothing of what failed is there.
    assert_eq!(store.inbox(PARTITION, 0, 10, usize::MAX).await.unwrap().len(), 1);
    assert_eq!(store.partitions().await.unwrap()[0].inbox_tail, 1);
    bound_pages(&store, 1_000_000).await;
    assert_eq!(store.append(PARTITION, requests(1), ROOM).await.unwrap(), [2], "no position was lost");
}

/// Whoever is written together with one that finds no room hears that there is none, whatever it wanted to write.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_is_told_to_all_it_concerns() {
    let folder = crate::schema::tests::Folder::new("full-disk-group");
    let store = Arc::new(crate::open(folder.path(), Options::default()).unwrap());
    let owned = store.acquire(PARTITION, "a", Duration::from_secs(60)).await.unwrap().unwrap();
    let commit = Commit {
        fence: owned.fence,
        first_key: owned.next_key,
        next_key: owned.next_key + 1,
        log: Vec::new(),
        inbox_to: 0,
        answers: Vec::new(),
        now: 1,
        changes: Changes::default(),
        wake: false,
    };
    bound_pages(&store, 0).await;
    // The writer is kept until all of them wait, so that it takes them together.
    let (go_on, told) = std::sync::mpsc::channel::<()>();
    let blocking = store.writer.run(move |_| {
        // Nobody sends: it ends when the other end is gone.
        let _ = told.recv();
        Ok(())
    });
    let all = async {
        let release = async {
            tokio::task::yield_now().await;
            drop(go_on);
        };
        let first = store.renew(owned.fence, Duration::from_secs(60));
        let lease = Duration::from_secs(60);
        tokio::join!(
            first,
            store.commit(commit),
            store.append(PARTITION, requests(1), ROOM),
            store.renew(owned.fence, lease),
            release
        )
    };
    let (_, (first, commit, append, last, ())) = tokio::join!(blocking, all);
    assert!(matches!(append, Err(Error::Full { .. })), "{append:?}");
    assert!(matches!(first, Err(Error::Full { .. })), "{first:?}");
    assert!(matches!(commit, Err(CommitError::Store(Error::Full { .. }))), "{commit:?}");
    assert!(matches!(last, Err(Error::Full { .. })), "{last:?}");
}

/// One that fails does not take those down that happened to wait beside it.
#[tokio::test]
async fn a_failure_concerns_its_own_write_only() {
    let folder = crate::schema::tests::Folder::new("failure");
    let store = crate::open(folder.path(), Options::default()).unwrap();
    let bad = store.writer.run(|connection| {
        connection.execute("INSERT INTO log (place, kind, at, events) VALUES (99, 'x', 0, x'')", ())?;
        Ok(connection.execute("INSERT INTO nowhere VALUES (1)", ())?)
    });
    let good = store.append(PARTITION, requests(2), ROOM);
    let (bad, good) = tokio::join!(bad, good);
    assert!(bad.is_err());
    assert_eq!(good.unwrap(), [1, 2]);
    let seen = store.inbox(PARTITION, 0, 10, usize::MAX).await.unwrap();
    assert_eq!(seen.iter().map(|one| one.position).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn the_cache_is_given_back_once_after_work_has_ended() {
    let begun = Instant::now();
    let at = |millis| begun + Duration::from_millis(millis);
    let mut cache = Cache::default();
    let upkeep = [0, 1_700, 3_400].map(|millis| cache.is_to_be_given_back(at(millis)));
    assert_eq!(upkeep, [false; 3], "there was no work");
    let work = [3_500, 3_510, 3_520].map(|millis| cache.is_to_be_given_back(at(millis)));
    assert_eq!(work, [false; 3]);
    let rest = [5_200, 13_500, 13_520, 15_200, 23_600, 25_300].map(|millis| cache.is_to_be_given_back(at(millis)));
    assert_eq!(rest, [false, false, false, false, true, false], "ten seconds after the last two that were close");
}
