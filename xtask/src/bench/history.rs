//! What many instances in the tables change: the rate, and the time to start.
//!
//! The full store is measured in turn with a fresh one, several times, since a machine is not equally fast all the time.

use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::machine::Moment;
use super::measure::{self, Measured};
use super::{Bench, usage};
use crate::server::{Data, Server, Store, request};

const ROUNDS: usize = 5;
const STARTS: usize = 5;
const SECONDS: &str = "5";

pub(super) fn run(bench: &Bench, store: Store, finished: u64, running: u64) -> Result<(), String> {
    let data = Data::fresh(&bench.places, &bench.cluster, store, "bench-full")?;
    let server = Server::on(&bench.binary, &data)?;
    let fill = |options: &[&str], count: u64| {
        let begun = Instant::now();
        let count = count.to_string();
        let options = [options, &["--warm-up", "0", "--instances", &count]].concat();
        measure::on(bench, &server, store, &options).map(|measured| (measured, begun.elapsed()))
    };
    eprintln!("{}: {finished} instances to finish", store.name());
    let (filled, took) = fill(&[], finished)?;
    let count = filled.number("instances").unwrap_or_default();
    println!("{}: {count:.0} finished instances after {:.0} s, {}", store.name(), took.as_secs_f64(), size(bench, store, &data)?);
    compare(bench, store, &server)?;

    eprintln!("{}: {running} instances to leave running", store.name());
    let (waiting, took) = fill(&["--workers", "0"], running)?;
    let count = waiting.number("instances").unwrap_or_default();
    println!("{}: {count:.0} running instances after {:.0} s more", store.name(), took.as_secs_f64());
    server.kill()?;
    starts(bench, store, &data, waiting.text("processId"))
}

/// Rates of a fresh store and of the full one, in turn.
fn compare(bench: &Bench, store: Store, full: &Server) -> Result<(), String> {
    let options = ["--seconds", SECONDS];
    let mut rounds = Vec::new();
    println!("\n| round | fresh: instances/s | CPU | full: instances/s | CPU | rate | CPU | others |");
    println!("|---|---|---|---|---|---|---|---|");
    for round in 1..=ROUNDS {
        let before = Moment::now(bench, &[full.pid()]);
        let fresh = {
            let data = Data::fresh(&bench.places, &bench.cluster, store, "bench-empty")?;
            measure::on(bench, &Server::on(&bench.binary, &data)?, store, &options)?
        };
        let measured = [fresh, measure::on(bench, full, store, &options)?];
        let [rate, cpu] = changes(&measured);
        let cells = measured.each_ref().map(|one| format!("{:.0} | {}", one.rate(), one.cpu_text())).join(" | ");
        println!("| {round} | {cells} | {rate:+.1} % | {cpu:+.1} % | {} |", before.others_since(bench, &[full.pid()]));
        rounds.push([rate, cpu]);
    }
    let [rate, cpu] = [0, 1].map(|which| median(rounds.iter().map(|round| round[which]).collect()));
    println!("\n{}: medians of the changes: rate {rate:+.1} %, CPU per instance {cpu:+.1} %", store.name());
    Ok(())
}

/// By how many per cent the full store's rate and CPU differ from the fresh one's.
fn changes([fresh, full]: &[Measured; 2]) -> [f64; 2] {
    [full.rate() / fresh.rate(), full.cpu() / fresh.cpu()].map(|ratio| (ratio - 1.0) * 100.0)
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Starts after the server was killed, each with the first job that is handed out.
fn starts(bench: &Bench, store: Store, data: &Rc<Data>, job_type: &str) -> Result<(), String> {
    println!("\n| start after kill -9 | exec to ready | CPU by then | memory | first jobs asked for and got |");
    println!("|---|---|---|---|---|");
    for start in 1..=STARTS {
        let server = Server::on(&bench.binary, data)?;
        let cpu = usage::cpu(server.pid()).unwrap_or_default().as_millis();
        let memory = usage::rss_mb(server.pid()).unwrap_or(f64::NAN);
        let first = first_jobs(&server, job_type)?;
        let [ready, first] = [server.start, first].map(|time| time.as_secs_f64() * 1_000.0);
        println!("| {start} | {ready:.0} ms | {cpu} ms | {memory:.0} MB | {first:.1} ms |");
        server.kill()?;
    }
    println!("\n{}: {} at the end\n", store.name(), size(bench, store, data)?);
    Ok(())
}

fn first_jobs(server: &Server, job_type: &str) -> Result<Duration, String> {
    let address = server.rest.trim_start_matches("http://");
    let body = format!(r#"{{"type":"{job_type}","worker":"first","timeout":60000,"maxJobsToActivate":32}}"#);
    let begun = Instant::now();
    let answer = request(address, "POST /v2/jobs/activation", &body).map_err(|error| format!("no jobs: {error}"))?;
    match answer.contains(job_type) {
        true => Ok(begun.elapsed()),
        false => Err(format!("no jobs: {answer}")),
    }
}

fn size(bench: &Bench, store: Store, data: &Data) -> Result<String, String> {
    let bytes = match store {
        Store::Sqlite => folder_bytes(&data.folder),
        Store::Postgres => {
            let bytes = bench.cluster.query("SELECT max(pg_database_size(oid)) FROM pg_database")?;
            bytes.parse().map_err(|_| format!("the size of the database is {bytes}"))?
        }
    };
    Ok(format!("{:.1} GB", bytes as f64 / 1e9))
}

fn folder_bytes(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum()
}
