//! `cargo xtask bench`: what the server does on this machine, as tables to paste into docs/performance.md.
//!
//! Reading order: this file (what there is to measure, and the plain bench), `measure` (`caudal bench` run and read), `machine` (what else
//! ran, versions, settings), then `history` (many instances in the tables), `soak` (memory over time), `idle`, `day` (twenty-four hours by the test clock) and `sdks` (workers of our own).
//!
//! Standard output has the tables only; how it goes is on standard error.

mod day;
mod history;
mod idle;
mod machine;
mod measure;
mod sdks;
mod soak;
#[path = "../../crates/app/src/bench/usage.rs"]
mod usage;

use std::path::PathBuf;
use std::time::Duration;

use crate::logged::{Audience, End, run as run_logged};
use crate::metadata::Metadata;
use crate::places::{self, Places};
use crate::postgres::{Cluster, Disk};
use crate::sdks::BINARY_VARIABLE;
use crate::server::Store;
use crate::{Verdict, children};
use machine::Share;
use measure::Measured;

const BUILD_MAX: Duration = Duration::from_secs(1800);

/// What to measure.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Rates {
        seconds: u64,
        stores: Vec<Store>,
    },
    History {
        finished: u64,
        running: u64,
        stores: Vec<Store>,
    },
    Soak {
        minutes: u64,
        stores: Vec<Store>,
    },
    Idle {
        seconds: u64,
        stores: Vec<Store>,
    },
    /// Names with commas between them; all without.
    Sdks {
        only: Option<String>,
    },
    /// With flags for the server.
    Day {
        minutes: u64,
        stores: Vec<Store>,
        more: Vec<String>,
    },
}

impl Choice {
    pub(crate) fn parse(words: &[&str]) -> Result<Choice, String> {
        let mut words = words.iter().copied().peekable();
        let what = words.next_if(|word| ["--history", "--soak", "--idle", "--day", "--sdks"].contains(word)).unwrap_or("rates");
        let [mut seconds, mut minutes, mut finished, mut running] = [None; 4];
        let (mut stores, mut more, mut only) = (None, Vec::new(), None);
        while let Some(word) = words.next() {
            let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
            let number = || value.parse::<u64>().map_err(|_| format!("{word} takes a number, not `{value}`"));
            match (what, word) {
                ("rates" | "--idle", "--seconds") => seconds = Some(number()?),
                ("--sdks", "--only") => only = Some(value.to_owned()),
                ("--day", "--with") => more.push(value.to_owned()),
                ("--soak" | "--day", "--minutes") => minutes = Some(number()?),
                ("--history", "--finished") => finished = Some(number()?),
                ("--history", "--running") => running = Some(number()?),
                ("rates" | "--history" | "--soak" | "--idle" | "--day", "--store") => stores = Some(vec![store(value)?]),
                _ => return Err(format!("`bench` does not know `{word}` here; see `cargo xtask help`")),
            }
        }
        let both = || Store::ALL.to_vec();
        Ok(match what {
            "--history" => Choice::History {
                finished: finished.unwrap_or(1_000_000),
                running: running.unwrap_or(100_000),
                stores: stores.unwrap_or_else(both),
            },
            "--soak" => {
                Choice::Soak { minutes: minutes.unwrap_or(10).max(1), stores: stores.unwrap_or_else(|| vec![Store::Sqlite]) }
            }
            "--day" => {
                let stores = stores.unwrap_or_else(|| vec![Store::Sqlite]);
                Choice::Day { minutes: minutes.unwrap_or(10).max(1), stores, more }
            }
            "--sdks" => Choice::Sdks { only },
            "--idle" => Choice::Idle { seconds: seconds.unwrap_or(60).max(1), stores: stores.unwrap_or_else(both) },
            _ => Choice::Rates { seconds: seconds.unwrap_or(8).max(1), stores: stores.unwrap_or_else(both) },
        })
    }
}

fn store(name: &str) -> Result<Store, String> {
    let found = Store::ALL.into_iter().find(|store| store.name() == name);
    found.ok_or_else(|| format!("there is no store `{name}`: sqlite or postgres"))
}

/// What every measurement needs.
struct Bench {
    places: Places,
    cluster: Cluster,
    binary: PathBuf,
}

pub(crate) fn run(choice: &Choice) -> Result<Verdict, String> {
    let places = Places::find(&Metadata::read(&places::root())?)?;
    let _lock = places.sole_run()?;
    children::end_with_us().map_err(|error| format!("cannot listen for signals: {error}"))?;
    let binary = match std::env::var_os(BINARY_VARIABLE) {
        Some(binary) => PathBuf::from(binary),
        None => build(&places)?,
    };
    let cluster = Cluster::start(&places, Disk::Waits)?;
    let bench = Bench { binary, places, cluster };
    machine::describe(&bench)?;
    match choice {
        Choice::Rates { seconds, stores } => rates(&bench, *seconds, stores),
        Choice::History { finished, running, stores } => {
            stores.iter().try_for_each(|store| history::run(&bench, *store, *finished, *running))
        }
        Choice::Soak { minutes, stores } => stores.iter().try_for_each(|store| soak::run(&bench, *store, *minutes)),
        Choice::Idle { seconds, stores } => idle::run(&bench, *seconds, stores),
        Choice::Sdks { only } => sdks::run(&bench, only.as_deref()),
        Choice::Day { minutes, stores, more } => {
            for store in stores {
                if !day::run(&bench, *store, *minutes, more)? {
                    return Ok(Verdict::Bad);
                }
            }
            Ok(())
        }
    }?;
    Ok(Verdict::Good)
}

