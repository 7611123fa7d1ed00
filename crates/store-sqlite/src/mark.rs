//! Whether what lies in a folder is the whole store (ADR 32).
//!
//! A store says in its own file whether it was closed in order; if so, that file is all there is. Otherwise the write-ahead log beside it is
//! part of it, and a file of ours, the mark, says which file the log belongs to and which commands are known to be on disk. So a file that
//! was copied while it was in use, a log that was removed or cut short, and an older file in its place are seen before anything is written.
//!
//! The mark is written over in place, ten times a second at most and without a flush: after a power cut it may be behind, never ahead.

use std::fs::{File, Metadata};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, UNIX_EPOCH};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _};
use store::Error;

use crate::failure::Failure;
use crate::folder::{FILE_MODE, Folder, unusable};

/// Less than a sector, so that it is written as a whole; every mark is this long.
const BYTES: usize = 256;
const EVERY: Duration = Duration::from_millis(100);

/// What a store says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Identity {
    id: String,
    opened: i64,
    is_closed: bool,
}

/// How far it has come: epochs, positions of logs and of inboxes, each summed over partitions. None of them ever goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reached([i64; 3]);

impl Reached {
    fn is_behind(self, other: Self) -> bool {
        self.0.iter().zip(other.0).any(|(ours, theirs)| *ours < theirs)
    }
}

/// Tells a file from its copies: its number in the file system, and when it was made where that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileId {
    number: u64,
    made: Option<u128>,
}

impl FileId {
    fn of(found: &Metadata) -> Self {
        let made = found.created().ok().and_then(|made| made.duration_since(UNIX_EPOCH).ok());
        Self { number: found.ino(), made: made.map(|since| since.as_nanos()) }
    }

