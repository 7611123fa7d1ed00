//! `caudal backup`, `caudal restore` and `caudal check`.

use std::fs::File;
use std::io::{IsTerminal as _, Read, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use crate::check;
use crate::cli::Remote;
use crate::client::{agent, read, show, url};
use crate::table::print;

/// A large store takes its time.
const BACKUP_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// Between two words about progress.
const PROGRESS_BYTES: u64 = 64 * 1024 * 1024;

#[derive(Debug, Args)]
pub(crate) struct Backup {
    /// File to write, which must not be there yet
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Debug, Args)]
pub(crate) struct Restore {
    /// A file that `caudal backup` has written
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Folder of the embedded store, without a store in it
    #[arg(long, value_name = "FOLDER")]
    data: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Folder of the embedded store; no server may be using it
    #[arg(long, value_name = "FOLDER", env = "CAUDAL_DATA", default_value = "./caudal-data")]
    data: PathBuf,
    /// Let a server go on with what is there although something is missing, if it is sound
    #[arg(long)]
    accept: bool,
    /// Print JSON, one document
    #[arg(long)]
    json: bool,
}

pub(crate) fn backup(backup: &Backup) -> Result<(), String> {
    let (remote, file) = (&backup.remote, &backup.file);
    if file.exists() {
        return Err(format!("{} is there already: choose another name", file.display()));
    }
    if std::io::stderr().is_terminal() {
        eprintln!("The server makes a copy of its store, slowly enough for others to go on …");
    }
    let sent = agent(remote, BACKUP_MAX)?.post(url(remote, "/v1/backup")).send_empty();
    let mut response = match sent {
        Ok(response) if response.status().is_success() => response,
        refused => return Err(read(remote, refused).err().map_or_else(|| "no backup came".to_owned(), String::from)),
    };
    let length = response.body().content_length();
    // Only a whole one gets the name.
    let partial = PathBuf::from(format!("{}.partial", file.display()));
    let taken = take(response.body_mut().as_reader(), &partial, length).and_then(|bytes| {
        std::fs::rename(&partial, file).map(|()| bytes).map_err(|error| format!("{}: {error}", file.display()))
    });
    let bytes = taken.inspect_err(|_| drop(std::fs::remove_file(&partial)))?;
    if remote.json {
        return show(&json!({ "file": file.display().to_string(), "bytes": bytes }));
    }
    print(&format!("{} has {bytes} bytes. Bring it back with: caudal restore {0} --data FOLDER\n", file.display()));
    Ok(())
}

fn take(mut from: impl Read, path: &Path, length: Option<u64>) -> Result<u64, String> {
    let told = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut file = File::options().create(true).truncate(true).write(true).mode(0o600).open(path).map_err(told)?;
    let (mut bytes, mut said) = (0, 0);
    let mut piece = vec![0; 256 * 1024];
    loop {
        let count = from.read(&mut piece).map_err(|error| format!("the backup broke off: {error}"))?;
        if count == 0 {
            break;
        }
        file.write_all(&piece[..count]).map_err(told)?;
        bytes += count as u64;
        if said + PROGRESS_BYTES <= bytes && std::io::stderr().is_terminal() {
            said = bytes;
            eprintln!("{} of {} MiB", bytes >> 20, length.unwrap_or(bytes) >> 20);
        }
    }
    match length {
        Some(length) if length != bytes => Err(format!("the backup broke off after {bytes} of {length} bytes")),
        Some(_) | None => file.sync_all().map(|()| bytes).map_err(told),
    }
}

pub(crate) fn restore(restore: &Restore) -> Result<(), String> {
    store_sqlite::restore(&restore.file, &restore.data).map_err(|error| error.to_string())?;
    print(&format!("Restored. Next: caudal serve --data {}\n", restore.data.display()));
    Ok(())
}

pub(crate) fn check(check: &Check) -> Result<(), String> {
    let mut condition = store_sqlite::check(&check.data).map_err(|error| error.to_string())?;
    if check.accept && condition.faults.is_empty() {
        store_sqlite::accept(&check.data).map_err(|error| error.to_string())?;
        condition.refusal = None;
    }
    let is_whole = condition.refusal.is_none();
    let mut faults = condition.faults;
    faults.extend(condition.refusal);
    let mut counts = Value::Null;
    // Opening a store of an earlier server would change it, and rows of a damaged file are not worth reading.
    if faults.is_empty() && condition.is_current {
        let found = check::rows(&check.data)?;
        counts = json!(found.counts.into_iter().collect::<std::collections::BTreeMap<_, _>>());
        faults = found.faults;
    }
    if check.json {
        show(&json!({ "faults": faults, "rows": counts, "isCurrent": condition.is_current }))?;
    } else {
        for fault in &faults {
            print(&format!("{fault}\n"));
        }
        if !condition.is_current && faults.is_empty() {
            print("The file is sound. It was written by an earlier server; its rows are checked once this one has opened it.\n");
        }
        for (entity, count) in counts.as_object().into_iter().flatten() {
            print(&format!("{entity}: {count} read\n"));
        }
    }
    let data = check.data.display();
    match faults.len() {
        0 if check.json || !condition.is_current => Ok(()),
        0 => {
            print(&format!("{data} is sound: every page and row was read, every definition compiled.\n"));
            Ok(())
        }
        _ if !is_whole => Err(format!("{data} is not all there")),
        1 => Err(format!("a fault in {data}. Restore a backup: caudal restore FILE --data FOLDER")),
        count => Err(format!("{count} faults in {data}. Restore a backup: caudal restore FILE --data FOLDER")),
    }
}
