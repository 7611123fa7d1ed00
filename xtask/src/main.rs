//! The project's own tools, run as `cargo xtask COMMAND`: everything a developer or a CI machine does beside `cargo build`.
//!
//! Reading order: this file lists the commands, `test.rs` is the whole test run, `bench.rs` the measurements, `tidy.rs` the checks on the source itself.
//! Deliberately absent: any dependency on the product's crates, but for the yardsticks `feel`, `models` and `tck`, each behind a feature. What is tested here is
//! the binary and what is written, from outside.
#![allow(clippy::print_stdout, reason = "a command line tool talks to its user")]
#![allow(clippy::disallowed_methods, reason = "the clock bans are for the core; this tool measures real time")]

mod bench;
mod book;
mod chaos;
mod children;
mod clients;
mod dist;
mod environment;
#[cfg(feature = "recorded-feel")]
#[allow(unreachable_pub, reason = "its two functions are the module's whole surface")]
mod feel;
mod fuzz;
mod go;
mod java;
mod kafka;
mod logged;
mod metadata;
#[cfg(feature = "models")]
mod models;
mod mutants;
mod node;
mod packages;
mod places;
mod postgres;
mod python;
mod restore;
mod rust;
mod schemathesis;
mod sdks;
mod server;
mod sim;
mod summary;
#[cfg(feature = "tck")]
mod tck;
mod test;
mod tidy;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask COMMAND

Commands:
  test                 set up everything and run every test (PostgreSQL, Python, Node, Go, Java clients, SDKs, schemathesis)
  test --only NAME,…   only these parts; `cargo xtask test --list` names them: `rust` is every crate, and each crate is a part too;
                       `chaos` is every run of it, and so is each run
  test --skip NAME,…   all but these; a part whose toolchain is missing fails unless it is left out so
                       `dist` (the chart, beside the package of `deb`) runs when it is named with --only; `sdks` packs its packages too
                       then; `fuzz` only compiles unless it is named
  sdks [NAME,…]        the SDKs only: python, node, go, rust, java; with CAUDAL_BINARY=PATH that server instead of a build
  bench                rates, costs and latencies of a release build on both stores over both protocols, next to the floor
  bench --history      what a million finished instances change, and the start with them and 100,000 running ones
  bench --soak         memory over ten minutes at half the maximal rate
  bench --day          24 hours in ten minutes by the test clock: load, timers, retention; memory, disk and latency stay what they were
                       any bench with CAUDAL_BINARY=PATH measures that server instead of a build
  bench --idle         what an idle server costs, and what it sends to PostgreSQL
  bench --sdks         what workers of the SDKs do and cost when their handlers do nothing; with CAUDAL_BINARY=PATH that server instead of a build
  tidy                 check the source itself: dependencies, lengths, words, licences, traces, changelog
  book                 make web pages of docs/ under target/book
  dist                 make what others install: archive, Debian package, bill of materials, checksums, under target/dist
  chaos [OPTIONS]      kill or disturb the real server under load again and again, then check what its clients were told
  chaos refusals       the real server on a store that is full, read-only or taken
  sim --seeds N        play the simulator; `cargo xtask sim --help` tells more
  mutants [NAME]       break the code on purpose, one mutation after the other, and see that the simulator notices; takes minutes
  feel CASES.jsonl     how many recorded answers of Camunda's FEEL engine ours gives too
  fuzz TARGET          look for inputs that break a parser: feel, bpmn, dmn, json; --seconds N, 60 unless told
  models PATH          what becomes of BPMN files that others drew; --as-executable reads those as well that are drawings only
  tck PATH [--all]     how much of the DMN Technology Compatibility Kit ours gets right; --all lists every folder
  help                 this text

Examples:
  cargo xtask test                          what CI runs; a quarter of an hour on two idle cores when dependencies are built, longer from nothing
  cargo xtask test --only rust              the Rust tests on all three stores
  cargo xtask test --only host,app          those of two crates
  cargo xtask test --only chaos-kill-one-sqlite     one of the runs of chaos; all of them take about seven minutes
  cargo xtask test --only pyzeebe,go        two of the real clients, on SQLite and on PostgreSQL
  cargo xtask bench --seconds 8 --store sqlite      one store only; about a minute each
  cargo xtask bench --history --finished 100000 --running 10000
  cargo xtask bench --soak --minutes 10 --store postgres
  cargo xtask bench --idle --seconds 60
  cargo xtask bench --sdks --only go,java
  cargo xtask bench --day --minutes 10 --store postgres --with FLAG…    (flags of the server, each after a --with)
  CAUDAL_TEST_POSTGRES=postgres://me@127.0.0.1/postgres cargo xtask test
                                            your own PostgreSQL server instead of a private one

  cargo xtask chaos --kills 100 --store postgres
                                            a hundred times SIGKILL, on a private PostgreSQL server

  cargo xtask chaos timers --kills 5 --store sqlite
                                            servers killed while 3,000 timers fall due; on PostgreSQL there are two

  cargo xtask chaos queues --kills 5 --store postgres
                                            the same while 10,000 executions are worked off under a limit

