//! Go: gofmt, vet, staticcheck, tests with the race detector off (it needs a C compiler); the module as another one sees it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::environment::Readiness;
use crate::places::Places;
use crate::{logged, packages};

use super::Sdk;

const BUILD_MAX: Duration = Duration::from_secs(600);
const STATICCHECK: &str = "honnef.co/go/tools/cmd/staticcheck@v0.8.2";

pub(super) const SDK: Sdk = Sdk {
    name: "go",
    transports: &["rest", "grpc", "kafka"],
    prepare: |places| match packages::found("go") {
        false => Readiness::Missing("go is not installed".to_owned()),
        true => build(places).into(),
    },
    checks: |places| {
        let folder = SDK.folder(places);
        let mut format = Command::new("sh");
        // It lists files that are written otherwise, and says nothing by its exit code.
        format.args(["-c", "found=$(gofmt -l .) && echo \"$found\" && test -z \"$found\""]).current_dir(&folder);
        vec![
            ("gofmt", format),
            ("vet", go(&folder, &["vet", "./..."])),
            ("staticcheck", go(&folder, &["run", STATICCHECK, "./..."])),
            ("test", go(&folder, &["test", "./..."])),
        ]
    },
    scenarios: |places| Command::new(program(places)),
    bench: |places| Ok((SDK.scenarios)(places)),
    pack: |places, project| {
        let mut replace = go(project, &["mod", "edit", "-require=caudal.dev/client@v0.1.0"]);
        replace.arg(format!("-replace=caudal.dev/client={}", SDK.folder(places).display()));
        vec![
            go(project, &["mod", "init", "example.org/empty"]),
            replace,
            go(project, &["mod", "tidy"]),
            go(project, &["build", "-o", "bin/", "./..."]),
        ]
    },
    example: |_, project, file| Command::new(project.join("bin").join(Path::new(file).file_stem().unwrap_or_default())),
};

fn program(places: &Places) -> PathBuf {
    places.own.join("sdk-go-scenarios")
}

fn build(places: &Places) -> Result<(), String> {
    let mut build = go(&SDK.folder(places), &["build", "-o"]);
    build.arg(program(places)).arg("./internal/scenarios");
    logged::must(&mut build, &places.log("build-sdk-go"), BUILD_MAX).map(drop)
}

fn go(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("go");
    command.args(arguments).current_dir(folder);
    command.env("GOTOOLCHAIN", "local").env("CGO_ENABLED", "0").env("GOWORK", "off");
    command
}
