//! The store in a file: SQLite, in a folder that one server has at a time.
//!
//! Reading order: [`open`], [`folder`] (the lock), [`mark`] (whether it is all there), [`schema`] (migrations), [`writer`] and [`readers`] (who talks to the
//! database), [`checkpoint`] and [`gate`] (how the write-ahead log stays small), then `write/` (what a tick writes) and `read/` (what is
//! read).
//!
//! - All writing is done by one thread with one connection. What waits for it is written together, in one transaction with one
//!   flush to disk; nobody is answered before that.
//! - Reading is done by a few threads with connections of their own, each read in a snapshot of its own. What is read by key, which a
//!   partition's owner waits for, never stands in line behind searches; a search is ended when it takes too long.
//! - The write-ahead log has a bound, however reads overlap.
//! - A failed write (a full disk) changes nothing and is not remembered: the next one is simply tried.
//!
//! Deliberately absent: more than one server. That is what PostgreSQL is for.

mod backup;
mod checkpoint;
mod contents;
mod documents;
mod failure;
mod folder;
mod gate;
mod mark;
mod read;
mod readers;
mod restore;
mod schema;
mod statement;
mod store;
mod write;
mod writer;

use std::path::Path;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use ::store::Error;
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use tokio::sync::watch;

use backup::Copying;
use checkpoint::{Log, Sizes};
pub use contents::read_all;
use failure::Failure;
use folder::Folder;
use gate::Gate;
use mark::{Found, Mark};
use readers::{Lane, Readers};
pub use restore::{Condition, accept, check, restore};
use writer::Writer;

/// Statements a connection keeps prepared.
const STATEMENTS_MAX: usize = 128;
const OWNER_READS_MAX: usize = 2;
const SEARCHES_MIN: usize = 2;
const SEARCHES_MAX: usize = 8;

#[derive(Debug, Clone)]
pub struct Options {
    /// How long a search may take.
    pub search_timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { search_timeout: Duration::from_secs(10) }
    }
}

/// An open store. Fields are dropped in this order: the folder stays locked until the last connection is closed.
pub struct Sqlite {
    /// What is read by key; a partition's owner waits for it.
    owner: Readers,
    searches: Readers,
    search_timeout: Duration,
    writer: Writer,
    /// Nobody else can use the folder, so there is nobody to wake; it never changes.
    wakeups: watch::Sender<u64>,
    /// One backup at a time.
    copying: Arc<Copying>,
    folder: Folder,
}

/// Open the store in a folder; both are created if they are not there yet.
pub fn open(folder: &Path, options: Options) -> Result<Sqlite, Error> {
    open_sized(folder, options, Sizes::default())
}

fn open_sized(folder: &Path, options: Options, sizes: Sizes) -> Result<Sqlite, Error> {
    let folder = Folder::lock(folder)?;
    let path = folder.database();
    let found = Found::look(&folder)?;
    if let Some(refusal) = found.refusal() {
        return Err(refusal);
    }
    let (mut connection, mark) = begin(&folder, &found).map_err(|failure| named(failure.into(), &path))?;
    let gate = Arc::new(Gate::default());
    let log = Log::of(&mut connection, sizes, gate.clone())?;
    let searches = available_parallelism().map_or(SEARCHES_MIN, usize::from).clamp(SEARCHES_MIN, SEARCHES_MAX);
    let searches = Lane { name: "search", threads: searches, cache_kilobytes: 16 << 10, plans: Plans::ByValue };
    let owner = Lane { name: "reader", threads: OWNER_READS_MAX, cache_kilobytes: 8 << 10, plans: Plans::Once };
    Ok(Sqlite {
        owner: Readers::start(&path, &owner, &gate)?,
        searches: Readers::start(&path, &searches, &gate)?,
        search_timeout: options.search_timeout,
        writer: Writer::start(connection, log, mark)?,
        wakeups: watch::Sender::new(0),
        copying: Arc::default(),
        folder,
    })
}

fn begin(folder: &Folder, found: &Found) -> Result<(Connection, Mark), Failure> {
    let mut connection = writer::connect(&folder.database())?;
    found.compare(&connection)?;
    mark::keep_log(&connection, false)?;
    schema::migrate(&mut connection)?;
    connection.execute_batch(statement::FORGET_LEASES)?;
    let mark = Mark::begin(folder, &connection)?;
    Ok((connection, mark))
}

/// Damage is told with the file that has it.
fn named(error: Error, path: &Path) -> Error {
    match error {
        Error::Corrupt { what } => Error::Corrupt { what: format!("{}: {what}", path.display()) },
        other => other,
    }
}

/// What a plan may depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plans {
    /// The statement alone: it is prepared once. Otherwise SQLite prepares most statements with an ORDER BY anew whenever a value is bound, which
    /// takes many times as long as running them.
    Once,
    /// The values too: a pattern that begins with letters is looked up by an index.
    ByValue,
}

/// What all connections have in common.
fn configure(connection: &Connection, plans: Plans) -> Result<(), Failure> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, plans == Plans::Once)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.pragma_update(None, "foreign_keys", false)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    Ok(())
}
