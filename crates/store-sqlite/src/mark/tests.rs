//! What is missing is seen, and what is not missing is not missed.

use std::fs;
use std::time::Duration;

use engine::PartitionId;
use store::log::NewRequest;
use store::{Backlog, Store as _};

use super::*;
use crate::schema::tests::Folder as Place;
use crate::{Options, Sqlite, accept, check, restore};

const ROOM: Backlog = Backlog { requests_max: 1_000, bytes_max: 100_000_000 };

fn open(path: &Path) -> Result<Sqlite, Error> {
    crate::open(path, Options::default())
}

async fn append(store: &Sqlite, count: usize) {
    let requests = (0..count).map(|_| NewRequest { kind: "create", request: vec![7; 1_000], lives: None }).collect();
    store.append(PartitionId(1), requests, ROOM).await.unwrap();
}

async fn appended(store: &Sqlite) -> usize {
    store.inbox(PartitionId(1), 0, 1_000, 100_000_000).await.unwrap().len()
}

/// A store at work, with its mark up to date.
async fn at_work(path: &Path) -> Sqlite {
    let store = open(path).unwrap();
    store.acquire(PartitionId(1), "me", Duration::from_secs(5)).await.unwrap();
    append(&store, 20).await;
    noted(&store, path, 20).await;
    store
}

/// Writes until the mark knows of so many requests: it is written ten times a second, after a commit.
async fn noted(store: &Sqlite, path: &Path, inbox: i64) {
    let is_noted = || Noted::read(&fs::read_to_string(path.join("caudal.mark")).unwrap()).unwrap().reached.0[2] == inbox;
    while !is_noted() {
        tokio::time::sleep(Duration::from_millis(10)).await;
        store
            .writer
            .run(|connection| Ok(connection.execute("UPDATE partitions SET lease_until = lease_until + 1", ())?))
            .await
            .unwrap();
    }
}

/// The files as they are now, as a copy or as what a killed server leaves.
fn copy(from: &Path, to: &Path, names: &[&str]) {
    fs::create_dir_all(to).unwrap();
    for name in names {
        fs::copy(from.join(name), to.join(name)).unwrap();
    }
}

const ALL: [&str; 3] = ["caudal.db", "caudal.db-wal", "caudal.mark"];

/// As if the server had been killed at this moment: the same file, which nobody closed.
async fn killed(path: &Path, store: Sqlite) {
    let aside = path.join("aside");
    copy(path, &aside, &ALL);
    drop(store);
    for name in ALL {
        // Into the same file, so that it is no copy.
        fs::write(path.join(name), fs::read(aside.join(name)).unwrap()).unwrap();
    }
    fs::remove_dir_all(aside).unwrap();
}

fn refusal(path: &Path) -> String {
    let told = match open(path) {
        Err(Error::Incomplete { what }) => what,
        Err(other) => panic!("refused for another reason: {other}"),
        Ok(_) => panic!("taken"),
    };
    assert_eq!(check(path).unwrap().refusal.as_deref(), Some(&*told), "checking says the same and changes nothing");
    assert!(matches!(open(path), Err(Error::Incomplete { .. })), "it stays refused");
    told
}

#[tokio::test]
async fn what_a_killed_server_leaves_is_taken() {
    let place = Place::new("mark-killed");
    let store = at_work(place.path()).await;
    let id = store.identity().await.unwrap();
    killed(place.path(), store).await;
    assert_eq!(check(place.path()).unwrap().refusal, None);
    let store = open(place.path()).unwrap();
    assert_eq!((appended(&store).await, store.identity().await.unwrap()), (20, id));
}

#[tokio::test]
async fn closed_in_order_one_file_is_everything() {
    let (place, other) = (Place::new("mark-closed"), Place::new("mark-closed-copy"));
    drop(at_work(place.path()).await);
    assert!(!place.path().join("caudal.db-wal").exists());
    copy(place.path(), other.path(), &["caudal.db"]);
    assert_eq!(appended(&open(other.path()).unwrap()).await, 20);
}

