//! The data folder: one server at a time, and nobody else's business.

use std::fs::{DirBuilder, File, Permissions, TryLockError, set_permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use store::Error;

const LOCK: &str = "lock";
const DATABASE: &str = "caudal.db";
const MARK: &str = "caudal.mark";
/// What SQLite keeps beside it, with the same permissions.
const BESIDE: [&str; 2] = ["caudal.db-wal", "caudal.db-shm"];

/// Whoever reads these files reads every variable: nobody but the server's user may.
const FOLDER_MODE: u32 = 0o700;
pub(crate) const FILE_MODE: u32 = 0o600;

/// A folder this server has for itself until it drops it, or dies.
pub(crate) struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    pub(crate) fn lock(path: &Path) -> Result<Self, Error> {
        if path.is_file() {
            return Err(Error::unavailable(format_args!("{} is a file: name a folder to keep the store in", path.display())));
        }
        // A folder that was there keeps its permissions: its owner may have had others in mind. The files in it are ours.
        DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path).map_err(|error| unusable(path, &error))?;
        let open = |name: &str| {
            let path = path.join(name);
            let file = File::options().create(true).truncate(false).write(true).mode(FILE_MODE).open(&path);
            file.map_err(|error| unusable(&path, &error))
        };
        let lock = open(LOCK)?;
        match lock.try_lock() {
            Ok(()) => {
                open(DATABASE)?;
                keep_private(path);
                Ok(Self { path: path.to_owned(), _lock: lock })
            }
            Err(TryLockError::WouldBlock) => Err(Error::InUse { what: path.display().to_string() }),
            Err(TryLockError::Error(error)) => Err(unusable(path, &error)),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.path.join(DATABASE)
    }

    /// SQLite's write-ahead log.
    pub(crate) fn log(&self) -> PathBuf {
        self.path.join(BESIDE[0])
    }

    pub(crate) fn mark(&self) -> PathBuf {
        self.path.join(MARK)
    }

    /// Removes what belongs to a database that is not here any more.
    pub(crate) fn forget_beside(&self) {
        for name in BESIDE.iter().chain(&[MARK]) {
            let _there_may_be_none = std::fs::remove_file(self.path.join(name));
        }
    }
}

/// What an earlier server made for others to read is closed to them. On a file system without permissions there is nothing to close.
fn keep_private(path: &Path) {
    for name in [LOCK, DATABASE].iter().chain(&BESIDE) {
        let _there_may_be_none = set_permissions(path.join(name), Permissions::from_mode(FILE_MODE));
    }
}

/// Why there is no working in a folder or with a file in it, and what can be done about it.
pub(crate) fn unusable(path: &Path, error: &std::io::Error) -> Error {
    let path = path.display();
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Error::full(format_args!("{path}: {error}; make room there")),
        ErrorKind::PermissionDenied => Error::read_only(format_args!(
            "{path}: {error}; let the folder and all in it belong to the user this server runs as (chown -R USER FOLDER), or choose another with --data"
        )),
        ErrorKind::ReadOnlyFilesystem => {
            Error::read_only(format_args!("{path}: {error}; make it writable, or choose another folder with --data"))
        }
        _ => Error::unavailable(format_args!("{path}: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_and_files_are_for_the_servers_user_alone() {
        let path = std::env::temp_dir().join(format!("caudal-sqlite-modes-{}", std::process::id()));
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        let opened = || crate::open(&path, crate::Options::default()).unwrap();
        let store = opened();
        assert_eq!(mode(&path), FOLDER_MODE);
        let names = [LOCK, DATABASE].into_iter().chain(BESIDE);
        for name in names.clone() {
            assert_eq!(mode(&path.join(name)), FILE_MODE, "{name}");
        }
        drop(store);
        for name in [LOCK, DATABASE] {
            set_permissions(path.join(name), Permissions::from_mode(0o644)).unwrap();
        }
        set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        let store = opened();
        for name in names {
            assert_eq!(mode(&path.join(name)), FILE_MODE, "{name}");
        }
        assert_eq!(mode(&path), 0o755);
        drop(store);
        std::fs::remove_dir_all(&path).unwrap();
    }

    #[test]
    fn what_belongs_to_another_user_is_named() {
        let refused = std::io::Error::from(ErrorKind::PermissionDenied);
        let told = unusable(Path::new("/data/caudal.db"), &refused).to_string();
        assert!(told.contains("/data/caudal.db: permission denied") && told.contains("chown"), "{told}");
    }

    #[test]
    fn a_file_is_no_folder() {
        let path = std::env::temp_dir().join(format!("caudal-sqlite-file-{}", std::process::id()));
        std::fs::write(&path, "").unwrap();
        let refused = Folder::lock(&path).map(drop).unwrap_err().to_string();
        std::fs::remove_file(&path).unwrap();
        assert!(refused.contains("is a file: name a folder"), "{refused}");
    }
}
