//! The example of a README, run in an empty project with nothing but the installed package.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::children::{Farewell, Running};
use crate::logged;
use crate::places::Places;
use crate::server::{Data, Server};

use super::Sdk;

const STEP_MAX: Duration = Duration::from_secs(300);
const LEAVING_MAX: Duration = Duration::from_secs(20);
/// The programs of the example that come to an end, in their order, and what each prints in every language.
const PROGRAMS: [(&str, &str); 2] = [("start", "COMPLETED 5"), ("people", "COMPLETED bank")];

pub(super) fn run(places: &Places, sdk: &Sdk, server: &Path, log: &Path) -> Result<(), String> {
    let project = places.own.join(format!("project-{}", sdk.name));
    if project.exists() {
        fs::remove_dir_all(&project).map_err(|error| format!("cannot remove {}: {error}", project.display()))?;
    }
    fs::create_dir_all(&project).map_err(|error| format!("cannot make {}: {error}", project.display()))?;
    let readme = sdk.folder(places).join("README.md");
    let readme = fs::read_to_string(&readme).map_err(|error| format!("{}: {error}", readme.display()))?;
    let files = files(&readme);
    for (name, content) in &files {
        let path = project.join(name);
        path.parent().map_or(Ok(()), fs::create_dir_all).map_err(|error| error.to_string())?;
        fs::write(&path, content).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    for mut command in (sdk.pack)(places, &project) {
        logged::must(&mut command, log, STEP_MAX)?;
    }
    let data = Data::memory(places, &format!("sdk-{}", sdk.name))?;
    let server = Server::on(server, &data)?;
    let name = |which: &str| {
        let stem =
            |name: &&String| Path::new(name).file_stem().is_some_and(|stem| stem.to_string_lossy().to_lowercase() == which);
        files.iter().map(|(name, _)| name).find(stem).ok_or_else(|| format!("the README has no example called `{which}`"))
    };
    let mut worker = (sdk.example)(places, &project, name("worker")?);
    let output = project.join("worker.log");
    let (out, err) = (create(&output)?, create(&project.join("worker.err"))?);
    worker.current_dir(&project).env("CAUDAL_ADDRESS", &server.rest).stdout(out).stderr(err);
    let mut worker = Running::start(&mut worker, Farewell::Terminate).map_err(|error| format!("cannot start it: {error}"))?;
    for (which, expected) in PROGRAMS {
        let mut program = (sdk.example)(places, &project, name(which)?);
        program.current_dir(&project).env("CAUDAL_ADDRESS", &server.rest);
        let printed = logged::must(&mut program, log, STEP_MAX)?;
        if !printed.contains(expected) {
            return Err(format!("`{which}` of the example printed something else than `{expected}`:\n{printed}"));
        }
    }
    worker.signal("TERM")?;
    left_well(&mut worker)
}

/// A worker that is asked to leave exits with 0.
fn left_well(worker: &mut Running) -> Result<(), String> {
    let deadline = Instant::now() + LEAVING_MAX;
    while Instant::now() < deadline {
        match worker.child.try_wait().map_err(|error| error.to_string())? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(format!("the example's worker ended with {status} after SIGTERM")),
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    }
    Err(format!("the example's worker did not leave within {} s after SIGTERM", LEAVING_MAX.as_secs()))
}

fn create(path: &PathBuf) -> Result<File, String> {
    File::create(path).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// Blocks of code whose first line is a comment with a path: the files of the example.
fn files(readme: &str) -> Vec<(String, String)> {
    let blocks = readme.split("```").skip(1).step_by(2);
    let file = |block: &str| {
        let (_, code) = block.split_once('\n')?;
        let first = code.lines().next()?;
        let name = first.strip_prefix("// ").or_else(|| first.strip_prefix("# "))?.trim();
        (name.contains('.') && !name.contains(' ')).then(|| (name.to_owned(), code.to_owned()))
    };
    blocks.filter_map(file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_their_first_line() {
        let readme = "# A\n```sh\n# just words here.\n```\n```go\n// cmd/main.go\npackage main\n```\n```python\n# a.py\nx\n```\n";
        let names: Vec<String> = files(readme).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["cmd/main.go", "a.py"]);
    }
}
