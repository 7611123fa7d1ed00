//! The schema is what it is said to be, and a newer one is left alone.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use store::Error;

use super::*;

/// A folder for one test, gone afterwards.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("caudal-sqlite-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn dump(connection: &Connection) -> String {
    let sql = "SELECT sql || ';' FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY tbl_name, type DESC, name";
    let mut select = connection.prepare(sql).unwrap();
    let parts: Vec<String> = select.query_map((), |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    parts.join("\n\n") + "\n"
}

/// `UPDATE_SCHEMA=1 cargo test -p store-sqlite` writes it anew.
#[test]
fn all_migrations_give_the_checked_in_schema() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema.sql");
    let found = dump(&connection);
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), found, "UPDATE_SCHEMA=1 writes schema.sql anew");
}

#[test]
fn migrating_twice_changes_nothing() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection).unwrap();
    let once = dump(&connection);
    migrate(&mut connection).unwrap();
    assert_eq!(dump(&connection), once);
}

#[test]
fn a_newer_schema_is_refused() {
    let folder = Folder::new("newer-schema");
    drop(crate::open(folder.path()).unwrap());
    let connection = Connection::open(folder.path().join("caudal.db")).unwrap();
    connection.pragma_update(None, "user_version", MIGRATIONS.len() as i64 + 1).unwrap();
    drop(connection);
    match crate::open(folder.path()) {
        Err(Error::SchemaTooNew { found, known }) => assert_eq!((found, known), (2, 1)),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("a newer schema was opened"),
    }
}

#[test]
fn something_else_is_not_overwritten() {
    let folder = Folder::new("not-a-database");
    std::fs::create_dir_all(folder.path()).unwrap();
    let path = folder.path().join("caudal.db");
    std::fs::write(&path, vec![b'x'; 10_000]).unwrap();
    assert!(matches!(crate::open(folder.path()), Err(Error::Corrupt { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), vec![b'x'; 10_000]);
}
