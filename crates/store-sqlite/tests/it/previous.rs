//! Files written by servers before this one are brought up to date, and what runs in them goes on. One that cannot be stays as it was.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::Connection;
use store::conformance::previous;
use store::{Error, Store};
use store_sqlite::Options;

/// How many requests wait in the files.
const WAITING: u64 = 2;

/// A folder with a copy of the file of that schema version.
fn copy(version: u32, name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("sqlite-previous-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../spec/stores/schema-{version}.sqlite.db"));
    std::fs::copy(file, folder.join("caudal.db")).expect("a copy of the file");
    folder
}

#[tokio::test]
async fn files_of_earlier_schema_versions_go_on() {
    for version in [2, 4] {
        let folder = copy(version, "goes-on");
        let store: Arc<dyn Store> = Arc::new(store_sqlite::open(&folder, Options::default()).unwrap());
        previous::goes_on(store, WAITING).await;
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

#[tokio::test]
async fn a_file_of_schema_version_22_goes_on() {
    let folder = copy(22, "later");
    let store: Arc<dyn Store> = Arc::new(store_sqlite::open(&folder, Options::default()).unwrap());
    previous::later_goes_on(store).await;
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test]
async fn a_file_that_cannot_be_migrated_stays_as_it_was() {
    let folder = copy(2, "stays");
    let database = Connection::open(folder.join("caudal.db")).unwrap();
    let schema = |database: &Connection| -> (i64, String) {
        let version = database.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        let tables = "SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_schema ORDER BY name)";
        (version, database.query_row(tables, (), |row| row.get(0)).unwrap())
    };
    let before = schema(&database);
    let damage = "UPDATE instances SET tokens = substr(tokens, 1, 5) WHERE tokens <> x'' RETURNING key";
    let mut keys: Vec<i64> = Vec::new();
    database.prepare(damage).unwrap().query_map((), |row| row.get(0)).unwrap().for_each(|key| keys.push(key.unwrap()));
    drop(database);
    match store_sqlite::open(&folder, Options::default()).map(drop) {
        Err(Error::Corrupt { what }) => assert!(what.contains(&keys[0].to_string()), "{what}"),
        other => panic!("{other:?}"),
    }
    let database = Connection::open(folder.join("caudal.db")).unwrap();
    assert_eq!(schema(&database), before);
    // Once somebody has seen to it, it is migrated.
    database.execute("UPDATE instances SET tokens = x''", ()).unwrap();
    drop(database);
    drop(store_sqlite::open(&folder, Options::default()).unwrap());
    std::fs::remove_dir_all(&folder).unwrap();
}