    fn is_other(self, than: Self) -> bool {
        let made_elsewhen = self.made.zip(than.made).is_some_and(|(ours, theirs)| ours != theirs);
        self.number != than.number || made_elsewhen
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Noted {
    id: String,
    opened: i64,
    file: FileId,
    reached: Reached,
}

impl Noted {
    fn text(&self) -> String {
        let [epoch, position, inbox] = self.reached.0;
        let made = self.file.made.map_or("-".to_owned(), |made| made.to_string());
        let text = format!("caudal-mark 1 {} {} {} {made} {epoch} {position} {inbox}", self.id, self.opened, self.file.number);
        format!("{text:<width$}\n", width = BYTES - 1)
    }

    fn read(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let ["caudal-mark", "1", id, opened, number, made, reached @ ..] = words.as_slice() else { return None };
        let reached: Vec<i64> = reached.iter().map(|word| word.parse().ok()).collect::<Option<_>>()?;
        Some(Self {
            id: (*id).to_owned(),
            opened: opened.parse().ok()?,
            file: FileId { number: number.parse().ok()?, made: made.parse().ok() },
            reached: Reached(reached.try_into().ok()?),
        })
    }
}

/// What a folder holds, looked at before SQLite does anything there.
pub(crate) struct Found {
    folder: PathBuf,
    /// What the database file says without its log.
    alone: Option<Identity>,
    is_empty: bool,
    is_cut: bool,
    has_log: bool,
    file: FileId,
    noted: Option<Noted>,
}

impl Found {
    pub(crate) fn look(folder: &Folder) -> Result<Self, Error> {
        let (database, log) = (folder.database(), folder.log());
        let unusable = |error: std::io::Error| Error::unavailable(format_args!("{}: {error}", database.display()));
        let metadata = database.metadata().map_err(unusable)?;
        let noted = std::fs::read_to_string(folder.mark()).ok().and_then(|text| Noted::read(&text));
        Ok(Self {
            folder: folder.path().to_owned(),
            alone: alone(&database),
            is_empty: metadata.len() == 0,
            is_cut: is_cut(&database, metadata.len()).map_err(unusable)?,
            has_log: log.metadata().is_ok_and(|found| 0 < found.len()),
            file: FileId::of(&metadata),
            noted,
        })
    }

    /// Why nobody should go on with these files, if so.
    pub(crate) fn refusal(&self) -> Option<Error> {
        let is_copy = self
            .noted
            .as_ref()
            .is_none_or(|noted| noted.file.is_other(self.file) || self.alone.as_ref().is_some_and(|alone| alone.id != noted.id));
        let why = match (&self.alone, self.has_log) {
            _ if self.is_empty => self.noted.as_ref().map(|_| "caudal.db is gone or empty, and caudal.mark knows a store here"),
            (Some(_), true) if is_copy => Some(
                "these files were copied while a server used them, or after it was killed: caudal.db and its log may be of different moments",
            ),
            (None, true) if is_copy && self.noted.is_some() => {
                Some("caudal.db is not the file that the log beside it belongs to")
            }
            (Some(Identity { is_closed: false, .. }), false) => Some(
                "caudal.db was in use when it was copied, or its log caudal.db-wal was removed: what the log held is missing",
            ),
            (_, false) if self.is_cut => Some("caudal.db is shorter than it says itself: its end is missing"),
            (None, false) if self.noted.is_some() => Some("caudal.db is not the store that caudal.mark knows"),
            (Some(_) | None, _) => None,
        };
        why.map(|why| self.refused(why))
    }

    /// The same, once SQLite has put file and log together.
    fn refusal_of(&self, identity: &Identity, reached: Reached) -> Option<Error> {
        let noted = self.noted.as_ref().filter(|noted| noted.id == identity.id)?;
        // The mark is written before the store says that it is opened.
        let is_behind = reached.is_behind(noted.reached) || identity.opened + 1 < noted.opened;
        let [_, had, _] = reached.0;
        let [_, known, _] = noted.reached.0;
        let why = format!(
            "the last writes are missing, or an older file was put in place of the store: it ends at position {had}, and position {known} was on disk"
        );
        is_behind.then(|| self.refused(&why))
    }

    fn refused(&self, why: &str) -> Error {
        let folder = self.folder.display();
        Error::Incomplete {
            what: format!(
                "{folder}: {why}. Use the original folder, or restore a backup into a new one (caudal restore FILE --data FOLDER). \
                 If there is neither, `caudal check --data {folder} --accept` lets a server go on with what is here"
            ),
        }
    }

    /// Compares what is known with what SQLite has read; nothing is written.
    pub(crate) fn compare(&self, connection: &Connection) -> Result<(), Failure> {
        let Some(identity) = identity(connection)? else { return Ok(()) };
        self.refusal_of(&identity, reached(connection)?).map_or(Ok(()), |refusal| Err(refusal.into()))
    }
}

/// Keeps the log where it is when the connection is closed: as long as it is on, looking changes nothing.
pub(crate) fn keep_log(connection: &Connection, kept: bool) -> Result<(), Failure> {
    Ok(connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, kept).map(drop)?)
}

/// Notes how far an open store has come.
pub(crate) struct Mark {
    file: File,
    noted: Noted,
    written: Instant,
    failed: bool,
}

impl Mark {
    /// From here on the store says that it is in use, in its file and beside it.
    pub(crate) fn begin(folder: &Folder, connection: &Connection) -> Result<Self, Failure> {
        let before = identity(connection)?.ok_or_else(|| Error::corrupt("the store has no identity"))?;
        let unusable = |error: std::io::Error| unusable(&folder.mark(), &error);
        let metadata = folder.database().metadata().map_err(unusable)?;
        let noted =
            Noted { id: before.id, opened: before.opened + 1, file: FileId::of(&metadata), reached: reached(connection)? };
        let open = || {
            let mut file =
                File::options().create(true).truncate(false).read(true).write(true).mode(FILE_MODE).open(folder.mark())?;
            file.seek(SeekFrom::Start(0))?;
            file.write_all(noted.text().as_bytes())?;
            file.set_len(BYTES as u64)?;
            file.sync_all()?;
            File::open(folder.path())?.sync_all()?;
            Ok(file)
        };
        let file = open().map_err(unusable)?;
        connection.execute("UPDATE identity SET opened = ?, is_closed = 0", [noted.opened])?;
        // A copy of the file alone is to say that it was in use.
        connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", (), |_| Ok(()))?;
        Ok(Self { file, noted, written: Instant::now(), failed: false })
    }

