//! `cargo xtask test`: sets everything up, runs every test, takes everything down.
//!
//! The order: the database, then the build with the clients' environments being made beside it, then the Rust tests, then each real client
//! against a fresh server on each store, then our own SDKs, then the server is killed and disturbed, then generated requests.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::chaos::part as chaos;
use crate::clients::{self, Client};
use crate::dist::part as dist;
use crate::environment::Readiness;
use crate::logged::{Audience, End, Finished, run as run_logged};
use crate::metadata::Metadata;
use crate::places::{self, Places};
use crate::postgres::Cluster;
use crate::schemathesis::Extent;
use crate::server::{Server, Store};
use crate::summary::{self, Outcome, Report};
use crate::{Verdict, book, children, fuzz, kafka, node, packages, python, restore, schemathesis, sdks};

const BUILD_MAX: Duration = Duration::from_secs(1800);
const RUST_MAX: Duration = Duration::from_secs(1200);
const CLIENT_MAX: Duration = Duration::from_secs(180);
const RUST: &str = "rust";

/// Parts that build a release, or bring many tools with them: they run when they are named.
const ASKED_FOR: [&str; 1] = [dist::NAME];

/// Which parts to run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Everything,
    Only(Vec<String>),
    /// What is left out is left out by name: a part whose toolchain is missing fails.
    Except(Vec<String>),
    List,
}

impl Choice {
    pub(crate) fn parse(words: &[&str]) -> Result<Choice, String> {
        let (flag, parts) = match words {
            [] => return Ok(Choice::Everything),
            ["--list"] => return Ok(Choice::List),
            [flag, parts] => (*flag, *parts),
            [word] => word.split_once('=').ok_or_else(|| format!("`test` does not know `{word}`; see `cargo xtask help`"))?,
            [..] => return Err("`test` takes --only NAME,…, --skip NAME,… or --list; see `cargo xtask help`".to_owned()),
        };
        let parts: Vec<String> = parts.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
        if let Some(unknown) = parts.iter().find(|name| !names().contains(&name.as_str())) {
            return Err(format!("there is no part `{unknown}`; there are: {}", names().join(", ")));
        }
        match flag {
            "--only" => Ok(Choice::Only(parts)),
            "--skip" => Ok(Choice::Except(parts)),
            other => Err(format!("`test` does not know `{other}`; see `cargo xtask help`")),
        }
    }

    fn takes(&self, name: &str) -> bool {
        match self {
            Choice::Everything => !ASKED_FOR.contains(&name),
            Choice::Only(chosen) => chosen.iter().any(|chosen| chosen == name),
            Choice::Except(skipped) => !ASKED_FOR.contains(&name) && skipped.iter().all(|skipped| skipped != name),
            Choice::List => false,
        }
    }

    /// Running the targets takes minutes to build: they run when they are named.
    fn fuzzing(&self) -> fuzz::Depth {
        match self {
            Choice::Only(_) => fuzz::Depth::Replay,
            Choice::Everything | Choice::Except(_) | Choice::List => fuzz::Depth::Check,
        }
    }
}

pub(crate) fn run(choice: &Choice) -> Result<Verdict, String> {
    if *choice == Choice::List {
        names().iter().for_each(|name| println!("{name}"));
        return Ok(Verdict::Good);
    }
    let began = Instant::now();
    let places = Places::find(&Metadata::read(&places::root())?)?;
    let _lock = places.sole_run()?;
    children::end_with_us().map_err(|error| format!("cannot listen for signals: {error}"))?;
    let cluster = Cluster::start(&places)?;
    println!("PostgreSQL {} at {}", cluster.version, cluster.url);

    let chosen: Vec<&Client> = clients::ALL.iter().filter(|client| choice.takes(client.name)).collect();
    let mut reports = Vec::new();
    let mut note = |report: Report| {
        summary::announce(&report);
        reports.push(report);
    };
    let (built, ready) = std::thread::scope(|scope| {
        let environments = scope.spawn(|| prepare(&places, &chosen, choice));
        let built = build(&places, choice);
        (built, environments.join().expect("making environments reports failures instead of panicking"))
    });
    let usable = built.failed() == 0;
    note(built);
    if usable {
        if choice.takes(RUST) {
            install_pooler(&places)?;
            let jars = kafka::jars(&places)?;
            note(rust_tests(&places, &cluster, &jars, &scenario_clients(&places)?));
        }
        for (client, readiness) in chosen.iter().zip(&ready.clients) {
            Store::ALL.into_iter().for_each(|store| note(client_test(&places, &cluster, client, readiness, store)));
        }
        if choice.takes(sdks::NAME) {
            let extent = if matches!(choice, Choice::Only(_)) { sdks::Extent::Whole } else { sdks::Extent::Scenarios };
            sdks::test(&places, extent, &mut note);
        }
        if choice.takes(chaos::NAME) {
            chaos::test(&places, &mut note);
        }
        if choice.takes(schemathesis::NAME) {
            let extent = if matches!(choice, Choice::Only(_)) { Extent::Whole } else { Extent::Bounded };
            note(schemathesis::test(&places, &cluster, &ready.schemathesis, extent));
        }
        if choice.takes(restore::NAME) {
            note(restore::test(&places));
        }
        if choice.takes(book::NAME) {
            note(book::test(&places, &cluster, &ready.book));
        }
        if choice.takes(dist::NAME) {
            note(dist::test(&places, &ready.dist));
        }
        if choice.takes(fuzz::NAME) {
            note(fuzz::test(&places, choice.fuzzing()));
        }
    }
    drop(cluster);
    summary::print(&reports, began.elapsed());
    Ok(if summary::count(&reports).1 == 0 { Verdict::Good } else { Verdict::Bad })
}

