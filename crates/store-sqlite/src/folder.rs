//! The data folder: one server at a time.

use std::fs::{File, TryLockError, create_dir_all};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use store::Error;

const LOCK: &str = "lock";
const DATABASE: &str = "caudal.db";

/// A folder this server has for itself until it drops it, or dies.
pub(crate) struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    pub(crate) fn lock(path: &Path) -> Result<Self, Error> {
        let unusable = |error| unusable(path, &error);
        create_dir_all(path).map_err(unusable)?;
        let lock = File::options().create(true).truncate(false).write(true).open(path.join(LOCK)).map_err(unusable)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path: path.to_owned(), _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(Error::InUse { what: path.display().to_string() }),
            Err(TryLockError::Error(error)) => Err(unusable(error)),
        }
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.path.join(DATABASE)
    }
}

/// Why there is no working in a folder, and what can be done about it.
fn unusable(path: &Path, error: &std::io::Error) -> Error {
    let folder = path.display();
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Error::full(format_args!("{folder}: {error}; make room there")),
        ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => Error::read_only(format_args!(
            "{folder}: {error}; make the folder writable for this user, or choose another one with --data"
        )),
        _ => Error::unavailable(format_args!("{folder}: {error}")),
    }
}
