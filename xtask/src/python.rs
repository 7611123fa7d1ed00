//! Python environments under the target folder, one per set of packages (the two lines of the REST client exclude each other).

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::environment::{Readiness, keep, pins};
use crate::places::Places;
use crate::{logged, packages};

const STEP_MAX: Duration = Duration::from_secs(600);

/// An environment by the name of its file in `clients/python/requirements`.
pub(crate) fn prepare(places: &Places, name: &str) -> Readiness {
    let requirements = places.clients().join("python").join("requirements").join(format!("{name}.txt"));
    make(places, name, &requirements).into()
}

/// An environment with the packages that this file lists.
pub(crate) fn prepare_from(places: &Places, name: &str, requirements: &Path) -> Readiness {
    make(places, name, requirements).into()
}

/// A program of that environment: `python`, or one that a package brought.
pub(crate) fn program(places: &Places, name: &str, program: &str) -> Command {
    let mut command = Command::new(folder(places, name).join("bin").join(program));
    command.env("PYTHONUNBUFFERED", "1").env("PYTHONDONTWRITEBYTECODE", "1").env_remove("PYTHONPATH");
    command
}

/// One of our own test programs.
pub(crate) fn script(places: &Places, name: &str, script: &str) -> Command {
    let mut command = program(places, name, "python");
    command.arg(places.clients().join("python").join(script));
    command
}

fn folder(places: &Places, name: &str) -> PathBuf {
    places.own.join(format!("python-{name}"))
}

fn make(places: &Places, name: &str, requirements: &Path) -> Result<(), String> {
    let folder = folder(places, name);
    keep(&folder, &pins(&[requirements])?, || {
        let log = places.log(&format!("install-python-{name}"));
        let venv = || {
            let mut python = Command::new("python3");
            python.args(["-m", "venv"]).arg(&folder);
            logged::must(&mut python, &log, STEP_MAX).map(drop)
        };
        if venv().is_err() {
            packages::install(&packages::PYTHON, &log)?;
            venv()?;
        }
        let mut pip = program(places, name, "python");
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]).arg(requirements);
        logged::must(&mut pip, &log, STEP_MAX).map(drop)
    })
}
