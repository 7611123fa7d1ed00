//! Plays seeds: `cargo xtask sim --help`.
//!
//! Exit code 0: every seed held. 1: one did not, and is shown. 2: not understood.
#![allow(clippy::print_stdout, reason = "a command line tool talks to its user")]

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use host::Metrics;
use sim::{Fault, Plan, Recording, Report, Sabotage, Seen, play, relevant, shrink};

const HELP: &str = "\
cargo xtask sim OPTIONS

  --seed N             play one seed and show what happened
  --seeds N            play N seeds, from --from S (0 unless told); stops at the first that breaks an invariant
  --threads N          for --seeds: as many as there are processors unless told
  --without FAULT,…    leave these faults out
  --only FAULT,…       no faults but these, in every seed
  --sabotage NAME      break the store's contract on purpose, to see that it is noticed
  --engines N --followers N --clients N --acts N --workers N --processes N --job-types N --waits 0|1
  --queues 0|1 --operators 0|1
                       instead of what the seed draws
  --whole              for --seed: the whole history, not only what matters

Faults and sabotages by name: --list
";

struct Options {
    seed: Option<u64>,
    seeds: u64,
    from: u64,
    threads: usize,
    whole: bool,
    /// What is changed about every plan.
    changes: Vec<(String, String)>,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.is_empty() || words.iter().any(|word| word == "--help") {
        print!("{HELP}");
        return ExitCode::SUCCESS;
    }
    if words.iter().any(|word| word == "--list") {
        Fault::ALL.iter().for_each(|fault| println!("{}", fault.name()));
        Sabotage::ALL.iter().for_each(|sabotage| println!("{sabotage:?}"));
        return ExitCode::SUCCESS;
    }
    match Options::parse(&words) {
        Ok(options) => match options.seed {
            Some(seed) => play_one(&options, seed),
            None => play_many(&options),
        },
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::from(2)
        }
    }
}

impl Options {
    fn parse(words: &[String]) -> Result<Self, String> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let mut options = Self { seed: None, seeds: 0, from: 0, threads, whole: false, changes: Vec::new() };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let name = word.strip_prefix("--").ok_or_else(|| format!("`{word}` is no option"))?;
            if name == "whole" {
                options.whole = true;
                continue;
            }
            let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
            let number = || value.parse::<u64>().map_err(|_| format!("{word} needs a number, not `{value}`"));
            match name {
                "seed" => options.seed = Some(number()?),
                "seeds" => options.seeds = number()?,
                "from" => options.from = number()?,
                "threads" => options.threads = number()?.max(1) as usize,
                _ => options.changes.push((name.to_owned(), value.clone())),
            }
        }
        options.plan(0)?;
        Ok(options)
    }

    fn plan(&self, seed: u64) -> Result<Plan, String> {
        self.changes.iter().try_fold(Plan::of(seed), |plan, (name, value)| plan.changed(name, value))
    }
}

fn play_one(options: &Options, seed: u64) -> ExitCode {
    let metrics = Arc::new(Metrics::default());
    let Ok(plan) = options.plan(seed) else { return ExitCode::from(2) };
    let report = play(&plan, Recording::On, &metrics);
    if options.whole || report.violation.is_none() {
        report.history.iter().for_each(|line| println!("{line}"));
    }
    show(&plan, &report)
}

/// The seeds in order, each taken by the next free thread. The lowest that breaks is shown, made smaller.
fn play_many(options: &Options) -> ExitCode {
    let (next, end) = (AtomicU64::new(options.from), options.from + options.seeds);
    let (broken, commits) = (AtomicU64::new(u64::MAX), AtomicU64::new(0));
    let struck: [AtomicU64; Fault::ALL.len()] = std::array::from_fn(|_| AtomicU64::new(0));
    let seen = Mutex::new(Seen::new());
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..options.threads {
            scope.spawn(|| {
                let metrics = Arc::new(Metrics::default());
                let taken =
                    || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|seed| *seed < end.min(broken.load(Ordering::Relaxed)));
                while let Some(seed) = taken() {
                    let Ok(plan) = options.plan(seed) else { return };
                    let report = play(&plan, Recording::Off, &metrics);
                    commits.fetch_add(report.commits, Ordering::Relaxed);
                    let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                    report.seen.iter().for_each(|(what, times)| *seen.entry(what).or_default() += times);
                    drop(seen);
                    struck.iter().zip(report.struck).for_each(|(sum, count)| _ = sum.fetch_add(count, Ordering::Relaxed));
                    if report.violation.is_some() {
                        broken.fetch_min(seed, Ordering::Relaxed);
                    }
                }
            });
        }
        scope.spawn(|| progress(options, &next, end, &broken, begun));
    });
    let seconds = begun.elapsed().as_secs_f64();
    let broken = broken.into_inner();
    let played = next.into_inner().min(end).min(broken) - options.from;
    let rate = played as f64 / seconds;
    if broken == u64::MAX {
        println!("{played} seeds held in {seconds:.0} s ({rate:.0}/s), {} commits. Faults that struck:", commits.into_inner());
        Fault::ALL.iter().zip(struck).for_each(|(fault, count)| println!("  {:<20} {:>10}", fault.name(), count.into_inner()));
        println!("What came about:");
        let seen = seen.into_inner().unwrap_or_else(PoisonError::into_inner);
        seen.iter().for_each(|(what, times)| println!("  {what:<30} {times:>10}"));
        return ExitCode::SUCCESS;
    }
    println!("{played} seeds held in {seconds:.0} s ({rate:.0}/s), then:");
    let metrics = Arc::new(Metrics::default());
    let Ok(plan) = options.plan(broken) else { return ExitCode::from(2) };
    let plan = shrink(&plan, &metrics);
    show(&plan, &play(&plan, Recording::On, &metrics))
}

fn progress(options: &Options, next: &AtomicU64, end: u64, broken: &AtomicU64, begun: Instant) {
    let mut told = begun;
    loop {
        std::thread::sleep(Duration::from_millis(20));
        let at = next.load(Ordering::Relaxed);
        if end.min(broken.load(Ordering::Relaxed)) <= at {
            return;
        }
        if Duration::from_secs(10) < told.elapsed() {
            told = Instant::now();
            let played = at - options.from;
            eprintln!("{played}/{} seeds, {:.0}/s", options.seeds, played as f64 / begun.elapsed().as_secs_f64());
        }
    }
}

fn show(plan: &Plan, report: &Report) -> ExitCode {
    let Some(violation) = &report.violation else {
        println!("seed {} held: {} commits, history {:016x}", plan.seed, report.commits, report.hash);
        return ExitCode::SUCCESS;
    };
    println!("seed {} breaks invariant {}: {}", plan.seed, violation.invariant, violation.what);
    println!("replay: {}", plan.command());
    let faults: Vec<String> = plan.faults.iter().map(Fault::name).collect();
    println!("faults: {}", if faults.is_empty() { "none".to_owned() } else { faults.join(", ") });
    let lines = relevant(report);
    println!("history ({} of {} lines):", lines.len(), report.history.len());
    lines.iter().for_each(|line| println!("{line}"));
    ExitCode::FAILURE
}