Options of chaos:
  --kills N            how many blows (20)
  --store WHERE        sqlite (default), postgres (a private server) or postgres://… (databases are made there)
  --fault WHICH        kill (default), database-kill, database-stop, cut, stall, pause, broker-kill (jobs on Kafka)
  --servers WHICH      one (default), pair (both may own the partition; default for pause), split (one engine, two that append)
  --seed S             the same random choices again

What is downloaded or built for the tests is kept under target/xtask and used again while its pinned versions stay the same.
Logs of the last run are in target/xtask/logs.
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        [] | ["help" | "--help" | "-h", ..] | ["test" | "tidy" | "mutants" | "feel", "--help" | "-h"] => {
            print!("{HELP}");
            Ok(Verdict::Good)
        }
        ["test", rest @ ..] => test::Choice::parse(rest).and_then(|choice| test::run(&choice)),
        ["sdks", rest @ ..] => sdks::run(rest),
        ["sim", rest @ ..] => sim::run(rest),
        ["mutants"] => mutants::run(None),
        ["mutants", name] => mutants::run(Some(name)),
        ["bench", rest @ ..] => bench::Choice::parse(rest).and_then(|choice| bench::run(&choice)),
        ["tidy"] => tidy::run(),
        ["book"] => book::run(),
        ["dist"] => dist::run(),
        ["fuzz", rest @ ..] => fuzz::run(rest),
        ["chaos", "refusals"] => chaos::refusals(),
        ["chaos", "timers", rest @ ..] => chaos::kill_at_due_time(rest),
        ["chaos", "queues", rest @ ..] => chaos::kill_at_work(rest),
        ["chaos", rest @ ..] => chaos::Options::parse(rest).and_then(|options| chaos::run(&options)),
        ["feel", path] => feel_cases(path),
        ["tck", path, flags @ ..] => tck_cases(path, flags),
        ["models", path, flags @ ..] => model_files(path, flags),
        [other, ..] => Err(format!("there is no command `{other}`; `cargo xtask help` lists what there is")),
    };
    children::let_signals_finish();
    match outcome {
        Ok(Verdict::Good) => ExitCode::SUCCESS,
        Ok(Verdict::Bad) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::from(2)
        }
    }
}

#[cfg(feature = "recorded-feel")]
fn feel_cases(path: &str) -> Result<Verdict, String> {
    feel::run(path).map(|()| Verdict::Good)
}

#[cfg(not(feature = "recorded-feel"))]
fn feel_cases(path: &str) -> Result<Verdict, String> {
    again("recorded-feel", &["feel", path])
}

#[cfg(feature = "tck")]
fn tck_cases(path: &str, flags: &[&str]) -> Result<Verdict, String> {
    let shown = match flags {
        [] => tck::Shown::WithMisses,
        ["--all"] => tck::Shown::All,
        _ => return Err("after the path there may be `--all` only".to_owned()),
    };
    tck::run(path, shown).map(|good| if good { Verdict::Good } else { Verdict::Bad })
}

#[cfg(not(feature = "tck"))]
fn tck_cases(path: &str, flags: &[&str]) -> Result<Verdict, String> {
    again("tck", &[&["tck", path], flags].concat())
}

#[cfg(feature = "models")]
fn model_files(path: &str, flags: &[&str]) -> Result<Verdict, String> {
    let reading = match flags {
        [] => models::Reading::AsWritten,
        ["--as-executable"] => models::Reading::AsExecutable,
        _ => return Err("after the path there may be `--as-executable` only".to_owned()),
    };
    models::run(path, reading).map(|good| if good { Verdict::Good } else { Verdict::Bad })
}

#[cfg(not(feature = "models"))]
fn model_files(path: &str, flags: &[&str]) -> Result<Verdict, String> {
    again("models", &[&["models", path], flags].concat())
}

/// Runs this tool again, built with what the command needs.
#[cfg(not(all(feature = "recorded-feel", feature = "models", feature = "tck")))]
fn again(feature: &str, words: &[&str]) -> Result<Verdict, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = std::process::Command::new(cargo);
    command.args(["run", "--quiet", "--package", "xtask", "--features", feature, "--"]).args(words);
    let status = command.status().map_err(|error| format!("cannot run cargo: {error}"))?;
    Ok(if status.success() { Verdict::Good } else { Verdict::Bad })
}

/// What a command found. Being unable to look is an error instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Good,
    Bad,
}
