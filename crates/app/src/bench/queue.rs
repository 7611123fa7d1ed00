//! `caudal bench queue`: how many executions a server takes in bulk, hands out and completes in batches, with and without a limit.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};

use super::fresh::Fresh;
use super::http::Connection;
use super::target::{Server, free_addresses};
use super::usage;
use crate::table;

const ACTION: &str = "no-op";
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a worker waits for jobs.
const POLL_MILLIS: u64 = 500;
/// So many at the end, or half of all, are measured by themselves: the table has filled by then.
const LAST: u64 = 200_000;

#[derive(Debug, Args)]
pub(crate) struct BenchQueue {
    /// Where the fresh store is made: sqlite:FOLDER (a new folder in it), postgres://… (a new database beside the one named), or memory:
    #[arg(long, value_name = "URL", hide_env_values = true)]
    pub(crate) store: Option<String>,
    /// Executions in all
    #[arg(long, value_name = "NUMBER", default_value_t = 200_000)]
    pub(crate) count: u64,
    /// Executions submitted, and jobs completed, by one request, 1 to 1,000
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    pub(crate) batch: u64,
    /// Clients that submit at the same time
    #[arg(long, value_name = "NUMBER", default_value_t = 2)]
    pub(crate) submitters: u64,
    /// Workers that lease and complete at the same time
    #[arg(long, value_name = "NUMBER", default_value_t = 4)]
    pub(crate) workers: u64,
    /// A policy with this limit on how many run at once
    #[arg(long, value_name = "NUMBER")]
    pub(crate) limit: Option<u32>,
    /// With the limit: for each of so many groups
    #[arg(long, value_name = "NUMBER", requires = "limit")]
    pub(crate) groups: Option<u64>,
    /// Print JSON, one document
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(options: &BenchQueue) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start: {error}"))?;
    runtime.block_on(async {
        let fresh = Fresh::make(options.store.as_deref()).await?;
        let measured = tokio::select! {
            measured = measure(options, &fresh) => measured,
            _ = tokio::signal::ctrl_c() => Err("interrupted".to_owned()),
        };
        fresh.remove().await?;
        show(&measured?, options.json);
        Ok(())
    })
}

async fn measure(options: &BenchQueue, fresh: &Fresh) -> Result<Vec<(&'static str, f64, &'static str)>, String> {
    let addresses = free_addresses()?;
    let [rest, grpc, metrics] = addresses.each_ref().map(String::as_str);
    let mut server = Server::start(&fresh.url(), [rest, grpc, metrics], &[])?;
    server.ready(metrics).await?;
    if let Some(limit) = options.limit {
        let parameters: &[&str] = if options.groups.is_some() { &["group"] } else { &[] };
        let policy = json!({ "scope": "ACTION", "action": ACTION, "concurrency": { "limit": limit, "parameters": parameters } });
        let mut connection = Connection::to(rest);
        let put =
            connection.send("PUT", "/v1/policies/bench", "application/json", policy.to_string().as_bytes(), PATIENCE).await?;
        put.expect_success()?;
    }
    let cpu = usage::cpu(server.pid());
    let (begun, left, done) = (Instant::now(), Rc::new(Cell::new(options.count)), Rc::new(Cell::new(0)));
    let submitted = Rc::new(Cell::new(Duration::ZERO));
    let local = tokio::task::LocalSet::new();
    let mut tasks = Vec::new();
    for _ in 0..options.submitters {
        let (connection, left, submitted) = (Connection::to(rest), left.clone(), submitted.clone());
        let (batch, groups) = (options.batch, options.groups);
        tasks.push(local.spawn_local(async move {
            submit(connection, &left, batch, groups).await?;
            submitted.set(submitted.get().max(begun.elapsed()));
            Ok(())
        }));
    }
    let (count, batch) = (options.count, options.batch);
    let last = Rc::new(Cell::new(None));
    for _ in 0..options.workers {
        let (connection, done, last) = (Connection::to(rest), done.clone(), last.clone());
        tasks.push(local.spawn_local(async move { work(connection, (&done, &last), count, batch).await }));
    }
    local.run_until(async { futures_all(tasks).await }).await?;
    let elapsed = begun.elapsed().as_secs_f64();
    let (since, before) = last.get().unwrap_or((begun, 0));
    let last = (options.count - before) as f64 / since.elapsed().as_secs_f64();
    let spent = usage::cpu(server.pid()).zip(cpu).map_or(0.0, |(after, before)| (after - before).as_secs_f64());
    let memory = usage::rss_mb(server.pid()).unwrap_or(0.0);
    server.stop();
    let count = options.count as f64;
    Ok(vec![
        ("executions submitted", count / submitted.get().as_secs_f64(), "/s"),
        ("executions submitted, leased and completed", count / elapsed, "/s"),
        ("the last 200,000 of them, or half", last, "/s"),
        ("server CPU per execution", spent / count * 1_000_000.0, "µs"),
        ("server memory", memory, "MB"),
    ])
}

