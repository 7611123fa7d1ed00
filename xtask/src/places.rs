//! Where things are: the checkout, and the folder under `target` that belongs to this tool.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::metadata::Metadata;

#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// The checkout.
    pub(crate) root: PathBuf,
    /// Cargo's target folder.
    pub(crate) target: PathBuf,
    /// Environments of the clients, the private database cluster, logs: all that this tool makes.
    pub(crate) own: PathBuf,
}

impl Places {
    pub(crate) fn find(metadata: &Metadata) -> Result<Places, String> {
        let target = metadata.target_directory.clone();
        let own = target.join("xtask");
        let logs = own.join("logs");
        std::fs::create_dir_all(&logs).map_err(|error| format!("cannot make {}: {error}", logs.display()))?;
        Ok(Places { root: root(), target, own })
    }

    pub(crate) fn log(&self, name: &str) -> PathBuf {
        let file: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect();
        self.own.join("logs").join(format!("{file}.log"))
    }

    pub(crate) fn clients(&self) -> PathBuf {
        self.root.join("clients")
    }

    /// The server under test.
    pub(crate) fn caudal(&self) -> PathBuf {
        self.target.join("debug").join("caudal")
    }

    /// The server as it is shipped: what is measured.
    pub(crate) fn caudal_release(&self) -> PathBuf {
        self.target.join("release").join("caudal")
    }

    pub(crate) fn cargo(&self) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.current_dir(&self.root).env("CARGO_TARGET_DIR", &self.target);
        // What cargo told us of ourselves when it ran us: build scripts of others would take it for a change, and build everything anew.
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")) {
                command.env_remove(&name);
            }
        }
        command
    }

    /// Two runs in one target folder would pull the ground from under each other.
    pub(crate) fn sole_run(&self) -> Result<File, String> {
        let path = self.own.join("lock");
        let file = File::create(&path).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(_) => Err(format!("another `cargo xtask test` or `bench` runs in {}", self.target.display())),
        }
    }
}

/// The checkout this tool was built from.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in a folder of the checkout").to_owned()
}
