//! `caudal bench search`: how long pages of searches take among many instances that have ended and many that run.
//!
//! Reading order: this file (the course of a run), `fill` (what there is to find), `kinds` (what is asked for), `pages` (one kind measured).

mod fill;
mod kinds;
mod pages;

use std::time::Duration;

use clap::Args;
use serde_json::Value;

use super::fresh::Fresh;
use super::http::Connection;
use super::target::{Server, free_addresses};
use super::usage;
use crate::table;
use pages::{Measured, Processes};

const PATIENCE: Duration = Duration::from_secs(120);
/// What a search shows.
const PAGE: usize = 50;
/// What a page may take.
const WANTED_MILLIS: f64 = 20.0;

#[derive(Debug, Args)]
pub(crate) struct BenchSearch {
    /// Where the fresh store is made: sqlite:FOLDER (a new folder in it), postgres://… (a new database beside the one named), or memory:
    #[arg(long, value_name = "URL", hide_env_values = true)]
    pub(crate) store: Option<String>,
    /// Instances that have ended
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(10_000..))]
    pub(crate) finished: u64,
    /// Instances that run
    #[arg(long, value_name = "NUMBER", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1_000..))]
    pub(crate) running: u64,
    /// Searches of each kind, one after the other
    #[arg(long, value_name = "NUMBER", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) searches: u64,
    /// Only searches whose names begin so, such as "jobs" or "instances: tag"
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Option<String>,
    /// Leave the store where it is and say where, for --filled
    #[arg(long)]
    pub(crate) keep: bool,
    /// A store that an earlier run has filled with as many, instead of a fresh one
    #[arg(long, value_name = "URL", conflicts_with_all = ["store", "keep"])]
    pub(crate) filled: Option<String>,
    /// Print JSON, one document
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(options: &BenchSearch) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start: {error}"))?;
    runtime.block_on(async {
        let measured = match &options.filled {
            Some(store) => interruptible(measure(options, store, None)).await,
            None => fresh(options).await,
        };
        show(&measured?, options.json);
        Ok(())
    })
}

/// Its server ends with it, also when somebody stops it.
async fn interruptible(measuring: impl Future<Output = Result<Vec<Measured>, String>>) -> Result<Vec<Measured>, String> {
    tokio::select! {
        measured = measuring => measured,
        _ = tokio::signal::ctrl_c() => Err("interrupted".to_owned()),
    }
}

async fn fresh(options: &BenchSearch) -> Result<Vec<Measured>, String> {
    let fresh = Fresh::make(options.store.as_deref()).await?;
    let backend = fresh.database().and_then(|database| database.backend);
    let url = fresh.url();
    let measured = interruptible(measure(options, &url, backend)).await;
    if options.keep {
        eprintln!("caudal: the store is kept: --filled {url}");
        std::mem::forget(fresh);
        return measured;
    }
    fresh.remove().await?;
    measured
}

async fn measure(options: &BenchSearch, store: &str, backend: Option<u32>) -> Result<Vec<Measured>, String> {
    let [rest, grpc, metrics] = free_addresses()?;
    // What is filled in has no reason to go while it is searched.
    let mut server = Server::start(store, [&rest, &grpc, &metrics], &["--retention-instances", "forever"])?;
    server.ready(&metrics).await?;
    if options.filled.is_none() {
        fill::fill(options, &rest).await?;
    }
    let processes = Processes { server: server.pid(), database: backend };
    let mut connection = Connection::to(&rest);
    let mut measured = Vec::new();
    for kind in kinds::all(options, &mut connection).await? {
        if options.only.as_ref().is_none_or(|only| kind.name().starts_with(only)) {
            measured.extend(pages::measure(options, &mut connection, &kind, &processes).await?);
        }
    }
    server.stop();
    Ok(measured)
}

async fn ask(connection: &mut Connection, path: &str, body: &Value) -> Result<Value, String> {
    let answer = connection.post(path, body.to_string().as_bytes(), PATIENCE).await?;
    let answer = answer.expect_success().map_err(|reason| format!("{path} {body}: {reason}"))?;
    if answer.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(&answer).map_err(|error| error.to_string())
}

fn show(measured: &[Measured], json: bool) {
    if json {
        return table::print(&format!("{}\n", Value::Array(measured.iter().map(Measured::json).collect())));
    }
    let headers = ["SEARCH", "SORT", "FOUND", "FIRST PAGE ms", "AFTER A CURSOR", "BEFORE ONE", "CPU ms"];
    table::print(&table::table(&headers, &measured.iter().map(Measured::row).collect::<Vec<_>>()));
    let slow: Vec<&Measured> = measured.iter().filter(|one| one.is_slow()).collect();
    table::print(&format!(
        "\n{} of {} take more than {WANTED_MILLIS} ms (p50), or longer than the server lets them\n",
        slow.len(),
        measured.len()
    ));
    for one in slow {
        table::print(&format!("- {}\n", one.title()));
    }
}
