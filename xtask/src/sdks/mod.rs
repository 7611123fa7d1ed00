//! The SDKs: each is checked by its language's own tools, plays every scenario over every transport against the real server, and is packed and installed into
//! an empty project that runs the example of its README.

mod broker;
mod example;
mod go;
mod java;
mod node;
mod python;
mod rust;
mod secured;
mod table;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::environment::Readiness;
use crate::logged::{self, Audience, End};
use crate::metadata::Metadata;
use crate::places::{self, Places};
use crate::summary::{self, Outcome, Report};
use crate::{Verdict, children};

use broker::Broker;
use secured::Secured;
use table::Table;

pub(crate) const NAME: &str = "sdks";
/// Names the server for a run without a build, and for the SDKs themselves.
pub(crate) const BINARY_VARIABLE: &str = "CAUDAL_BINARY";
const CHECK_MAX: Duration = Duration::from_secs(900);
const SCENARIOS_MAX: Duration = Duration::from_secs(480);

pub(crate) struct Sdk {
    /// Its folder in `sdks/`.
    pub(crate) name: &'static str,
    pub(crate) transports: &'static [&'static str],
    pub(crate) prepare: fn(&Places) -> Readiness,
    /// Linter, formatter, types and unit tests, each with a name.
    checks: fn(&Places, Extent) -> Vec<(&'static str, Command)>,
    /// The program that plays the scenarios.
    scenarios: fn(&Places) -> Command,
    /// The same program, as it is measured.
    pub(crate) bench: fn(&Places) -> Result<Command, String>,
    /// What builds the package and installs it into the empty project in this folder.
    pack: fn(&Places, &Path) -> Vec<Command>,
    /// What runs a file of the README's example in that project.
    example: fn(&Places, &Path, &str) -> Command,
}

pub(crate) const ALL: [&Sdk; 5] = [&python::SDK, &node::SDK, &go::SDK, &rust::SDK, &java::SDK];

/// How much of the SDKs is tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Formatters, linters, unit tests, and the scenarios over all transports.
    Usual,
    /// With documentation and packages.
    Whole,
}

impl Sdk {
    fn folder(&self, places: &Places) -> PathBuf {
        places.root.join("sdks").join(self.name)
    }
}

/// `cargo xtask sdks [NAME,…]`.
pub(crate) fn run(words: &[&str]) -> Result<Verdict, String> {
    let chosen = match words {
        [] => ALL.to_vec(),
        [names] => choose(names)?,
        [..] => return Err(format!("`sdks` takes names with commas between them: {}", ALL.map(|sdk| sdk.name).join(","))),
    };
    let began = Instant::now();
    let places = Places::find(&Metadata::read(&places::root())?)?;
    let _lock = places.sole_run()?;
    children::end_with_us().map_err(|error| format!("cannot listen for signals: {error}"))?;
    if std::env::var_os(BINARY_VARIABLE).is_none() {
        crate::rust::build_server(&places)?;
    }
    let mut reports = Vec::new();
    test_some(&places, &chosen, Extent::Whole, &mut |report| {
        summary::announce(&report);
        reports.push(report);
    });
    summary::print(&reports, began.elapsed());
    Ok(if summary::count(&reports).1 == 0 { Verdict::Good } else { Verdict::Bad })
}

/// As a part of `cargo xtask test`.
pub(crate) fn test(places: &Places, extent: Extent, note: &mut impl FnMut(Report)) {
    test_some(places, &ALL, extent, note);
}

pub(crate) fn choose(names: &str) -> Result<Vec<&'static Sdk>, String> {
    let find = |name: &str| ALL.into_iter().find(|sdk| sdk.name == name).ok_or_else(|| format!("there is no SDK `{name}`"));
    names.split(',').map(find).collect()
}

