//! The Java client's test program, built with Maven.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::environment::{Readiness, keep, pins};
use crate::places::Places;
use crate::{logged, packages};

const BUILD_MAX: Duration = Duration::from_secs(600);

pub(crate) fn prepare(places: &Places) -> Readiness {
    install(places).and_then(|()| make(places)).into()
}

/// A JDK with Maven, where there is none yet.
pub(crate) fn install(places: &Places) -> Result<(), String> {
    match ["java", "javac", "mvn"].into_iter().all(packages::found) {
        true => Ok(()),
        false => packages::install(&packages::JAVA, &places.log("install-java")),
    }
}

pub(crate) fn program(places: &Places) -> Command {
    let folder = folder(places);
    let mut path = folder.join("classes").into_os_string();
    path.push(":");
    path.push(folder.join("lib").join("*"));
    let mut command = Command::new("java");
    command.arg("-cp").arg(path).arg("caudal.clients.JavaClient");
    command
}

/// A program of one file, with the client's libraries.
pub(crate) fn source(places: &Places, file: &Path) -> Command {
    let mut command = Command::new("java");
    command.arg("-cp").arg(folder(places).join("lib").join("*")).arg(file);
    command
}

fn folder(places: &Places) -> PathBuf {
    places.own.join("java")
}

fn make(places: &Places) -> Result<(), String> {
    let source = places.clients().join("java");
    let folder = folder(places);
    let program = source.join("src/main/java/caudal/clients");
    let programs = ["JavaClient.java", "PeopleAndOperators.java", "Scenarios.java"].map(|name| program.join(name));
    let model = source.join("pom.xml");
    let files: Vec<&Path> = std::iter::once(&model).chain(&programs).map(PathBuf::as_path).collect();
    keep(&folder, &pins(&files)?, || {
        let mut maven = Command::new("mvn");
        maven.args(["--quiet", "--batch-mode", "compile", "dependency:copy-dependencies", "-DincludeScope=runtime"]);
        maven.arg(format!("-Dbuild.folder={}", folder.display())).current_dir(&source);
        logged::must(&mut maven, &places.log("build-java"), BUILD_MAX).map(drop)
    })
}
