//! What can be done with a store that no server has open: bring a backup back, and look whether its file is sound.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};
use store::Error;

use crate::failure::Failure;
use crate::folder::Folder;
use crate::mark::{self, Found};
use crate::schema;

/// Faults of a file that are listed.
const FAULTS_MAX: usize = 100;

/// What was found about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// Why a server would not go on with what is there: something is missing.
    pub refusal: Option<String>,
    /// What SQLite finds wrong; empty if it is sound.
    pub faults: Vec<String>,
    /// Whether this server would open it as it is, rather than bring it up to date first.
    pub is_current: bool,
}

/// Puts a backup into a folder that has no store yet.
pub fn restore(backup: &Path, folder: &Path) -> Result<(), Error> {
    if let Some(fault) = look(backup)?.faults.first() {
        return Err(Error::Corrupt { what: format!("{} is damaged: {fault}", backup.display()) });
    }
    if !mark::is_whole(backup) {
        let what =
            format!("{} was copied from a store in use and is no backup: `caudal backup FILE` makes one", backup.display());
        return Err(Error::Incomplete { what });
    }
    let folder = Folder::lock(folder)?;
    let database = folder.database();
    let unusable = |error: std::io::Error| Error::unavailable(format_args!("{}: {error}", database.display()));
    // Locking the folder has made an empty one.
    if 0 < database.metadata().map_err(unusable)?.len() {
        return Err(Error::unavailable(format_args!("{} is there already: choose another folder", database.display())));
    }
    // A log or a mark that another store has left would be taken for its own.
    folder.forget_beside();
    let copy = |mut from: File| {
        let mut to = File::options().write(true).open(&database)?;
        std::io::copy(&mut from, &mut to)?;
        to.sync_all()
    };
    File::open(backup).and_then(copy).map_err(|error| {
        // What has come of it would be taken for a store, and stand in the way of the next attempt.
        let _there_may_be_none = std::fs::remove_file(&database);
        unusable(error)
    })
}

/// Looks at every page of the store in a folder that no server has open.
pub fn check(folder: &Path) -> Result<Condition, Error> {
    // Locking would make what is not there.
    if !folder.is_dir() {
        return Err(Error::unavailable(format_args!("{} is no folder", folder.display())));
    }
    let folder = Folder::lock(folder)?;
    let found = Found::look(&folder)?;
    let mut condition = look(&folder.database())?;
    condition.refusal = found.refusal().map(|refusal| refusal.to_string());
    if condition.refusal.is_none() && condition.faults.is_empty() {
        let connection = inspect(&folder.database())?;
        condition.refusal = found.compare(&connection).err().map(|refusal| Error::from(refusal).to_string());
    }
    Ok(condition)
}

/// Goes on with what is there, whatever is missing: the file says that it is all there is.
pub fn accept(folder: &Path) -> Result<(), Error> {
    let folder = Folder::lock(folder)?;
    let connection = Connection::open(folder.database()).map_err(Failure::from)?;
    // A store of an earlier server says nothing of itself.
    if mark::id(&connection).is_ok() {
        mark::close(&connection)?;
    }
    drop(connection);
    match std::fs::remove_file(folder.mark()) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::unavailable(format_args!("{}: {error}", folder.mark().display())))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// A connection that leaves everything as it is.
pub(crate) fn inspect(database: &Path) -> Result<Connection, Failure> {
    let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    mark::keep_log(&connection, true)?;
    Ok(connection)
}

/// The tables and indexes by the number of their first page, which is how damage is told.
fn trees(connection: &Connection) -> Result<BTreeMap<i64, String>, Failure> {
    let mut statement = connection.prepare("SELECT rootpage, name FROM sqlite_schema WHERE rootpage > 0")?;
    Ok(statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?)
}

/// With the name of the table or index that is damaged.
fn named(fault: &str, trees: &BTreeMap<i64, String>) -> String {
    let root = fault.strip_prefix("Tree ").and_then(|rest| rest.split(' ').next()?.parse().ok());
    let name = root.and_then(|root: i64| trees.get(&root));
    name.map_or_else(|| fault.to_owned(), |name| format!("{fault} ({name})"))
}

fn look(database: &Path) -> Result<Condition, Error> {
    if !database.is_file() {
        return Err(Error::unavailable(format_args!("{} is no file", database.display())));
    }
    match condition(database) {
        Ok(condition) => Ok(condition),
        // So damaged that it cannot even be looked at.
        Err(Failure::Sql(error)) => {
            Ok(Condition { refusal: None, faults: vec![format!("{}: {error}", database.display())], is_current: false })
        }
        Err(failure) => Err(failure.into()),
    }
}

fn condition(database: &Path) -> Result<Condition, Failure> {
    let connection = inspect(database)?;
    let mut statement = connection.prepare(&format!("PRAGMA integrity_check({FAULTS_MAX})"))?;
    let rows = statement.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    let trees = trees(&connection)?;
    // What names the database alone is a heading.
    let bad = rows.iter().filter(|row| *row != "ok").flat_map(|row| row.lines()).filter(|line| !line.starts_with("***"));
    let mut faults: Vec<String> = bad.map(|fault| format!("{}: {}", database.display(), named(fault, &trees))).collect();
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version == 0 {
        faults.push(format!("{} is no store of Caudal", database.display()));
    }
    Ok(Condition { refusal: None, faults, is_current: version == schema::known() })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt as _;

    use super::*;

    #[test]
    fn damage_is_named_by_page_and_table() {
        let file = std::env::temp_dir().join(format!("caudal-sqlite-damage-{}.db", std::process::id()));
        let mut connection = Connection::open(&file).unwrap();
        schema::migrate(&mut connection).unwrap();
        assert_eq!(look(&file).unwrap().faults, Vec::<String>::new());
        let of = |name: &str| {
            let pages = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
            connection.query_row(pages, [name], |row| row.get::<_, u32>(0)).unwrap()
        };
        let size: u32 = connection.pragma_query_value(None, "page_size", |row| row.get(0)).unwrap();
        let page = of("jobs_stuck");
        drop(connection);
        File::options().write(true).open(&file).unwrap().write_all_at(&[0x5a; 512], u64::from((page - 1) * size)).unwrap();
        let faults = look(&file).unwrap().faults;
        std::fs::remove_file(&file).unwrap();
        let [fault] = faults.as_slice() else { panic!("{faults:?}") };
        assert!(fault.contains(&format!("page {page}")) && fault.ends_with("(jobs_stuck)"), "{fault}");
    }
}