fn build(places: &Places) -> Result<PathBuf, String> {
    let mut command = places.cargo();
    command.args(["build", "--release", "--package", "app", "--bin", "caudal"]);
    let finished = run_logged(&mut command, &places.log("build-release"), Audience::LogOnly, BUILD_MAX)?;
    match finished.end {
        End::Success => Ok(places.caudal_release()),
        End::Failure(why) => Err(format!("{why}\n{}", crate::logged::tail(&finished.text, 30))),
    }
}

/// What is measured as fast as it goes: a protocol, what is different about it, and the options for that.
const SHAPES: [(&str, &str, &[&str]); 4] = [
    ("grpc", "", &[]),
    ("rest", "", &[]),
    ("grpc", ", 4 variables", &["--variables-count", "4"]),
    ("grpc", ", 5,000 open", &["--running", "5000"]),
];

/// Each store over each protocol as fast as it goes, then at a tenth of that rate.
fn rates(bench: &Bench, seconds: u64, stores: &[Store]) -> Result<(), String> {
    let mut calm = Vec::new();
    println!(
        "| store | protocol | instances/s | floor | of it | server CPU | database CPU | memory | create p50/p95/p99 ms | activated | instance | others |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    let seconds = &*seconds.to_string();
    for (store, (protocol, shape, options)) in stores.iter().flat_map(|store| SHAPES.map(|shape| (*store, shape))) {
        let options = [&["--protocol", protocol, "--seconds", seconds, "--floor"], options].concat();
        let (measured, others) = one(bench, store, &options)?;
        let (rate, floor) = (measured.rate(), measured.number("floorInstancesPerSecond").unwrap_or(f64::NAN));
        let costs = costs(&measured);
        let times = times(&measured);
        println!(
            "| {} | {protocol}{shape} | {rate:.0} | {floor:.0} | {:.0} % | {costs} | {times} | {others} |",
            store.name(),
            rate / floor * 100.0
        );
        if shape.is_empty() {
            calm.push((store, protocol, (rate / 10.0).round().max(1.0) as u64));
        }
    }
    println!(
        "\n| store | protocol | at | server CPU | database CPU | memory | create p50/p95/p99 ms | activated | instance | others |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (store, protocol, rate) in calm {
        let options = ["--protocol", protocol, "--seconds", seconds, "--rate", &rate.to_string()];
        let (measured, others) = one(bench, store, &options)?;
        let costs = costs(&measured);
        println!("| {} | {protocol} | {rate}/s | {costs} | {} | {others} |", store.name(), times(&measured));
    }
    Ok(())
}

fn one(bench: &Bench, store: Store, options: &[&str]) -> Result<(Measured, Share), String> {
    let before = machine::Moment::now(bench, &[]);
    let measured = measure::fresh(bench, store, options)?;
    Ok((measured, before.others_since(bench, &[])))
}

fn costs(measured: &Measured) -> String {
    let cost = |name, unit: &str| measured.number(name).map_or_else(|| "–".to_owned(), |cost| format!("{cost:.0} {unit}"));
    let cpu = [cost("serverCpuMicrosPerInstance", "µs"), cost("databaseCpuMicrosPerInstance", "µs"), cost("rssMb", "MB")];
    cpu.join(" | ")
}

fn times(measured: &Measured) -> String {
    ["createMs", "activationMs", "instanceMs"].map(|name| measured.times(name)).join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_measure() {
        let both = Store::ALL.to_vec();
        assert_eq!(Choice::parse(&[]), Ok(Choice::Rates { seconds: 8, stores: both.clone() }));
        assert_eq!(
            Choice::parse(&["--history", "--finished", "5", "--store", "sqlite"]),
            Ok(Choice::History { finished: 5, running: 100_000, stores: vec![Store::Sqlite] })
        );
        assert_eq!(Choice::parse(&["--idle", "--seconds", "9"]), Ok(Choice::Idle { seconds: 9, stores: both }));
        assert!(Choice::parse(&["--soak", "--seconds", "9"]).is_err());
        let day = Choice::Day { minutes: 2, stores: vec![Store::Sqlite], more: vec!["--warm-up=false".to_owned()] };
        assert_eq!(Choice::parse(&["--day", "--minutes", "2", "--with", "--warm-up=false"]), Ok(day));
        assert_eq!(Choice::parse(&["--sdks"]), Ok(Choice::Sdks { only: None }));
        assert_eq!(Choice::parse(&["--sdks", "--only", "go"]), Ok(Choice::Sdks { only: Some("go".to_owned()) }));
        assert!(Choice::parse(&["--sdks", "--store", "sqlite"]).is_err());
        assert!(Choice::parse(&["--seconds"]).is_err());
        assert!(Choice::parse(&["--store", "oracle"]).is_err());
    }
}
