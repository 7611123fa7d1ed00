//! `cargo xtask fuzz TARGET [--seconds N]`: coverage-guided fuzzing of a parser, from the project's own tables and fixtures as seeds.
//!
//! The targets are in `fuzz/`, a workspace of its own; what was learned stays under `target/xtask/fuzz` and is used again.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::metadata::Metadata;
use crate::places::{self, Places};
use crate::summary::{self, Outcome, Report};
use crate::{Verdict, logged};

/// Where each target's seeds come from, and whether a seed is a line or a whole file.
const TARGETS: [(&str, &str, &str, bool); 4] = [
    ("feel", "crates/feel/tests/tables", "feel", true),
    ("bpmn", "spec/bpmn", "bpmn", false),
    ("dmn", "spec/dmn", "dmn", false),
    ("json", "examples", "json", false),
];

/// Stable flags that have the compiler count what is reached and what is compared.
const INSTRUMENTED: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 --cfg fuzzing";

pub(crate) const NAME: &str = "fuzz";
const CHECK_MAX: Duration = Duration::from_secs(600);
const REPLAY_MAX: Duration = Duration::from_secs(300);
const USAGE: &str = "cargo xtask fuzz feel|bpmn|dmn|json [--seconds N]";

pub(crate) fn run(words: &[&str]) -> Result<Verdict, String> {
    let (target, seconds) = match words {
        [target] => (*target, 60),
        [target, "--seconds", number] => (*target, number.parse().map_err(|_| format!("'{number}' is no number of seconds"))?),
        _ => return Err(format!("write `{USAGE}`")),
    };
    let Some((name, seeds, extension, by_line)) = TARGETS.iter().find(|(name, ..)| *name == target) else {
        return Err(format!("there is no target '{target}': write `{USAGE}`"));
    };
    let places = Places::find(&Metadata::read(&places::root())?)?;
    let place = places.own.join("fuzz");
    let corpus = place.join(name);
    make(&corpus)?;
    sow(&places.root.join(seeds), extension, *by_line, &corpus)?;
    let binary = build(name, &places.root, &place.join("build"))?;
    println!("{name}: {seconds} s, corpus {}", corpus.display());
    let status = Command::new(&binary)
        .arg(&corpus)
        .args([format!("-max_total_time={seconds}"), format!("-artifact_prefix={}/finding-{name}-", place.display())])
        .args(["-timeout=60", "-rss_limit_mb=2048", "-max_len=4096", "-print_final_stats=1", "-verbosity=1"])
        .status()
        .map_err(|error| format!("cannot run {}: {error}", binary.display()))?;
    if status.success() {
        println!("{name}: no finding in {seconds} s");
        return Ok(Verdict::Good);
    }
    println!("{name}: a finding; the input is in {}/finding-{name}-…; replay: {} FILE", place.display(), binary.display());
    Ok(Verdict::Bad)
}

/// How much the part `fuzz` of `cargo xtask test` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Every target compiles.
    Check,
    /// Every target builds with counters, and stands what is in the project's own tables and fixtures.
    Replay,
}

pub(crate) fn test(places: &Places, depth: Depth) -> Report {
    summary::begin(NAME, "");
    let began = Instant::now();
    let log = places.log(NAME);
    let outcome = match depth {
        Depth::Check => match check(places, &log) {
            Ok(()) => Outcome::Ran { passed: TARGETS.len(), failed: 0, note: "compiled; `--only fuzz` runs them".to_owned() },
            Err(why) => Outcome::Broken(why),
        },
        Depth::Replay => replay(places, &log),
    };
    Report { part: NAME.to_owned(), on: "", took: began.elapsed(), outcome, logs: vec![log] }
}

/// Without a linker: what makes inputs is not needed to see whether targets compile, so its C++ is not built.
fn check(places: &Places, log: &Path) -> Result<(), String> {
    let manifest = places.root.join("fuzz/Cargo.toml");
    let mut cargo = places.cargo();
    cargo.args(["check", "--locked", "--bins", "--manifest-path"]).arg(&manifest);
    cargo.env("CUSTOM_LIBFUZZER_PATH", &manifest).env("CARGO_TARGET_DIR", places.own.join("fuzz/check"));
    logged::must(&mut cargo, log, CHECK_MAX).map(drop)
}

fn replay(places: &Places, log: &Path) -> Outcome {
    let tried = TARGETS.iter().map(|(name, seeds, extension, by_line)| {
        let place = places.own.join("fuzz");
        let corpus = place.join("seeds").join(name);
        make(&corpus)?;
        sow(&places.root.join(seeds), extension, *by_line, &corpus)?;
        let binary = build(name, &places.root, &place.join("build"))?;
        // None of its own: the seeds alone, which is the same every time.
        logged::must(Command::new(&binary).args(["-runs=0", "-timeout=60"]).arg(&corpus), log, REPLAY_MAX).map(drop)
    });
    let failures: Vec<String> = tried.filter_map(Result::err).collect();
    Outcome::Ran { passed: TARGETS.len() - failures.len(), failed: failures.len(), note: failures.join("; ") }
}

/// Builds the target with counters in it.
fn build(name: &str, root: &Path, place: &Path) -> Result<PathBuf, String> {
    let host = host()?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--release", "--quiet", "--manifest-path"])
        .arg(root.join("fuzz/Cargo.toml"))
        // With a target named, build scripts stay without counters.
        .args(["--bin", name, "--target", &host])
        .env("RUSTFLAGS", INSTRUMENTED)
        .env("CARGO_TARGET_DIR", place)
        .status()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    if !status.success() {
        return Err("the fuzz target does not build (it needs a C++ compiler)".to_owned());
    }
    Ok(place.join(host).join("release").join(name))
}

/// The machine this toolchain builds for.
fn host() -> Result<String, String> {
    let output = Command::new("rustc").arg("-vV").output().map_err(|error| format!("cannot run rustc: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc -vV names no host".to_owned())
}

/// Puts seeds into the corpus, named by what they contain.
fn sow(folder: &Path, extension: &str, by_line: bool, corpus: &Path) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
    for entry in entries.filter_map(Result::ok).map(|entry| entry.path()) {
        if entry.is_dir() {
            sow(&entry, extension, by_line, corpus)?;
        } else if entry.extension().is_some_and(|found| found == extension) {
            let text = fs::read_to_string(&entry).map_err(|error| format!("cannot read {}: {error}", entry.display()))?;
            let seeds: Vec<&str> = match by_line {
                true => text.lines().filter_map(|line| line.split_once("  →")).map(|(source, _)| source.trim()).collect(),
                false => vec![&text],
            };
            for seed in seeds {
                let mut hasher = DefaultHasher::new();
                seed.hash(&mut hasher);
                let file = corpus.join(format!("seed-{:016x}", hasher.finish()));
                fs::write(&file, seed).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
            }
        }
    }
    Ok(())
}

fn make(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))
}
