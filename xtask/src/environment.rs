//! Folders with what a client needs, kept between runs: made again only when what they are made from changes.

use std::fs;
use std::path::Path;

use crate::summary::Outcome;

/// Where the pins that an environment was made from are noted, inside it. Written last, so a half-made environment has none.
const PINS: &str = "pins.txt";

/// Whether an environment can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Readiness {
    Ready,
    /// The toolchain for it is not on this machine, and is not ours to install.
    Missing(String),
    Failed(String),
}

impl Readiness {
    /// What becomes of a part that cannot be run. It fails: what is to be left out is left out by name.
    pub(crate) fn unless_ready(&self, part: &str) -> Option<Outcome> {
        match self {
            Readiness::Ready => None,
            Readiness::Missing(why) => Some(Outcome::Broken(format!("{why}: install it, or leave it out with --skip {part}"))),
            Readiness::Failed(why) => Some(Outcome::Broken(why.clone())),
        }
    }
}

impl From<Result<(), String>> for Readiness {
    fn from(result: Result<(), String>) -> Readiness {
        match result {
            Ok(()) => Readiness::Ready,
            Err(why) => Readiness::Failed(why),
        }
    }
}

/// Makes `folder` with `make` unless it was already made from these `pins`.
pub(crate) fn keep(folder: &Path, pins: &str, make: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    let note = folder.join(PINS);
    if fs::read_to_string(&note).is_ok_and(|noted| noted == pins) {
        return Ok(());
    }
    println!("making {} …", folder.display());
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|error| format!("cannot remove {}: {error}", folder.display()))?;
    }
    fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    make()?;
    fs::write(&note, pins).map_err(|error| format!("cannot write {}: {error}", note.display()))
}

/// The text of all these files, as pins.
pub(crate) fn pins(files: &[&Path]) -> Result<String, String> {
    let read = |file: &&Path| fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()));
    Ok(files.iter().map(read).collect::<Result<Vec<_>, _>>()?.join("\n"))
}