async fn futures_all(tasks: Vec<tokio::task::JoinHandle<Result<(), String>>>) -> Result<(), String> {
    for task in tasks {
        task.await.map_err(|error| error.to_string())??;
    }
    Ok(())
}

async fn submit(mut connection: Connection, left: &Cell<u64>, batch: u64, groups: Option<u64>) -> Result<(), String> {
    while 0 < left.get() {
        let count = batch.min(left.get());
        left.set(left.get() - count);
        let one = |number: u64| match groups {
            Some(groups) => json!({ "input": { "n": number, "group": (left.get() + number) % groups.max(1) } }),
            None => json!({ "input": { "n": number } }),
        };
        let body = json!({ "executions": (0..count).map(one).collect::<Vec<_>>() }).to_string();
        let path = format!("/v1/actions/{ACTION}/executions/bulk");
        connection.post(&path, body.as_bytes(), PATIENCE).await?.expect_success()?;
    }
    Ok(())
}

/// When the last of them began, and how many were done by then.
type Last = Cell<Option<(Instant, u64)>>;

async fn work(mut connection: Connection, (done, last): (&Cell<u64>, &Last), count: u64, batch: u64) -> Result<(), String> {
    let poll = json!({ "type": ACTION, "worker": "bench", "timeout": 600_000, "maxJobsToActivate": batch, "requestTimeout": POLL_MILLIS });
    let poll = poll.to_string();
    while done.get() < count {
        let answer = connection.post("/v2/jobs/activation", poll.as_bytes(), PATIENCE).await?.expect_success()?;
        let answer: Value = serde_json::from_slice(&answer).map_err(|error| error.to_string())?;
        let jobs = answer["jobs"].as_array().map_or(&[][..], Vec::as_slice);
        if jobs.is_empty() {
            continue;
        }
        let jobs: Vec<Value> = jobs.iter().map(|job| json!({ "jobKey": job["jobKey"] })).collect();
        let body = json!({ "jobs": jobs }).to_string();
        let answer = connection.post("/v1/jobs/completion", body.as_bytes(), PATIENCE).await?.expect_success()?;
        let answer: Value = serde_json::from_slice(&answer).map_err(|error| error.to_string())?;
        done.set(done.get() + answer["completed"].as_u64().unwrap_or(0));
        if last.get().is_none() && count - LAST.min(count / 2) <= done.get() {
            last.set(Some((Instant::now(), done.get())));
        }
    }
    Ok(())
}

pub(super) fn show(report: &[(&'static str, f64, &'static str)], json: bool) {
    let rounded = |number: f64| (number * 10.0).round() / 10.0;
    if json {
        let all: Vec<Value> =
            report.iter().map(|(what, value, unit)| json!({ "what": what, "value": rounded(*value), "unit": unit })).collect();
        table::print(&format!("{}\n", Value::Array(all)));
    } else {
        let row =
            |(what, value, unit): &(&str, f64, &str)| vec![(*what).to_owned(), rounded(*value).to_string(), (*unit).to_owned()];
        table::print(&table::table(&["WHAT", "VALUE", "UNIT"], &report.iter().map(row).collect::<Vec<_>>()));
    }
}
