//! A few thousand seeds hold, every fault strikes, and the same seed is the same run.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use host::Metrics;
use sim::{Fault, Plan, Recording, Report, SEEN, play, relevant, shrink};

const SEEDS: u64 = 4_000;

/// Plays on every processor; gives the reports in the order of the seeds.
fn play_all(seeds: u64) -> Vec<Report> {
    let next = AtomicU64::new(0);
    let one_thread = || {
        let metrics = Arc::new(Metrics::default());
        let taken = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|seed| *seed < seeds);
        std::iter::from_fn(taken).map(|seed| (seed, play(&Plan::of(seed), Recording::Off, &metrics))).collect::<Vec<_>>()
    };
    let mut played: Vec<_> = std::thread::scope(|scope| {
        let count = std::thread::available_parallelism().map_or(1, usize::from);
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(one_thread)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("playing reports instead of panicking")).collect()
    });
    played.sort_by_key(|(seed, _)| *seed);
    played.into_iter().map(|(_, report)| report).collect()
}

#[test]
fn thousands_of_seeds_hold_every_fault_strikes_and_everything_comes_about() {
    let reports = play_all(SEEDS);
    if let Some(seed) = reports.iter().position(|report| report.violation.is_some()) {
        let metrics = Arc::new(Metrics::default());
        let plan = shrink(&Plan::of(seed as u64), &metrics);
        let report = play(&plan, Recording::On, &metrics);
        panic!("{:?}\nreplay: {}\n{}", report.violation, plan.command(), relevant(&report).join("\n"));
    }
    for fault in Fault::ALL {
        let struck: u64 = reports.iter().map(|report| report.struck[fault as usize]).sum();
        assert!(100 < struck, "{} struck {struck} times only", fault.name());
    }
    for what in SEEN {
        let seen: u64 = reports.iter().filter_map(|report| report.seen.get(what)).sum();
        assert!(20 < seen, "{what}: seen {seen} times only");
    }
}

#[test]
fn the_same_seed_is_the_same_run() {
    let metrics = Arc::new(Metrics::default());
    for seed in 0..60 {
        let once = play(&Plan::of(seed), Recording::On, &metrics);
        let again = play(&Plan::of(seed), Recording::On, &metrics);
        assert!(once == again, "seed {seed} gave two histories");
        let unheard = play(&Plan::of(seed), Recording::Off, &metrics);
        assert_eq!(once.hash, unheard.hash, "seed {seed} is another run when nobody listens");
    }
}
