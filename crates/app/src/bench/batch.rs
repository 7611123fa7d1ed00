//! `caudal bench batch`: how fast one operation cancels many instances, and what of their rate is left to those who start others meanwhile.

use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::fresh::Fresh;
use super::histogram::Histogram;
use super::http::Connection;
use super::queue::show;
use super::target::{Server, free_addresses};
use super::timers::all;
use super::usage;

const PATIENCE: Duration = Duration::from_secs(60);
/// How often the operation is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// One that waits for a worker who never comes, and one that is over at once.
const BPMN: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="caudal">
<process id="waiting" isExecutable="true"><startEvent id="s"/><sequenceFlow id="a" sourceRef="s" targetRef="t"/>
<serviceTask id="t"><extensionElements><zeebe:taskDefinition type="never"/></extensionElements></serviceTask>
<sequenceFlow id="b" sourceRef="t" targetRef="e"/><endEvent id="e"/></process>
<process id="passing" isExecutable="true"><startEvent id="s2"/><sequenceFlow id="c" sourceRef="s2" targetRef="e2"/><endEvent id="e2"/></process></definitions>"#;

#[derive(Debug, Args)]
pub(crate) struct BenchBatch {
    /// Where the fresh store is made: sqlite:FOLDER (a new folder in it), postgres://… (a new database beside the one named), or memory:
    #[arg(long, value_name = "URL", hide_env_values = true)]
    pub(crate) store: Option<String>,
    /// Instances that one operation cancels
    #[arg(long, value_name = "NUMBER", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: u64,
    /// Clients that start other instances at the same time
    #[arg(long, value_name = "NUMBER", default_value_t = 32, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(crate) clients: u64,
    /// Instances a second that they start; as many as go if left out
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rate: Option<u32>,
    /// How long they are measured before there is an operation
    #[arg(long, value_name = "NUMBER", default_value_t = 10)]
    pub(crate) seconds: u64,
    /// Print JSON, one document
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(options: &BenchBatch) -> Result<(), String> {
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

type Line = (&'static str, f64, &'static str);

async fn measure(options: &BenchBatch, fresh: &Fresh) -> Result<Vec<Line>, String> {
    let [rest, grpc, metrics] = free_addresses()?;
    let mut server = Server::start(&fresh.url(), [&rest, &grpc, &metrics], &[])?;
    server.ready(&metrics).await?;
    Connection::to(&rest).deploy("batch.bpmn", BPMN, PATIENCE).await?;
    fill(options, &rest).await?;
    let (done, ends) = watch::channel(false);
    let (alone, ()) = tokio::try_join!(starts(options, &rest, &ends), async {
        tokio::time::sleep(Duration::from_secs(options.seconds)).await;
        done.send_replace(true);
        Ok(())
    })?;
    let (done, ends) = watch::channel(false);
    let begun = Instant::now();
    let (beside, ()) = tokio::try_join!(starts(options, &rest, &ends), async {
        cancel(options, &rest).await?;
        done.send_replace(true);
        Ok(())
    })?;
    let cancelled = options.count as f64 / begun.elapsed().as_secs_f64();
    let [alone_rate, alone_p50, alone_p99] = alone;
    let [beside_rate, beside_p50, beside_p99] = beside;
    let memory = usage::rss_mb(server.pid()).unwrap_or(0.0);
    server.stop();
    Ok(vec![
        ("starts alone", alone_rate, "/s"),
        ("starts alone, p50", alone_p50, "ms"),
        ("starts alone, p99", alone_p99, "ms"),
        ("cancellations", cancelled, "/s"),
        ("starts beside them", beside_rate, "/s"),
        ("starts beside them, p50", beside_p50, "ms"),
        ("starts beside them, p99", beside_p99, "ms"),
        ("server memory", memory, "MB"),
    ])
}

async fn fill(options: &BenchBatch, rest: &str) -> Result<(), String> {
    let clients = (0..options.clients).map(|client| async move {
        let mut connection = Connection::to(rest);
        for _ in (client..options.count).step_by(options.clients as usize) {
            start(&mut connection, "waiting").await?;
        }
        Ok::<_, String>(())
    });
    all(clients).await.map(drop)
}

/// As many as go, or at the rate that is asked for, until told to end: how many a second, and how long half of them and all but one in a hundred
/// took from the moment they were due.
async fn starts(options: &BenchBatch, rest: &str, ends: &watch::Receiver<bool>) -> Result<[f64; 3], String> {
    let begun = Instant::now();
    let clients = (0..options.clients).map(|client| async move {
        let (mut connection, mut times) = (Connection::to(rest), Vec::new());
        // One after the other, not all at once.
        let mut pace = options.rate.map(|rate| {
            let between = Duration::from_secs_f64(1.0 / f64::from(rate));
            tokio::time::interval_at((begun + between * client as u32).into(), between * options.clients as u32)
        });
        while !*ends.borrow() {
            let due = match &mut pace {
                Some(pace) => pace.tick().await.into_std(),
                None => Instant::now(),
            };
            start(&mut connection, "passing").await?;
            times.push(due.elapsed().as_micros() as u64);
        }
        Ok::<_, String>(times)
    });
    let all: Vec<u64> = all(clients).await?.into_iter().flatten().collect();
    let mut times = Histogram::default();
    all.iter().for_each(|time| times.record(*time));
    let millis = |share: f64| times.quantile(share) as f64 / 1_000.0;
    Ok([all.len() as f64 / begun.elapsed().as_secs_f64(), millis(0.5), millis(0.99)])
}

async fn start(connection: &mut Connection, process: &str) -> Result<(), String> {
    let body = json!({ "processDefinitionId": process }).to_string();
    connection.post("/v2/process-instances", body.as_bytes(), PATIENCE).await?.expect_success().map(drop)
}

/// One operation for all that wait, to its end.
async fn cancel(options: &BenchBatch, rest: &str) -> Result<(), String> {
    let mut connection = Connection::to(rest);
    let body = json!({ "filter": { "processDefinitionId": "waiting" } }).to_string();
    let answer = connection.post("/v2/process-instances/cancellation", body.as_bytes(), PATIENCE).await?.expect_success()?;
    let answer: Value = serde_json::from_slice(&answer).map_err(|error| error.to_string())?;
    let key = answer["batchOperationKey"].as_str().ok_or_else(|| format!("no key in {answer}"))?.to_owned();
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let seen = connection.get(&format!("/v2/batch-operations/{key}"), PATIENCE).await?.expect_success()?;
        let seen: Value = serde_json::from_slice(&seen).map_err(|error| error.to_string())?;
        if seen["state"] == "COMPLETED" {
            let done = seen["operationsCompletedCount"].as_u64().unwrap_or(0);
            return if done == options.count { Ok(()) } else { Err(format!("{done} were cancelled: {seen}")) };
        }
    }
}
