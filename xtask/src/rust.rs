//! The Rust tests, crate by crate: each crate is a part of `cargo xtask test` of its own name, and `rust` is all of them.
//!
//! Everything is built in one go and always with the same features, so that no part builds again what another has built. The binaries are then run from
//! here, as cargo would: that tells how long each crate takes, and lets one be run alone without building it apart from the others.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::environment::Readiness;
use crate::logged::{self, Audience, End};
use crate::places::{self, Places};
use crate::postgres::Cluster;
use crate::summary::{self, Outcome, Report};
use crate::test::outcome;
use crate::{kafka, node, packages, python};

/// All crates, and the examples in their documentation.
pub(crate) const NAME: &str = "rust";
const DOCUMENTATION: &str = "documentation";
/// The crate that has features, which a build may do without.
const SERVER: &str = "app";
const BUILD_MAX: Duration = Duration::from_secs(1800);
const TESTS_MAX: Duration = Duration::from_secs(1200);

/// The crates of the workspace, by their folders.
pub(crate) fn crates() -> Vec<String> {
    let entries = std::fs::read_dir(places::root().join("crates")).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.path().join("Cargo.toml").is_file());
    let mut names: Vec<String> = folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.push(env!("CARGO_PKG_NAME").to_owned());
    names.sort();
    names
}

/// The server. With examples, which bring the features that tests need: it is the same one then.
pub(crate) fn build_server(places: &Places) -> Result<(), String> {
    build(places, &["build", "--workspace", "--bins", "--examples"], "build")
}

fn build(places: &Places, words: &[&str], log: &str) -> Result<(), String> {
    let finished = logged::run(places.cargo().args(words), &places.log(log), Audience::Terminal, BUILD_MAX)?;
    match finished.end {
        End::Success => Ok(()),
        End::Failure(why) => Err(why),
    }
}

/// What some tests need beside the server, by the names of variables.
pub(crate) struct Needed {
    jars: PathBuf,
    python: PathBuf,
    node: PathBuf,
}

/// Brings PgBouncer, which some tests put in front of PostgreSQL; a Kafka broker; clients in other languages that play the scenarios of workflows.
pub(crate) fn prepare(places: &Places) -> Result<Needed, String> {
    let pooler = ["/usr/sbin/pgbouncer", "/usr/local/sbin/pgbouncer"].iter().any(|program| Path::new(program).is_file());
    if !pooler && !packages::found("pgbouncer") {
        packages::install(&packages::PGBOUNCER, &places.log("install-pgbouncer"))?;
    }
    for readiness in [python::prepare(places, "workflow"), node::prepare(places)] {
        if let Readiness::Missing(why) | Readiness::Failed(why) = readiness {
            return Err(why);
        }
    }
    let python = PathBuf::from(python::program(places, "workflow", "python").get_program());
    Ok(Needed { jars: kafka::jars(places)?, python, node: node::folder(places) })
}

/// Builds and runs the tests of the crates that are chosen.
pub(crate) fn test(
    places: &Places,
    cluster: &Cluster,
    needed: &Result<Needed, String>,
    chosen: &dyn Fn(&str) -> bool,
    note: &mut dyn FnMut(Report),
) {
    let began = Instant::now();
    let built = needed.as_ref().map_err(String::clone).and_then(|needed| Ok((needed, binaries(places)?)));
    let (needed, binaries) = match built {
        Ok(built) => built,
        Err(why) => return note(report("build of the tests", began, Outcome::Broken(why), vec![places.log("build-tests")])),
    };
    note(report("build of the tests", began, Outcome::Ran { passed: 0, failed: 0, note: String::new() }, Vec::new()));
    for name in crates().iter().filter(|name| chosen(name)) {
        let of_crate: Vec<&Binary> = binaries.iter().filter(|binary| binary.package == *name).collect();
        if !of_crate.is_empty() {
            note(test_crate(places, cluster, needed, name, &of_crate));
        }
    }
    if chosen(SERVER) {
        note(test_without_features(places));
    }
    if chosen(DOCUMENTATION) {
        note(test_documentation(places));
    }
}

/// A crate's tests in one program.
#[derive(Debug, PartialEq, Eq)]
struct Binary {
    package: String,
    folder: PathBuf,
    program: PathBuf,
}

fn binaries(places: &Places) -> Result<Vec<Binary>, String> {
    let words = ["test", "--workspace", "--no-run"];
    build(places, &words, "build-tests")?;
    // Once more, for a machine to read: nothing is left to build.
    let mut cargo = places.cargo();
    cargo.args(words).args(["--quiet", "--message-format=json"]);
    logged::must(&mut cargo, &places.log("build-tests"), BUILD_MAX).map(|text| read_binaries(&text))
}

