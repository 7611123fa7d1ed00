//! Python: ruff, mypy, unittest; a wheel made from the sdist, as the index wants them, installed into an environment of its own.

use std::path::Path;
use std::process::Command;

use crate::places::Places;
use crate::python;

use super::Sdk;

/// The environment with the tools.
const TOOLS: &str = "sdk";

pub(super) const SDK: Sdk = Sdk {
    name: "python",
    transports: &["rest", "grpc", "kafka"],
    prepare: |places| python::prepare_from(places, TOOLS, &SDK.folder(places).join("requirements-dev.txt")),
    checks: |places, _| {
        let cache = places.own.join("mypy-sdk");
        let mypy = ["--cache-dir".as_ref(), cache.as_os_str()];
        vec![
            ("ruff", with(tool(places, "ruff"), &["check", "--no-cache", "."])),
            ("format", with(tool(places, "ruff"), &["format", "--no-cache", "--check", "."])),
            ("mypy", with(tool(places, "mypy"), &mypy)),
            ("unittest", with(tool(places, "python"), &["-m", "unittest", "--quiet"])),
        ]
    },
    scenarios: |places| with(tool(places, "python"), &["-m", "scenarios"]),
    bench: |places| Ok((SDK.scenarios)(places)),
    pack: |places, project| {
        // The sdist first, then the wheel from it: what is missing in the sdist would be missed here.
        let build = with(tool(places, "python"), &["-m", "build", "--no-isolation", "--outdir"]);
        let mut check = tool(places, "twine");
        check.args(["check", "--strict"]).arg(project.join("dist/*"));
        let mut venv = Command::new("python3");
        venv.args(["-m", "venv"]).arg(project.join("venv"));
        let mut pip = Command::new(project.join("venv/bin/python"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--find-links"]);
        pip.arg(project.join("dist")).arg("caudal-client");
        vec![with(build, &[project.join("dist")]), check, venv, pip]
    },
    example: |_, project, file| with(Command::new(project.join("venv/bin/python")), &[Path::new(file)]),
};

fn tool(places: &Places, program: &str) -> Command {
    let folder = SDK.folder(places);
    let mut command = python::program(places, TOOLS, program);
    let path = std::env::join_paths([folder.join("src"), folder.clone()]).unwrap_or_default();
    command.env("PYTHONPATH", path).env("MYPYPATH", folder.join("src")).current_dir(folder);
    command
}

fn with(mut command: Command, arguments: &[impl AsRef<std::ffi::OsStr>]) -> Command {
    command.args(arguments);
    command
}
