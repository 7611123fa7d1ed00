//! `caudal backup` and `caudal restore`.

use std::fs::File;
use std::io::{Read, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use clap::Args;
use serde_json::json;
use store::backup::Rate;

use crate::cli::Remote;
use crate::client::{agent, read, show, url};
use crate::progress::{Progress, megabytes};
use crate::table::print;

/// A large store takes its time.
const BACKUP_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// Between two looks at how far the server is, and how long one may take.
const LOOK_EVERY: Duration = Duration::from_millis(500);
const LOOK_MAX: Duration = Duration::from_secs(5);

/// 0 for as fast as it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct BytesPerSecond(u64);

#[derive(Debug, Args)]
pub(crate) struct Backup {
    /// File to write, which must not be there yet
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// How fast the server copies its store, and sends it, at most: such as 20MB a second, or unlimited [default: 50MB]
    #[arg(long, value_name = "RATE", value_parser = rate)]
    rate: Option<BytesPerSecond>,
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

pub(crate) fn backup(backup: &Backup) -> Result<(), String> {
    let (remote, file) = (&backup.remote, &backup.file);
    if file.exists() {
        return Err(format!("{} is there already: choose another name", file.display()));
    }
    // Servers have a rate of their own, and older ones take none.
    let query = backup.rate.map_or_else(String::new, |rate| format!("?bytesPerSecond={}", rate.0));
    let mut post =
        || -> Result<_, String> { Ok(agent(remote, BACKUP_MAX)?.post(url(remote, &format!("/v1/backup{query}"))).send_empty()) };
    let mut response = match while_watched(remote, &mut post)? {
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

/// Nothing comes before the server has copied its store: meanwhile it is asked how far it is.
fn while_watched<T>(remote: &Remote, call: &mut dyn FnMut() -> Result<T, String>) -> Result<T, String> {
    let (over, is_over) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut progress = Progress::begin();
            // Ends when the other end is dropped.
            while is_over.recv_timeout(LOOK_EVERY) == Err(mpsc::RecvTimeoutError::Timeout) {
                if let Some((copied, total)) = copied(remote) {
                    progress.tell(|| format!("The server copies its store: {} of {}", megabytes(copied), megabytes(total)));
                }
            }
        });
        let called = call();
        drop(over);
        called
    })
}

/// An older server does not tell, and one that is busy need not.
fn copied(remote: &Remote) -> Option<(u64, u64)> {
    let asked = agent(remote, LOOK_MAX).ok()?.get(url(remote, "/v1/backup")).call();
    let answer = read(remote, asked).ok()?;
    Some((answer["copiedBytes"].as_u64()?, answer["totalBytes"].as_u64()?))
}

fn take(mut from: impl Read, path: &Path, length: Option<u64>) -> Result<u64, String> {
    let told = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut file = File::options().create(true).truncate(true).write(true).mode(0o600).open(path).map_err(told)?;
    let mut progress = Progress::begin();
    let mut bytes = 0;
    let mut piece = vec![0; 256 * 1024];
    loop {
        let count = from.read(&mut piece).map_err(|error| format!("the backup broke off: {error}"))?;
        if count == 0 {
            break;
        }
        file.write_all(&piece[..count]).map_err(told)?;
        bytes += count as u64;
        progress.tell(|| format!("The copy arrives: {} of {}", megabytes(bytes), megabytes(length.unwrap_or(bytes))));
    }
    match length {
        Some(length) if length != bytes => Err(format!("the backup broke off after {bytes} of {length} bytes")),
        Some(_) | None => file.sync_all().map(|()| bytes).map_err(told),
    }
}

/// Such as 20MB; bytes a second, 0 for no limit.
fn rate(text: &str) -> Result<BytesPerSecond, String> {
    if text == "unlimited" {
        return Ok(BytesPerSecond(0));
    }
    let digits = text.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    let unit = match text[digits.len()..].trim() {
        "" => Some(1),
        "KB" => Some(1_000),
        "MB" => Some(1_000_000),
        "GB" => Some(1_000_000_000),
        _ => None,
    };
    let bytes = digits.parse::<u64>().ok().zip(unit).and_then(|(number, unit)| number.checked_mul(unit));
    match bytes {
        Some(bytes) if Rate::of(bytes).is_some() => Ok(BytesPerSecond(bytes)),
        Some(_) => Err(format!("a backup goes at {} a second at least, or it would never end", megabytes(Rate::BYTES_MIN))),
        None => Err("a rate is a number with KB, MB or GB, such as 20MB, or unlimited".to_owned()),
    }
}

pub(crate) fn restore(restore: &Restore) -> Result<(), String> {
    store_sqlite::restore(&restore.file, &restore.data).map_err(|error| error.to_string())?;
    print(&format!("Restored. Next: caudal serve --data {}\n", restore.data.display()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_as_people_write_them() {
        let known =
            [("20MB", 20_000_000), ("1500KB", 1_500_000), ("2 GB", 2_000_000_000), ("1000000", 1_000_000), ("unlimited", 0)];
        for (text, bytes) in known {
            assert_eq!(rate(text).map(|rate| rate.0), Ok(bytes), "{text}");
        }
        for odd in ["", "MB", "20M", "-5MB", "1.5MB", "0", "999KB", "99999999999999GB"] {
            assert!(rate(odd).is_err(), "{odd}");
        }
    }
}