/// All names that `--only` takes.
fn names() -> Vec<&'static str> {
    let mut names = vec![RUST];
    names.extend(clients::ALL.iter().map(|client| client.name));
    names.extend([sdks::NAME, chaos::NAME, schemathesis::NAME, restore::NAME, book::NAME, dist::NAME, fuzz::NAME]);
    names
}

struct Ready {
    clients: Vec<Readiness>,
    schemathesis: Readiness,
    book: Readiness,
    dist: Readiness,
}

/// Makes what the chosen parts need; runs beside the build, since it mostly waits for downloads.
fn prepare(places: &Places, chosen: &[&Client], choice: &Choice) -> Ready {
    let clients = chosen.iter().map(|client| {
        let began = Instant::now();
        let readiness = (client.prepare)(places);
        if Duration::from_secs(2) < began.elapsed() {
            println!("environment of {} made in {:.1} s", client.name, began.elapsed().as_secs_f64());
        }
        readiness
    });
    let clients = clients.collect();
    let chosen = |name: &str, prepare: fn(&Places) -> Readiness| match choice.takes(name) {
        true => prepare(places),
        false => Readiness::Missing("not chosen".to_owned()),
    };
    let schemathesis = chosen(schemathesis::NAME, schemathesis::prepare);
    Ready { clients, schemathesis, book: chosen(book::NAME, book::prepare), dist: chosen(dist::NAME, dist::prepare) }
}

/// The server, and the Rust tests if they are to run: in one go, since their dependencies' features are then the same for both.
fn build(places: &Places, choice: &Choice) -> Report {
    let began = Instant::now();
    let log = places.log("build");
    let targets = if choice.takes(RUST) { "--all-targets" } else { "--bins" };
    let finished = run_logged(places.cargo().args(["build", "--workspace", targets]), &log, Audience::Terminal, BUILD_MAX);
    let outcome = match finished.map(|finished| finished.end) {
        Ok(End::Success) => Outcome::Ran { passed: 0, failed: 0, note: String::new() },
        Ok(End::Failure(why)) | Err(why) => Outcome::Broken(why),
    };
    Report { part: "build".to_owned(), on: "", took: began.elapsed(), outcome, logs: vec![log] }
}

/// The server alone.
pub(crate) fn build_server(places: &Places) -> Result<(), String> {
    let log = places.log("build");
    let finished = run_logged(places.cargo().args(["build", "--workspace", "--bins"]), &log, Audience::Terminal, BUILD_MAX)?;
    match finished.end {
        End::Success => Ok(()),
        End::Failure(why) => Err(why),
    }
}

/// Some of the Rust tests put PgBouncer in front of PostgreSQL.
fn install_pooler(places: &Places) -> Result<(), String> {
    let is_there = ["/usr/sbin/pgbouncer", "/usr/local/sbin/pgbouncer"].iter().any(|program| Path::new(program).is_file());
    if is_there || packages::found("pgbouncer") {
        return Ok(());
    }
    packages::install(&packages::PGBOUNCER, &places.log("install-pgbouncer"))
}

