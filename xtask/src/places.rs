//! Where things are: the checkout, and the folder under `target` that belongs to this tool.

use std::path::{Path, PathBuf};

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
}

/// The checkout this tool was built from.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in a folder of the checkout").to_owned()
}
