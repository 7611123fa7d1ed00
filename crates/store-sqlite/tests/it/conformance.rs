//! The suite every store passes, and what is particular to a file: it can be opened again, and only once at a time.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use engine::PartitionId;
use store::conformance::{self, data};
use store::log::NewRequest;
use store::query::{Entity, Query, Tenants};
use store::{Backlog, Commit, Error, Store};
use store_sqlite::Options;

const PARTITION: PartitionId = PartitionId(1);
const LONG: Duration = Duration::from_secs(3_600);

/// A new folder under the target folder.
fn folder() -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("sqlite-{}-{number}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn suite() {
    for test in conformance::TESTS {
        let folder = folder();
        let store: Arc<dyn Store> = Arc::new(store_sqlite::open(&folder, Options::default()).unwrap());
        (test.run)(store).await;
        let _ = std::fs::remove_dir_all(&folder);
    }
}

#[tokio::test]
async fn broken_rows_stop_what_they_belong_to() {
    let folder = folder();
    let store: Arc<dyn Store> = Arc::new(store_sqlite::open(&folder, Options::default()).unwrap());
    let database = rusqlite::Connection::open(folder.join("caudal.db")).unwrap();
    database.busy_timeout(Duration::from_secs(5)).unwrap();
    for statement in conformance::broken::written(&store).await {
        assert_eq!(database.execute(&statement, ()).unwrap(), 1, "{statement}");
    }
    conformance::broken::loaded(&store).await;
    drop(database);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test]
async fn commits_in_flight_depend_on_each_other() {
    let folder = folder();
    let store: Arc<dyn Store> = Arc::new(store_sqlite::open(&folder, Options::default()).unwrap());
    conformance::chain::what_follows_one_that_cannot_be_written_is_refused(store).await;
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test]
async fn everything_is_there_after_opening_again() {
    let folder = folder();
    let entities = [Entity::Definitions, Entity::Instances, Entity::Elements, Entity::Variables, Entity::Jobs, Entity::Incidents];
    let store = store_sqlite::open(&folder, Options::default()).unwrap();
    let ownership = store.acquire(PARTITION, "a", LONG).await.unwrap().unwrap();
    let (changes, next_key) = data::data(PARTITION, 20);
    let commit = Commit {
        fence: ownership.fence,
        first_key: ownership.next_key,
        next_key,
        log: vec![],
        inbox_to: 0,
        answers: vec![],
        now: 1,
        changes,
        wake: false,
    };
    store.commit(commit).await.unwrap();
    let request = NewRequest { kind: "cancel", request: vec![1, 2], lives: None };
    store.append(PARTITION, vec![request], Backlog { requests_max: 1, bytes_max: 2 }).await.unwrap();
    let mut before = Vec::new();
    for entity in entities {
        before.push(store.search(&Query::of(entity, Tenants::Everything)).await.unwrap());
    }
    drop(store);
    let store = store_sqlite::open(&folder, Options::default()).unwrap();
    for (entity, before) in entities.into_iter().zip(before) {
        assert_eq!(store.search(&Query::of(entity, Tenants::Everything)).await.unwrap(), before);
    }
    // The folder's lock says that the owner is gone, so its lease is nobody's concern.
    let again = store.acquire(PARTITION, "b", LONG).await.unwrap().expect("the server with the lease is gone");
    assert!(ownership.fence.epoch < again.fence.epoch);
    assert_eq!((again.inbox_tail, again.inbox_to, again.next_key), (1, 0, next_key));
    assert_eq!(store.inbox(PARTITION, 0, 10, 10).await.unwrap()[0].request, [1, 2]);
    drop(store);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test]
async fn a_second_server_is_refused() {
    let folder = folder();
    let store = store_sqlite::open(&folder, Options::default()).unwrap();
    match store_sqlite::open(&folder, Options::default()) {
        Err(Error::InUse { what }) => assert_eq!(what, folder.display().to_string()),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("two servers on one folder"),
    }
    drop(store);
    drop(store_sqlite::open(&folder, Options::default()).expect("free again"));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_folder_that_cannot_be_is_named() {
    let file = folder();
    std::fs::write(&file, "not a folder").unwrap();
    match store_sqlite::open(&file.join("data"), Options::default()) {
        Err(Error::Unavailable { reason }) => assert!(reason.contains("data"), "{reason}"),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("a folder inside a file"),
    }
    std::fs::remove_file(&file).unwrap();
}
