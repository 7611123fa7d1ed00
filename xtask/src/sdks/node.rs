//! TypeScript: tsc, eslint, prettier, node:test; the packed tarball, installed into a project whose example is compiled against its types.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::environment::{keep, pins};
use crate::places::Places;
use crate::{logged, packages};

use super::{Sdk, copy_folder};

const INSTALL_MAX: Duration = Duration::from_secs(600);

pub(super) const SDK: Sdk = Sdk {
    name: "node",
    transports: &["rest", "grpc", "kafka"],
    prepare: |places| prepare(places).into(),
    checks: |places, _| {
        vec![
            ("types", run(places, "types")),
            ("eslint", run(places, "lint")),
            ("prettier", run(places, "format")),
            ("test", run(places, "test")),
        ]
    },
    scenarios: |places| run(places, "scenarios"),
    bench: |places| {
        let mut node = Command::new("node");
        node.args(["--import", "tsx", "scenarios/main.ts"]).current_dir(folder(places));
        Ok(node)
    },
    pack: |places, project| {
        let mut pack = npm(&folder(places), &["pack", "--silent", "--pack-destination"]);
        pack.arg(project);
        let mut publish = Command::new("sh");
        publish.args(["-c", "npm publish --silent --dry-run --access public ./caudal-client-*.tgz"]).current_dir(project);
        let init = npm(project, &["init", "--yes", "--silent"]);
        let module = npm(project, &["pkg", "set", "type=module"]);
        let mut install = Command::new("sh");
        let packages = "./caudal-client-*.tgz typescript@5.9.3 @types/node@20.19.24";
        install.args(["-c", &format!("npm install --silent --prefer-offline --no-audit --no-fund --ignore-scripts {packages}")]);
        install.current_dir(project);
        let mut compile = Command::new(project.join("node_modules/.bin/tsc"));
        compile.args(["--module", "nodenext", "--target", "es2022", "--strict", "--types", "node"]);
        compile.args(["worker.ts", "start.ts", "people.ts"]);
        compile.current_dir(project);
        vec![pack, publish, init, module, install, compile]
    },
    example: |_, _, file| {
        let mut node = Command::new("node");
        node.arg(Path::new(file).with_extension("js"));
        node
    },
};

/// The sources are copied beside the packages, where Node looks for both; the checkout stays as it is.
fn folder(places: &Places) -> PathBuf {
    places.own.join("sdks/node")
}

fn prepare(places: &Places) -> Result<(), String> {
    let (source, folder) = (SDK.folder(places), folder(places));
    let lists = [source.join("package.json"), source.join("package-lock.json")];
    keep(&folder, &pins(&[&lists[0], &lists[1]])?, || {
        let log = places.log("install-sdk-node");
        if !packages::found("npm") {
            packages::install(&packages::NODE, &log)?;
        }
        copy_folder(&source, &folder, &["node_modules", "dist", "proto"])?;
        let mut install = npm(&folder, &["ci", "--no-audit", "--no-fund", "--ignore-scripts"]);
        logged::must(&mut install, &log, INSTALL_MAX).map(drop)
    })?;
    for part in ["src", "test", "scenarios", "proto"] {
        fs::remove_dir_all(folder.join(part)).ok();
    }
    copy_folder(&source, &folder, &["node_modules", "dist", "proto"])?;
    let proto = places.root.join("sdks/proto");
    copy_folder(&proto, &places.own.join("sdks/proto"), &[])?;
    copy_folder(&proto, &folder.join("proto"), &[])
}

fn run(places: &Places, script: &str) -> Command {
    npm(&folder(places), &["run", "--silent", script])
}

fn npm(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("npm");
    command.args(arguments).current_dir(folder);
    command
}
