//! The Node folder under the target folder: the pinned packages, with our test programs copied beside them, where Node looks for both.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::environment::{Readiness, keep, pins};
use crate::places::Places;
use crate::{logged, packages};

const INSTALL_MAX: Duration = Duration::from_secs(600);

pub(crate) fn prepare(places: &Places) -> Readiness {
    make(places).into()
}

pub(crate) fn script(places: &Places, script: &str) -> Command {
    let mut command = Command::new("node");
    command.arg(folder(places).join(script));
    command
}

pub(crate) fn folder(places: &Places) -> PathBuf {
    places.own.join("node")
}

fn make(places: &Places) -> Result<(), String> {
    let source = places.clients().join("node");
    let folder = folder(places);
    let lists = [source.join("package.json"), source.join("package-lock.json")];
    keep(&folder, &pins(&[&lists[0], &lists[1]])?, || {
        let log = places.log("install-node");
        if !packages::found("npm") {
            packages::install(&packages::NODE, &log)?;
        }
        for list in &lists {
            copy(list, &folder)?;
        }
        let mut npm = Command::new("npm");
        npm.args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]).current_dir(&folder);
        logged::must(&mut npm, &log, INSTALL_MAX).map(drop)
    })?;
    let entries = fs::read_dir(&source).map_err(|error| format!("{}: {error}", source.display()))?;
    for file in entries.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "mjs")) {
        copy(&file, &folder)?;
    }
    Ok(())
}

fn copy(file: &std::path::Path, folder: &std::path::Path) -> Result<(), String> {
    let name = file.file_name().ok_or_else(|| format!("{} has no name", file.display()))?;
    fs::copy(file, folder.join(name)).map(drop).map_err(|error| format!("cannot copy {}: {error}", file.display()))
}
