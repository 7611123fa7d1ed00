//! A copy of the database while it is in use.

use std::fs::{File, remove_file};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use store::Error;
use store::backup::{Brake, Copied, Rate};

use crate::failure::Failure;
use crate::folder::FILE_MODE;

/// Pages copied at a time: a megabyte.
const PAGES: i32 = 256;

/// So much of the copy is left to the system at most before it has to be on the disk: a rate is that of the disk, and no flood at the end.
const UNFLUSHED_MAX: u64 = 16 << 20;

/// The one backup there may be at a time, as those see it who ask.
#[derive(Default)]
pub(crate) struct Copying {
    busy: AtomicBool,
    copied: Mutex<Option<Copied>>,
}

impl Copying {
    pub(crate) fn copied(&self) -> Option<Copied> {
        *self.copied.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, copied: Option<Copied>) {
        *self.copied.lock().unwrap_or_else(PoisonError::into_inner) = copied;
    }

    /// `None` while there is one.
    pub(crate) fn begin(self: &Arc<Self>) -> Option<Alone> {
        (!self.busy.swap(true, Ordering::AcqRel)).then(|| Alone(self.clone()))
    }
}

/// Held while a backup is made.
pub(crate) struct Alone(Arc<Copying>);

impl Drop for Alone {
    fn drop(&mut self) {
        self.0.tell(None);
        self.0.busy.store(false, Ordering::Release);
    }
}

/// Somebody who waits for the copy; says so no longer once it is dropped.
pub(crate) struct Waiting(pub(crate) Arc<AtomicBool>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// How a copy goes: for whom, and how fast.
pub(crate) struct Course {
    pub(crate) alone: Alone,
    pub(crate) wanted: Arc<AtomicBool>,
    pub(crate) rate: Rate,
}

/// Copies what the database holds at this moment into a file beside it, which has no name any more when it is returned. Meanwhile the
/// write-ahead log cannot begin anew: what is written during the copy lies there. It ends early when nobody wants it any more.
pub(crate) fn copy(database: &Path, course: &Course) -> Result<File, Error> {
    let path = database.with_extension("backup");
    let unusable = |error: std::io::Error| Error::unavailable(format_args!("{}: {error}", path.display()));
    // Left behind by a server that was killed.
    if path.exists() {
        remove_file(&path).map_err(unusable)?;
    }
    let file = File::options().create_new(true).read(true).write(true).mode(FILE_MODE).open(&path).map_err(unusable)?;
    let copied = copy_into(database, &path, &file, course);
    remove_file(&path).map_err(unusable)?;
    copied.map_err(Error::from)?;
    Ok(file)
}

fn copy_into(database: &Path, path: &Path, file: &File, course: &Course) -> Result<(), Failure> {
    let source = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    source.busy_timeout(Duration::from_secs(5))?;
    // One snapshot from the first page to the last: without it every write of others would let the copy begin again.
    source.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema;")?;
    let page_bytes: u32 = source.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let mut copy = Connection::open(path)?;
    {
        let backup = Backup::new(&source, &mut copy)?;
        let mut brake = Brake::new(course.rate, Instant::now());
        let (mut copied, mut unflushed) = (0, 0);
        while backup.step(PAGES)? != StepResult::Done {
            let progress = backup.progress();
            let bytes = |pages: i32| u64::from(pages.unsigned_abs()) * u64::from(page_bytes);
            let total = bytes(progress.pagecount);
            let piece = total - bytes(progress.remaining) - copied;
            copied += piece;
            unflushed += piece;
            course.alone.0.tell(Some(Copied { bytes: copied, total }));
            if !course.wanted.load(Ordering::Relaxed) {
                return Err(Error::unavailable("nobody waits for the backup any more").into());
            }
            if UNFLUSHED_MAX <= unflushed {
                file.sync_data().map_err(|error| Error::unavailable(format_args!("{}: {error}", path.display())))?;
                unflushed = 0;
            }
            std::thread::sleep(brake.passed(piece, Instant::now()));
        }
    }
    // All in one file, which says so.
    copy.execute("UPDATE identity SET is_closed = 1", ())?;
    copy.pragma_update(None, "journal_mode", "delete")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;
    use crate::schema::tests::Folder;
    use crate::{Options, open};

    fn course(copying: &Arc<Copying>, wanted: bool) -> Course {
        let alone = copying.begin().unwrap();
        Course { alone, wanted: Arc::new(AtomicBool::new(wanted)), rate: Rate::UNLIMITED }
    }

    #[test]
    fn one_copy_is_made_at_a_time_and_a_copy_nobody_waits_for_ends() {
        let folder = Folder::new("backup-alone");
        let store = open(folder.path(), Options::default()).unwrap();
        let database = folder.path().join("caudal.db");
        // More than is copied at a time.
        let large = "CREATE TABLE large AS SELECT zeroblob(4000000) AS bytes";
        Connection::open(&database).unwrap().execute_batch(large).unwrap();
        let copying = Arc::new(Copying::default());
        let going = course(&copying, true);
        assert!(copying.begin().is_none());
        let file = copy(&database, &going).unwrap();
        assert!(4_000_000 < file.metadata().unwrap().size());
        let Copied { bytes, total } = copying.copied().unwrap();
        assert!(0 < bytes && bytes < total && 4_000_000 < total, "the last step is not told: {bytes} of {total}");
        drop(going);
        assert_eq!(copying.copied(), None);
        let left = copy(&database, &course(&copying, false)).unwrap_err().to_string();
        assert!(left.contains("nobody waits"), "{left}");
        assert!(!folder.path().join("caudal.backup").exists());
        assert!(copying.begin().is_some());
        drop(store);
    }
}