fn test_some(places: &Places, chosen: &[&'static Sdk], extent: Extent, note: &mut impl FnMut(Report)) {
    let mut table = match read_scenarios(places) {
        Ok(table) => table,
        Err(why) => return note(report(NAME.to_owned(), "", Instant::now(), Outcome::Broken(why), Vec::new())),
    };
    let mut broker = None;
    for sdk in chosen {
        let began = Instant::now();
        if let Readiness::Missing(why) | Readiness::Failed(why) = (sdk.prepare)(places) {
            note(report(part(sdk, ""), "", began, Outcome::Broken(why), Vec::new()));
            continue;
        }
        note(check(places, sdk, extent));
        for transport in sdk.transports {
            note(play(places, sdk, transport, &mut broker, &mut table));
        }
        if extent == Extent::Whole {
            note(pack(places, sdk));
        }
    }
    println!("\n{}", table.text());
    let readme = std::fs::read_to_string(places.root.join("sdks/README.md")).unwrap_or_default();
    let outcome = match table.differences(&readme).as_slice() {
        [] => Outcome::Ran { passed: 1, failed: 0, note: String::new() },
        differences => Outcome::Broken(format!("the table of sdks/README.md is another:\n{}", differences.join("\n"))),
    };
    note(report("sdks/README.md".to_owned(), "", Instant::now(), outcome, Vec::new()));
}

fn read_scenarios(places: &Places) -> Result<Table, String> {
    let path = places.root.join("sdks/scenarios/scenarios.json");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let list: Value = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let scenarios = list.as_array().into_iter().flatten().map(|one| {
        let transports = one["transports"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
        (one["name"].as_str().unwrap_or_default().to_owned(), transports.collect())
    });
    Ok(Table::new(scenarios.collect()))
}

fn check(places: &Places, sdk: &Sdk, extent: Extent) -> Report {
    let began = Instant::now();
    let (mut passed, mut failed, mut logs) = (0, Vec::new(), Vec::new());
    for (name, mut command) in (sdk.checks)(places, extent) {
        let log = places.log(&format!("sdk-{}-{name}", sdk.name));
        command.env(BINARY_VARIABLE, binary(places));
        match logged::must(&mut command, &log, CHECK_MAX) {
            Ok(_) => passed += 1,
            Err(_) => {
                failed.push(name);
                logs.push(log);
            }
        }
    }
    let outcome = Outcome::Ran { passed, failed: failed.len(), note: failed.join(", ") };
    report(part(sdk, "checks"), "", began, outcome, logs)
}

fn play(places: &Places, sdk: &Sdk, transport: &'static str, broker: &mut Option<Broker>, table: &mut Table) -> Report {
    let began = Instant::now();
    let log = places.log(&format!("sdk-{}-{transport}", sdk.name));
    let mut command = (sdk.scenarios)(places);
    command.env(BINARY_VARIABLE, binary(places)).env("CAUDAL_TRANSPORT", transport);
    command.env("CAUDAL_SCENARIOS", places.root.join("sdks/scenarios"));
    let secured = match Secured::start(places, &binary(places)) {
        Ok(secured) => secured,
        Err(why) => return report(part(sdk, "scenarios"), transport, began, Outcome::Broken(why), Vec::new()),
    };
    secured.tell(&mut command);
    if transport == broker::TRANSPORT {
        match started(places, broker).and_then(|broker| broker.make_topics(places, sdk.name).map(|()| broker)) {
            Ok(broker) => drop(command.env(broker::VARIABLE, &broker.address)),
            Err(why) => return report(part(sdk, "scenarios"), transport, began, Outcome::Broken(why), Vec::new()),
        }
    }
    let outcome = match logged::run(&mut command, &log, Audience::LogOnly, SCENARIOS_MAX) {
        Err(why) => Outcome::Broken(why),
        Ok(finished) => {
            let (passed, bad) = table.note(sdk.name, transport, &finished.text);
            let note = match (bad.is_empty(), finished.end) {
                (true, End::Failure(why)) => why,
                (true, End::Success) => String::new(),
                (false, _) => bad.join(", "),
            };
            Outcome::Ran { passed, failed: bad.len().max(usize::from(!note.is_empty())), note }
        }
    };
    report(part(sdk, "scenarios"), transport, began, outcome, vec![log])
}

/// The broker that all share, started when the first needs it.
fn started<'a>(places: &Places, broker: &'a mut Option<Broker>) -> Result<&'a Broker, String> {
    match broker {
        Some(broker) => Ok(broker),
        None => Ok(broker.insert(Broker::start(places)?)),
    }
}

fn pack(places: &Places, sdk: &Sdk) -> Report {
    let began = Instant::now();
    let log = places.log(&format!("sdk-{}-package", sdk.name));
    let outcome = match example::run(places, sdk, &binary(places), &log) {
        Ok(()) => Outcome::Ran { passed: 1, failed: 0, note: String::new() },
        Err(why) => Outcome::Broken(why),
    };
    report(part(sdk, "package, README"), "", began, outcome, vec![log])
}

/// The server the SDKs are tested with.
fn binary(places: &Places) -> PathBuf {
    std::env::var_os(BINARY_VARIABLE).map_or_else(|| places.caudal(), PathBuf::from)
}

/// Copies what is in a folder, but for some names at its top.
fn copy_folder(from: &Path, to: &Path, without: &[&str]) -> Result<(), String> {
    std::fs::create_dir_all(to).map_err(|error| format!("cannot make {}: {error}", to.display()))?;
    let entries = std::fs::read_dir(from).map_err(|error| format!("cannot read {}: {error}", from.display()))?;
    for entry in entries.flatten().filter(|entry| !without.iter().any(|name| entry.file_name() == *name)) {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_folder(&path, &target, &[])?;
        } else {
            std::fs::copy(&path, &target).map_err(|error| format!("cannot copy {}: {error}", path.display()))?;
        }
    }
    Ok(())
}

fn part(sdk: &Sdk, what: &str) -> String {
    format!("sdk {} {what}", sdk.name).trim_end().to_owned()
}

fn report(part: String, on: &'static str, began: Instant, outcome: Outcome, logs: Vec<PathBuf>) -> Report {
    Report { part, on, took: began.elapsed(), outcome, logs }
}
