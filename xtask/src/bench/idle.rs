//! What a server costs that nobody talks to: right after its start, and after it has worked.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use super::{Bench, measure, usage};
use crate::server::{Data, Server, Store};

/// What a start or a run leaves to do is done by then.
const SETTLE: Duration = Duration::from_secs(10);

pub(super) fn run(bench: &Bench, seconds: u64, stores: &[Store]) -> Result<(), String> {
    for store in stores {
        let data = Data::fresh(&bench.places, &bench.cluster, *store, "bench-idle")?;
        // For the sessions of the server that starts now.
        bench.cluster.query("ALTER ROLE CURRENT_USER SET log_statement = 'all'")?;
        let server = Server::on(&bench.binary, &data)?;
        bench.cluster.query("ALTER ROLE CURRENT_USER RESET log_statement")?;
        watch(bench, &server, *store, seconds, "after its start")?;
        measure::on(bench, &server, *store, &["--seconds", "5"])?;
        watch(bench, &server, *store, seconds, "after work at full rate")?;
    }
    Ok(())
}

fn watch(bench: &Bench, server: &Server, store: Store, seconds: u64, when: &str) -> Result<(), String> {
    std::thread::sleep(SETTLE);
    let log = bench.cluster.process().filter(|_| store == Store::Postgres).map(|(_, log)| log);
    let written = log.as_deref().map_or(0, length);
    let before = usage::cpu(server.pid()).ok_or("there is no /proc here")?;
    std::thread::sleep(Duration::from_secs(seconds));
    let used = usage::cpu(server.pid()).ok_or("the server is gone")?.saturating_sub(before);
    let memory = usage::rss_mb(server.pid()).unwrap_or(f64::NAN);
    println!("{}, idle {when}: {} ms of CPU in {seconds} s, {memory:.1} MB", store.name(), used.as_millis());
    if let Some(log) = log {
        let statements = statements(&log, written);
        println!("{} statements to the database:", statements.values().sum::<usize>());
        statements.iter().for_each(|(statement, count)| println!("  {count} × {statement}"));
    }
    println!();
    Ok(())
}

fn length(log: &Path) -> usize {
    fs::metadata(log).map_or(0, |file| file.len() as usize)
}

/// What PostgreSQL logged since, by statement: `… LOG:  execute s1: UPDATE …`.
fn statements(log: &Path, since: usize) -> BTreeMap<String, usize> {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(text.get(since..).unwrap_or_default()).into_owned();
    let mut counts = BTreeMap::new();
    for line in text.lines() {
        let Some((_, told)) = line.split_once("LOG:  ") else { continue };
        let Some((_, statement)) = told.split_once(": ").filter(|(kind, _)| kind.starts_with("execute") || *kind == "statement")
        else {
            continue;
        };
        *counts.entry(statement.trim().chars().take(100).collect()).or_insert(0) += 1;
    }
    counts
}
