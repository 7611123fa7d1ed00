//! The Go client's test program, built where Go is installed.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::environment::{Readiness, keep, pins};
use crate::places::Places;
use crate::{logged, packages};

const BUILD_MAX: Duration = Duration::from_secs(600);

pub(crate) fn prepare(places: &Places) -> Readiness {
    if !packages::found("go") {
        return Readiness::Missing("go is not installed".to_owned());
    }
    make(places).into()
}

pub(crate) fn program(places: &Places) -> Command {
    Command::new(folder(places).join("client"))
}

/// Builds another program that uses the client, in a folder that has its source, and gives it to be run.
pub(crate) fn build(places: &Places, folder: &Path) -> Result<Command, String> {
    for list in ["go.mod", "go.sum"] {
        let copied = std::fs::copy(places.clients().join("go").join(list), folder.join(list));
        copied.map_err(|error| format!("cannot copy {list}: {error}"))?;
    }
    let binary = folder.join("program");
    logged::must(&mut compile(folder, &binary), &places.log("build-go-program"), BUILD_MAX)?;
    Ok(Command::new(binary))
}

fn compile(source: &Path, binary: &Path) -> Command {
    let mut go = Command::new("go");
    go.args(["build", "-o"]).arg(binary).arg(".").current_dir(source);
    go.env("GOTOOLCHAIN", "local").env("CGO_ENABLED", "0").env("GOWORK", "off");
    go
}

fn folder(places: &Places) -> PathBuf {
    places.own.join("go")
}

fn make(places: &Places) -> Result<(), String> {
    let source = places.clients().join("go");
    let folder = folder(places);
    let files = ["go.mod", "go.sum", "main.go", "people.go", "scenarios.go"].map(|name| source.join(name));
    keep(&folder, &pins(&files.each_ref().map(PathBuf::as_path))?, || {
        logged::must(&mut compile(&source, &folder.join("client")), &places.log("build-go"), BUILD_MAX).map(drop)
    })
}
