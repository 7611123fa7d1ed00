//! What went wrong inside, and how that looks from outside.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use rusqlite::{Connection, ErrorCode};
use store::Error;

/// Either SQLite failed or what it gave made no sense.
#[derive(Debug)]
pub(crate) enum Failure {
    Sql(rusqlite::Error),
    Store(Error),
}

/// As much as SQLite writes at once, and more than a file system has left over.
const PROBE_BYTES: usize = 64 << 10;

impl Failure {
    /// What to tell about a write that failed. Some full disks and used-up quotas are only found out when what was written is flushed,
    /// which SQLite takes for a disk that fails: whether there is room is tried out then.
    pub(crate) fn told_by(self, connection: &Connection) -> Error {
        match (&self, connection.path()) {
            (Self::Sql(error), Some(path)) if error.sqlite_error_code() == Some(ErrorCode::SystemIoFailure) => {
                let probe = format!("{path}-probe");
                let room = fill(Path::new(&probe));
                // It may not even be there.
                let _ = std::fs::remove_file(&probe);
                match room.map_err(|error| error.kind()) {
                    Err(ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => Error::full(error),
                    Ok(()) | Err(_) => self.into(),
                }
            }
            _ => self.into(),
        }
    }
}

fn fill(path: &Path) -> std::io::Result<()> {
    let mut file = File::options().create(true).truncate(true).write(true).open(path)?;
    file.write_all(&[0; PROBE_BYTES])?;
    file.sync_all()
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Sql(error) => from_sql(&error),
            Failure::Store(error) => error,
        }
    }
}

fn from_sql(error: &rusqlite::Error) -> Error {
    let Some(code) = error.sqlite_error_code() else {
        // A column of another type than expected, or a statement that gives more or fewer columns.
        return Error::corrupt(error);
    };
    match code {
        ErrorCode::DiskFull => Error::full(error),
        ErrorCode::ReadOnly => Error::read_only(error),
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
            Error::unavailable("the database file is locked by another program")
        }
        ErrorCode::CannotOpen | ErrorCode::PermissionDenied => {
            Error::unavailable(format_args!("the database file cannot be opened: {error}"))
        }
        ErrorCode::SystemIoFailure => Error::unavailable(format_args!("the disk fails: {error}")),
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Error::corrupt(format_args!(
            "the database file is damaged ({error}); stop the server, let `caudal check` say where, and restore a backup"
        )),
        ErrorCode::ConstraintViolation => Error::corrupt(error),
        _ => Error::unavailable(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::tests::Folder;

    #[test]
    fn a_disk_that_fails_because_it_is_full_is_full() {
        let folder = Folder::new("failing-disk");
        std::fs::create_dir_all(folder.path()).unwrap();
        let path = folder.path().join("x.db");
        let connection = Connection::open(&path).unwrap();
        let fails =
            || Failure::Sql(rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_IOERR_FSYNC), None));
        assert!(matches!(fails().told_by(&connection), Error::Unavailable { .. }), "there is room");
        assert!(!path.with_file_name("x.db-probe").exists());
        std::os::unix::fs::symlink("/dev/full", path.with_file_name("x.db-probe")).unwrap();
        assert!(matches!(fails().told_by(&connection), Error::Full { .. }));
    }
}