fn read_binaries(text: &str) -> Vec<Binary> {
    let artifacts = text.lines().filter_map(|line| line.parse::<Value>().ok());
    let tests = artifacts.filter(|artifact| artifact["profile"]["test"] == true);
    let binaries = tests.filter_map(|artifact| {
        let folder = Path::new(artifact["manifest_path"].as_str()?).parent()?.to_owned();
        let package = folder.file_name()?.to_str()?.to_owned();
        Some(Binary { package, folder, program: PathBuf::from(artifact["executable"].as_str()?) })
    });
    binaries.collect()
}

fn test_crate(places: &Places, cluster: &Cluster, needed: &Needed, name: &str, binaries: &[&Binary]) -> Report {
    let part = format!("crate {name}");
    summary::begin(&part, "");
    let began = Instant::now();
    let (mut passed, mut failed, mut notes, mut logs) = (0, 0, Vec::new(), Vec::new());
    for (number, binary) in binaries.iter().enumerate() {
        let log = places.log(&format!("crate-{name}-{number}"));
        let mut command = std::process::Command::new(&binary.program);
        command.current_dir(&binary.folder).env("CAUDAL_TEST_POSTGRES", &cluster.url).env(kafka::VARIABLE, &needed.jars);
        command.env("CAUDAL_TEST_PYTHON", &needed.python).env("CAUDAL_TEST_NODE", &needed.node);
        // Here nothing is left out but by a part's name.
        command.env_remove("CAUDAL_TEST_SKIP");
        command.env("CARGO_MANIFEST_DIR", &binary.folder);
        match logged::run(&mut command, &log, Audience::LogOnly, TESTS_MAX).map(|finished| (counts(&finished.text), finished.end))
        {
            Ok((count, End::Success)) => passed += count.0,
            Ok((count, End::Failure(why))) => {
                passed += count.0;
                failed += count.1.max(1);
                notes.push(why);
                logs.push(log);
            }
            Err(why) => {
                failed += 1;
                notes.push(why);
            }
        }
    }
    report(&part, began, Outcome::Ran { passed, failed, note: notes.join("; ") }, logs)
}

/// The server without what can be left out of it. The whole workspace is named so that nothing but the server is built again.
fn test_without_features(places: &Places) -> Report {
    let (began, log) = (Instant::now(), places.log("without-features"));
    let mut command = places.cargo();
    command.args(["test", "--workspace", "--no-default-features", "--bin", "caudal"]);
    let outcome = outcome(logged::run(&mut command, &log, Audience::LogOnly, BUILD_MAX), counts);
    report("crate app without default features", began, outcome, vec![log])
}

fn test_documentation(places: &Places) -> Report {
    let (began, log) = (Instant::now(), places.log("documentation"));
    let mut command = places.cargo();
    command.args(["test", "--workspace", "--doc", "--no-fail-fast"]);
    let outcome = outcome(logged::run(&mut command, &log, Audience::LogOnly, TESTS_MAX), counts);
    report("examples in documentation", began, outcome, vec![log])
}

fn report(part: &str, began: Instant, outcome: Outcome, logs: Vec<PathBuf>) -> Report {
    Report { part: part.to_owned(), on: "", took: began.elapsed(), outcome, logs }
}

/// `test result: ok. 12 passed; 0 failed; …`, once per test binary.
fn counts(text: &str) -> (usize, usize) {
    let results = text.lines().filter_map(|line| line.split_once("test result: ").map(|(_, counts)| counts));
    let number = |counts: &str, what: &str| {
        let before = counts.split(what).next()?;
        before.trim().rsplit([' ', '.', ';']).next()?.parse::<usize>().ok()
    };
    results.fold((0, 0), |(passed, failed), counts| {
        (passed + number(counts, " passed").unwrap_or(0), failed + number(counts, " failed").unwrap_or(0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_results_are_summed() {
        let text =
            "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured\ntest result: FAILED. 3 passed; 2 failed; 0 ignored";
        assert_eq!(counts(text), (15, 2));
    }

    #[test]
    fn binaries_are_those_that_have_tests() {
        let text = "{\"reason\":\"compiler-artifact\",\"manifest_path\":\"/x/crates/host/Cargo.toml\",\"profile\":{\"test\":true},\"executable\":\"/t/it\"}\n\
                    {\"reason\":\"compiler-artifact\",\"manifest_path\":\"/x/crates/app/Cargo.toml\",\"profile\":{\"test\":false},\"executable\":\"/t/caudal\"}\n\
                    {\"reason\":\"build-finished\",\"success\":true}\n";
        let wanted = Binary { package: "host".to_owned(), folder: "/x/crates/host".into(), program: "/t/it".into() };
        assert_eq!(read_binaries(text), [wanted]);
    }

    #[test]
    fn every_crate_is_known() {
        let crates = crates();
        assert!(
            ["app", "host", "store-postgres", "xtask"].iter().all(|name| crates.iter().any(|known| known == name)),
            "{crates:?}"
        );
    }
}