/// A disk that was full while somebody copied, a download that broke off.
#[tokio::test]
async fn a_file_that_is_cut_short_is_refused() {
    for missing in [1, 1_000, 100_000] {
        let (place, other) = (Place::new("mark-cut"), Place::new("mark-cut-copy"));
        drop(at_work(place.path()).await);
        copy(place.path(), other.path(), &["caudal.db"]);
        for folder in [place.path(), other.path()] {
            let file = File::options().write(true).open(folder.join("caudal.db")).unwrap();
            file.set_len(file.metadata().unwrap().len() - missing).unwrap();
            let told = refusal(folder);
            assert!(told.contains("its end is missing"), "{missing}: {told}");
        }
    }
}

#[tokio::test]
async fn copies_of_a_store_in_use_are_refused() {
    for names in [&["caudal.db"][..], &["caudal.db", "caudal.db-wal"], &["caudal.db", "caudal.mark"], &ALL] {
        let (place, other) = (Place::new("mark-used"), Place::new("mark-used-copy"));
        let store = at_work(place.path()).await;
        copy(place.path(), other.path(), names);
        let told = refusal(other.path());
        assert!(told.contains("copied") && told.contains("caudal restore"), "{names:?}: {told}");
        let no_backup = restore(&other.path().join("caudal.db"), &place.path().join("new"));
        assert!(matches!(no_backup, Err(Error::Incomplete { .. })), "{names:?}");
        drop(store);
    }
}

#[tokio::test]
async fn a_lost_log_is_noticed_and_what_is_left_can_be_accepted() {
    for cut in [None, Some(0), Some(40_000)] {
        let place = Place::new("mark-lost");
        let log = place.path().join("caudal.db-wal");
        let store = at_work(place.path()).await;
        append(&store, 30).await;
        noted(&store, place.path(), 50).await;
        killed(place.path(), store).await;
        match cut {
            None => fs::remove_file(&log).unwrap(),
            Some(length) => File::options().write(true).open(&log).unwrap().set_len(length).unwrap(),
        }
        let told = refusal(place.path());
        assert!(told.contains("missing"), "{told}");
        accept(place.path()).unwrap();
        assert!(appended(&open(place.path()).unwrap()).await < 50);
    }
}

#[tokio::test]
async fn an_older_file_in_its_place_is_noticed() {
    let (place, other) = (Place::new("mark-older"), Place::new("mark-older-copy"));
    drop(at_work(place.path()).await);
    copy(place.path(), other.path(), &["caudal.db"]);
    let store = open(place.path()).unwrap();
    append(&store, 5).await;
    drop(store);
    copy(other.path(), place.path(), &["caudal.db"]);
    assert!(refusal(place.path()).contains("an older file"));
    fs::remove_file(place.path().join("caudal.db")).unwrap();
    assert!(refusal(place.path()).contains("gone"));
    fs::write(place.path().join("caudal.db-wal"), "of another store").unwrap();
    restore(&other.path().join("caudal.db"), place.path()).unwrap();
    assert_eq!(appended(&open(place.path()).unwrap()).await, 20, "what is restored goes before what was here");
}

#[tokio::test]
async fn marks_are_read_as_they_are_written() {
    let noted = Noted {
        id: "1b4e28ba-2fa1-41d2-883f-0016d3cca427".to_owned(),
        opened: 3,
        file: FileId { number: u64::MAX, made: Some(u128::from(u64::MAX)) },
        reached: Reached([i64::MAX; 3]),
    };
    assert_eq!((noted.text().len(), Noted::read(&noted.text())), (BYTES, Some(noted.clone())));
    assert_eq!(Noted::read(&noted.text()[..60]), None);
    assert!(!noted.file.is_other(FileId { made: None, ..noted.file }), "when it was made is not always known");
}
