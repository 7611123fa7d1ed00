//! A copy of the database while it is in use.

use std::fs::{File, remove_file};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use store::Error;

use crate::failure::Failure;
use crate::folder::FILE_MODE;

/// Pages copied at a time, and the pause after them: so the disk has time for others.
const PAGES: i32 = 1_000;
const PAUSE: Duration = Duration::from_millis(2);

/// Copies what the database holds at this moment into a file beside it, which has no name any more when it is returned. Meanwhile the
/// write-ahead log cannot begin anew: what is written during the copy lies there.
pub(crate) fn copy(database: &Path) -> Result<File, Error> {
    let path = database.with_extension("backup");
    let unusable = |error: std::io::Error| Error::unavailable(format_args!("{}: {error}", path.display()));
    // Left behind by a server that was killed.
    if path.exists() {
        remove_file(&path).map_err(unusable)?;
    }
    let file = File::options().create_new(true).read(true).write(true).mode(FILE_MODE).open(&path).map_err(unusable)?;
    let copied = copy_into(database, &path);
    remove_file(&path).map_err(unusable)?;
    copied.map_err(Error::from)?;
    Ok(file)
}

fn copy_into(database: &Path, path: &Path) -> Result<(), Failure> {
    let source = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    source.busy_timeout(Duration::from_secs(5))?;
    // One snapshot from the first page to the last: without it every write of others would let the copy begin again.
    source.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema;")?;
    let mut copy = Connection::open(path)?;
    {
        let backup = Backup::new(&source, &mut copy)?;
        while backup.step(PAGES)? != StepResult::Done {
            std::thread::sleep(PAUSE);
        }
    }
    // All in one file, which says so.
    copy.execute("UPDATE identity SET is_closed = 1", ())?;
    copy.pragma_update(None, "journal_mode", "delete")?;
    Ok(())
}
