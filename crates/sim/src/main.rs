//! `cargo xtask sim`: plays seeds.
#![allow(clippy::print_stdout, reason = "a command line tool talks to its user")]

use std::sync::Arc;

use sim::{Plan, Recording, play};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let metrics = Arc::new(host::Metrics::default());
    if args[1] == "--seed" {
        let report = play(&Plan::of(args[2].parse().unwrap()), Recording::On, &metrics);
        for line in &report.history {
            println!("{line}");
        }
        println!("{:?} {}", report.violation, report.hash);
        return;
    }
    let n: u64 = args[2].parse().unwrap();
    let from: u64 = args.get(3).map_or(0, |s| s.parse().unwrap());
    let t = std::time::Instant::now();
    let (mut bad, mut commits) = (0, 0);
    for seed in from..from + n {
        let report = play(&Plan::of(seed), Recording::Off, &metrics);
        commits += report.commits;
        if let Some(v) = report.violation {
            println!("seed {seed}: {} {}", v.invariant, &v.what[..v.what.len().min(300)]);
            bad += 1;
            if bad > 15 {
                break;
            }
        }
    }
    println!("{n} seeds, {bad} bad, {commits} commits, {:?}", t.elapsed());
}