/// Some play the scenarios of JSON workflows with clients in other languages: where these are, by the names of variables.
fn scenario_clients(places: &Places) -> Result<[(&'static str, PathBuf); 2], String> {
    for readiness in [python::prepare(places, "workflow"), node::prepare(places)] {
        if let Readiness::Missing(why) | Readiness::Failed(why) = readiness {
            return Err(why);
        }
    }
    let python = PathBuf::from(python::program(places, "workflow", "python").get_program());
    Ok([("CAUDAL_TEST_PYTHON", python), ("CAUDAL_TEST_NODE", node::folder(places))])
}

fn rust_tests(places: &Places, cluster: &Cluster, jars: &Path, clients: &[(&str, PathBuf)]) -> Report {
    let began = Instant::now();
    let log = places.log("rust-tests");
    let mut command = places.cargo();
    command.args(["test", "--workspace", "--no-fail-fast"]).env("CAUDAL_TEST_POSTGRES", &cluster.url);
    command.env(kafka::VARIABLE, jars).envs(clients.iter().map(|(name, place)| (name, place)));
    let outcome = outcome(run_logged(&mut command, &log, Audience::Terminal, RUST_MAX), cargo_counts);
    Report { part: "cargo test --workspace".to_owned(), on: "all stores", took: began.elapsed(), outcome, logs: vec![log] }
}

fn client_test(places: &Places, cluster: &Cluster, client: &Client, readiness: &Readiness, store: Store) -> Report {
    summary::begin(&format!("client {}", client.package), store.name());
    let began = Instant::now();
    let log = places.log(&format!("client-{}-{}", client.name, store.name()));
    let server_log = places.log(&format!("server-{}-{}", client.name, store.name()));
    let ran = || {
        Server::start(places, cluster, store, client.name).map_or_else(Outcome::Broken, |mut server| {
            let mut command = (client.program)(places);
            server.address(&mut command);
            command.env("CAUDAL_FIXTURES", places.clients().join("fixtures"));
            let outcome = outcome(run_logged(&mut command, &log, Audience::LogOnly, CLIENT_MAX), client_counts);
            server.check().map_or_else(Outcome::Broken, |()| outcome)
        })
    };
    let outcome = readiness.unless_ready(client.name).unwrap_or_else(ran);
    let logs = [log, server_log].into_iter().filter(|log| log.exists()).collect();
    Report { part: format!("client {}", client.package), on: store.name(), took: began.elapsed(), outcome, logs }
}

/// Passed and failed as counted; a bad exit without a failed count, or nothing counted at all, is a failure as well.
fn outcome(finished: Result<Finished, String>, counts: fn(&str) -> (usize, usize)) -> Outcome {
    let finished = match finished {
        Ok(finished) => finished,
        Err(why) => return Outcome::Broken(why),
    };
    let (passed, failed) = counts(&finished.text);
    match finished.end {
        End::Success if passed == 0 && failed == 0 => Outcome::Broken("it ran no test at all".to_owned()),
        End::Success => Outcome::Ran { passed, failed, note: String::new() },
        End::Failure(why) => Outcome::Ran { passed, failed: failed.max(1), note: why },
    }
}

/// `test result: ok. 12 passed; 0 failed; …`, once per test binary.
fn cargo_counts(text: &str) -> (usize, usize) {
    let results = text.lines().filter_map(|line| line.split_once("test result: ").map(|(_, counts)| counts));
    let number = |counts: &str, what: &str| {
        let before = counts.split(what).next()?;
        before.trim().rsplit([' ', '.', ';']).next()?.parse::<usize>().ok()
    };
    results.fold((0, 0), |(passed, failed), counts| {
        (passed + number(counts, " passed").unwrap_or(0), failed + number(counts, " failed").unwrap_or(0))
    })
}

/// Every client program prints one line per scenario: `ok NAME`, or `FAIL NAME: why`.
fn client_counts(text: &str) -> (usize, usize) {
    let count = |word: &str| text.lines().filter(|line| line.starts_with(word)).count();
    (count("ok "), count("FAIL "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_takes_known_names() {
        assert_eq!(Choice::parse(&["--only", "rust, go"]), Ok(Choice::Only(vec!["rust".to_owned(), "go".to_owned()])));
        assert_eq!(Choice::parse(&["--only=java"]), Ok(Choice::Only(vec!["java".to_owned()])));
        assert_eq!(Choice::parse(&["--skip", "java"]), Ok(Choice::Except(vec!["java".to_owned()])));
        assert!(Choice::parse(&["--skip=java"]).is_ok_and(|choice| choice.takes("go") && !choice.takes("java")));
        assert!(Choice::parse(&["--only", "rust,cobol"]).is_err());
        assert!(Choice::parse(&["--without", "rust"]).is_err());
        assert!(Choice::parse(&["--fast"]).is_err());
    }

    #[test]
    fn cargo_results_are_summed() {
        let text =
            "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured\ntest result: FAILED. 3 passed; 2 failed; 0 ignored";
        assert_eq!(cargo_counts(text), (15, 2));
    }

    #[test]
    fn client_lines_are_counted() {
        assert_eq!(client_counts("ok deploy\nsome words\nFAIL cancel: still active\nok search\n"), (2, 1));
    }
}
