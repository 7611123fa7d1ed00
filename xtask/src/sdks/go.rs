//! Go: gofmt, vet, staticcheck, tests with the race detector off (it needs a C compiler); the module as another one gets it from a proxy.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::environment::Readiness;
use crate::places::Places;
use crate::{logged, packages};

use super::{BINARY_VARIABLE, Sdk, binary};

const BUILD_MAX: Duration = Duration::from_secs(600);
/// The module as a proxy serves it: a list of its versions, and of each the time, `go.mod` and all files.
const PROXY: &str = r#"
import pathlib, shutil, sys, zipfile
source, proxy, module, version = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4]
folder = proxy / module / "@v"
folder.mkdir(parents=True)
(folder / "list").write_text(version + "\n")
(folder / f"{version}.info").write_text('{"Version":"%s"}' % version)
shutil.copy(source / "go.mod", folder / f"{version}.mod")
with zipfile.ZipFile(folder / f"{version}.zip", "w") as files:
    for path in sorted(source.rglob("*")):
        if path.is_file():
            files.write(path, f"{module}@{version}/{path.relative_to(source)}")
"#;
/// What an earlier run was given is not taken for this one's.
const FORGET: &str = r#"
cache=$(go env GOMODCACHE)
for folder in "$cache/caudal.dev" "$cache/cache/download/caudal.dev"; do
    if [ -d "$folder" ]; then chmod -R u+w "$folder" && rm -rf "$folder"; fi
done
"#;
const MODULE: &str = "caudal.dev/client";
const VERSION: &str = "v0.1.0";
const STATICCHECK: &str = "honnef.co/go/tools/cmd/staticcheck@v0.8.2";

pub(super) const SDK: Sdk = Sdk {
    name: "go",
    transports: &["rest", "grpc", "kafka"],
    prepare: |places| match packages::found("go") {
        false => Readiness::Missing("go is not installed".to_owned()),
        true => build(places).into(),
    },
    checks: |places, _| {
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
        let proxy = project.join("proxy");
        let mut publish = Command::new("python3");
        publish.args(["-c", PROXY]).arg(SDK.folder(places)).arg(&proxy).args([MODULE, VERSION]);
        let mut forget = Command::new("sh");
        forget.args(["-c", FORGET]);
        let fetching = |arguments: &[&str]| {
            let mut command = go(project, arguments);
            let others = Command::new("go").args(["env", "GOPROXY"]).output().map(|said| said.stdout).unwrap_or_default();
            let others = String::from_utf8_lossy(&others).trim().to_owned();
            command.env("GOPROXY", format!("file://{},{others}", proxy.display())).env("GONOSUMDB", MODULE);
            command
        };
        let mut test = fetching(&["test", "./worker"]);
        test.env(BINARY_VARIABLE, binary(places));
        vec![
            publish,
            forget,
            go(project, &["mod", "init", "example.org/empty"]),
            fetching(&["get", &format!("{MODULE}@{VERSION}")]),
            fetching(&["mod", "tidy"]),
            fetching(&["build", "-o", "bin/", "./..."]),
            test,
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
