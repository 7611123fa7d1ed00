//! The store in a file: SQLite, in a folder that one server has at a time.
//!
//! Reading order: [`open`], [`folder`] (the lock), [`schema`] (migrations), [`writer`] and [`readers`] (who talks to the
//! database), then `write/` (what a tick writes) and `read/` (what is read).
//!
//! - All writing is done by one thread with one connection. What waits for it is written together, in one transaction with one
//!   flush to disk; nobody is answered before that.
//! - Reading is done by a few threads with connections of their own, each read in a snapshot of its own.
//! - A failed write (a full disk) changes nothing and is not remembered: the next one is simply tried.
//!
//! Deliberately absent: more than one server. That is what PostgreSQL is for.

mod failure;
mod folder;
mod read;
mod readers;
mod schema;
mod statement;
mod store;
mod write;
mod writer;

use std::path::Path;

use ::store::Error;
use rusqlite::Connection;
use tokio::sync::watch;

use failure::Failure;
use folder::Folder;
use readers::Readers;
use writer::Writer;

/// Statements a connection keeps prepared.
const STATEMENTS_MAX: usize = 128;

/// An open store. Fields are dropped in this order: the folder stays locked until the last connection is closed.
pub struct Sqlite {
    readers: Readers,
    writer: Writer,
    /// Nobody else can use the folder, so there is nobody to wake; it never changes.
    wakeups: watch::Sender<u64>,
    _folder: Folder,
}

/// Open the store in a folder; both are created if they are not there yet.
pub fn open(folder: &Path) -> Result<Sqlite, Error> {
    let folder = Folder::lock(folder)?;
    let path = folder.database();
    let mut connection = writer::connect(&path)?;
    schema::migrate(&mut connection)?;
    connection.execute_batch(statement::FORGET_LEASES).map_err(Failure::from)?;
    let writer = Writer::start(connection)?;
    let readers = Readers::start(&path)?;
    Ok(Sqlite { readers, writer, wakeups: watch::Sender::new(0), _folder: folder })
}

/// What all connections have in common.
fn configure(connection: &Connection) -> Result<(), Failure> {
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    connection.pragma_update(None, "foreign_keys", false)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    Ok(())
}