    /// Asked after every commit.
    pub(crate) fn tend(&mut self, connection: &Connection, now: Instant) {
        if now.duration_since(self.written) < EVERY {
            return;
        }
        self.written = now;
        let Ok(reached) = reached(connection) else { return };
        if reached == self.noted.reached {
            return;
        }
        self.noted.reached = reached;
        let written = self.file.write_all_at(self.noted.text().as_bytes(), 0);
        if let Err(error) = &written
            && !self.failed
        {
            // What is on disk is on disk; only a loss of it would not be noticed.
            tracing::warn!(%error, "how far the store has come cannot be noted beside it");
        }
        self.failed = written.is_err();
    }

    /// The file is all there is from here on, if nobody else has it open.
    pub(crate) fn end(mut self, connection: &Connection) {
        self.written -= EVERY;
        self.tend(connection, Instant::now());
        if let Err(error) = close(connection) {
            tracing::warn!(error = ?error, "the store is not closed in order; its log stays beside it");
        }
    }
}

/// Says that the file is all there is, and makes it so.
pub(crate) fn close(connection: &Connection) -> Result<(), Failure> {
    connection.execute("UPDATE identity SET is_closed = 1", ())?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))?;
    Ok(())
}

pub(crate) fn id(connection: &Connection) -> Result<String, Failure> {
    Ok(identity(connection)?.ok_or_else(|| Error::corrupt("the store has no identity"))?.id)
}

/// Whether a file that has no log beside it is all there is.
pub(crate) fn is_whole(database: &Path) -> bool {
    alone(database).is_none_or(|identity| identity.is_closed)
}

/// Whether the file has fewer bytes than the pages it says it has. SQLite looks at whole pages only, and takes zeros for the rest of the last one.
fn is_cut(database: &Path, bytes: u64) -> std::io::Result<bool> {
    let mut head = [0; 100];
    let length = bytes.min(head.len() as u64) as usize;
    File::open(database)?.read_exact_at(&mut head[..length], 0)?;
    if !head.starts_with(b"SQLite format 3\0") {
        // Whatever it is, it is for SQLite to refuse.
        return Ok(false);
    }
    if length < head.len() {
        return Ok(true);
    }
    let number = |at: usize| u64::from(u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]));
    let page_bytes = match u64::from(u16::from_be_bytes([head[16], head[17]])) {
        1 => 65_536,
        bytes => bytes,
    };
    // The number of pages holds if it was written together with the last change.
    Ok(number(24) == number(92) && bytes < number(28) * page_bytes)
}

fn alone(database: &Path) -> Option<Identity> {
    // Immutable: SQLite looks at this file only, and makes none beside it.
    let path = database.to_str()?.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(format!("file:{path}?immutable=1"), flags).ok()?;
    identity(&connection).ok()?
}

fn identity(connection: &Connection) -> Result<Option<Identity>, Failure> {
    let is_there: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema WHERE name = 'identity'", (), |row| row.get(0))?;
    if is_there == 0 {
        return Ok(None);
    }
    let row = |row: &rusqlite::Row<'_>| Ok(Identity { id: row.get(0)?, opened: row.get(1)?, is_closed: row.get(2)? });
    Ok(connection.query_row("SELECT id, opened, is_closed FROM identity", (), row).optional()?)
}

fn reached(connection: &Connection) -> Result<Reached, Failure> {
    let sql = "SELECT coalesce(sum(epoch), 0), coalesce(sum(position), 0), coalesce(sum(inbox_tail), 0) FROM partitions";
    Ok(connection.prepare_cached(sql)?.query_row((), |row| Ok(Reached([row.get(0)?, row.get(1)?, row.get(2)?])))?)
}

#[cfg(test)]
mod tests;
