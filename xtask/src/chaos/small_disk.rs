//! A disk of a few megabytes that can be filled and made read-only: memory mounted in a namespace of its own, which ends with us.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::children::{Farewell, Running};
use crate::postgres::we_are_root;

const MOUNTED_MAX: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct SmallDisk {
    pub(super) folder: PathBuf,
    /// The words that start a program where the disk can be seen.
    pub(super) enter: Vec<String>,
    _holder: Running,
}

impl SmallDisk {
    pub(super) fn mount(folder: &Path, megabytes: u32) -> Result<SmallDisk, String> {
        std::fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        let namespaces: &[&str] = if we_are_root() { &["--mount"] } else { &["--user", "--map-root-user", "--mount"] };
        let script = format!("mount -t tmpfs -o size={megabytes}m tmpfs \"$0\" && touch \"$0\"/mounted && exec sleep 100000");
        let mut command = Command::new("unshare");
        command.args(namespaces).args(["sh", "-c", &script]).arg(folder);
        let mut holder = Running::start(&mut command, Farewell::Terminate)
            .map_err(|error| format!("a disk that can be filled needs `unshare` of util-linux: {error}"))?;
        let mut enter = vec!["nsenter".to_owned(), "--target".to_owned(), holder.child.id().to_string(), "--mount".to_owned()];
        if !we_are_root() {
            enter.extend(["--user", "--preserve-credentials"].map(str::to_owned));
        }
        let deadline = Instant::now() + MOUNTED_MAX;
        loop {
            let mounted = run(&enter, &["test", "-e", &folder.join("mounted").to_string_lossy()]);
            match (mounted, holder.child.try_wait()) {
                (Ok(()), _) => break,
                (_, Ok(None)) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(20)),
                _ => return Err("cannot mount memory as a disk: this needs root or user namespaces".to_owned()),
            }
        }
        Ok(SmallDisk { folder: folder.to_owned(), enter, _holder: holder })
    }

    /// Not one byte is left.
    pub(super) fn fill(&self) {
        // It ends with the error that is wanted.
        self.run(&["sh", "-c", "cat /dev/zero > \"$0\"/ballast", &self.folder.to_string_lossy()]).ok();
    }

    pub(super) fn make_room(&self) -> Result<(), String> {
        self.run(&["rm", &self.folder.join("ballast").to_string_lossy()])
    }

    pub(super) fn remount(&self, how: &str) -> Result<(), String> {
        self.run(&["mount", "-o", &format!("remount,{how}"), &self.folder.to_string_lossy()])
    }

    /// A copy of a folder of this disk that can be read from outside.
    pub(super) fn copy(&self, from: &Path, to: &Path) -> Result<(), String> {
        if to.exists() {
            std::fs::remove_dir_all(to).map_err(|error| format!("cannot remove {}: {error}", to.display()))?;
        }
        self.run(&["cp", "-r", &from.to_string_lossy(), &to.to_string_lossy()])
    }

    fn run(&self, words: &[&str]) -> Result<(), String> {
        run(&self.enter, words)
    }
}

fn run(enter: &[String], words: &[&str]) -> Result<(), String> {
    let mut command = Command::new(&enter[0]);
    command.args(&enter[1..]).args(words).stdout(Stdio::null()).stderr(Stdio::null());
    let status = command.status().map_err(|error| format!("cannot run {}: {error}", enter[0]))?;
    if status.success() { Ok(()) } else { Err(format!("`{}` failed: {status}", words.join(" "))) }
}
