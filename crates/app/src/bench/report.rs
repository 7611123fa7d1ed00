//! What came out, as a table or as JSON.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::histogram::Histogram;
use super::run::{Run, Times};
use super::target::Target;
use super::usage;
use crate::table;

/// Counters of the run, the server and the database at one moment.
#[derive(Debug)]
pub(super) struct Spent {
    completed: u64,
    server_cpu: Option<Duration>,
    /// Of the bench itself.
    client_cpu: Option<Duration>,
    database_cpu: Option<Duration>,
    rss_mb: Option<f64>,
    written_bytes: Option<u64>,
    ticks: Option<u64>,
}

impl Spent {
    pub(super) async fn so_far(target: &Target, run: &Run) -> Self {
        let ticks = target.ticks().await;
        Self {
            completed: run.completed(),
            server_cpu: target.pid.and_then(usage::cpu),
            client_cpu: usage::cpu(std::process::id()),
            database_cpu: target.backend.and_then(usage::database_cpu),
            rss_mb: target.pid.and_then(usage::rss_mb),
            written_bytes: target.pid.and_then(written_bytes),
            ticks,
        }
    }
}

#[derive(Debug)]
pub(super) struct Report {
    /// The id of the process.
    process: String,
    /// Requests after its creation that an instance takes: jobs completed and messages published.
    steps: u32,
    /// All that were completed, while warming up too.
    instances: u64,
    pub(super) instances_per_second: f64,
    pub(super) times: Times,
    rss_mb: Option<f64>,
    pub(super) server_cpu_micros: Option<f64>,
    /// The bench's own: one thread, so that a million of it in a second is all there is.
    client_cpu_micros: Option<f64>,
    database_cpu_micros: Option<f64>,
    /// What the server itself has written to disk for an instance; a database's writes are its own.
    written_kb: Option<f64>,
    pub(super) instances_per_tick: Option<f64>,
    floor: Option<f64>,
}

impl Report {
    pub(super) fn of(run: &Run, seconds: f64, before: &Spent, after: &Spent) -> Result<Self, String> {
        let completed = (after.completed - before.completed) as f64;
        if completed == 0.0 {
            let reason = run.failures().map_or_else(|| "nothing failed, nothing came".to_owned(), |(_, first)| first);
            return Err(format!("no instance was completed: {reason}"));
        }
        let each =
            |before: Option<Duration>, after: Option<Duration>| Some(after?.checked_sub(before?)?.as_micros() as f64 / completed);
        let grown =
            |before: Option<u64>, after: Option<u64>| before.zip(after).map(|(before, after)| after.saturating_sub(before));
        let ticks = grown(before.ticks, after.ticks);
        let written = grown(before.written_bytes, after.written_bytes).filter(|bytes| 0 < *bytes);
        Ok(Self {
            process: run.subject.process_id.clone(),
            steps: run.subject.steps,
            instances: run.completed(),
            instances_per_second: completed / seconds,
            times: run.times(),
            rss_mb: after.rss_mb,
            server_cpu_micros: each(before.server_cpu, after.server_cpu),
            client_cpu_micros: each(before.client_cpu, after.client_cpu),
            database_cpu_micros: each(before.database_cpu, after.database_cpu),
            written_kb: written.map(|bytes| bytes as f64 / 1_000.0 / completed),
            instances_per_tick: ticks.filter(|ticks| 0 < *ticks).map(|ticks| completed / ticks as f64),
            floor: None,
        })
    }

    pub(super) fn with_floor(self, instances_per_second: f64) -> Self {
        Self { floor: Some(instances_per_second), ..self }
    }

    pub(super) fn show(&self, json: bool) -> Result<(), String> {
        if !json {
            table::print(&self.table());
            return Ok(());
        }
        let text = serde_json::to_string_pretty(&self.json()).map_err(|error| error.to_string())?;
        table::print(&format!("{text}\n"));
        Ok(())
    }

    fn json(&self) -> Value {
        let mut all = Map::new();
        all.insert("processId".to_owned(), json!(self.process));
        all.insert("steps".to_owned(), json!(self.steps));
        all.insert("instances".to_owned(), json!(self.instances));
        all.insert("instancesPerSecond".to_owned(), rounded(self.instances_per_second));
        for (name, times) in
            [("createMs", &self.times.create), ("activationMs", &self.times.activation), ("instanceMs", &self.times.instance)]
        {
            let [p50, p95, p99] = millis(times);
            all.insert(name.to_owned(), json!({ "p50": p50, "p95": p95, "p99": p99 }));
        }
        let costs = [
            ("rssMb", self.rss_mb),
            ("serverCpuMicrosPerInstance", self.server_cpu_micros),
            ("clientCpuMicrosPerInstance", self.client_cpu_micros),
            ("databaseCpuMicrosPerInstance", self.database_cpu_micros),
            ("writtenKbPerInstance", self.written_kb),
            ("instancesPerTick", self.instances_per_tick),
            ("floorInstancesPerSecond", self.floor),
        ];
        for (name, cost) in costs {
            if let Some(cost) = cost {
                all.insert(name.to_owned(), rounded(cost));
            }
        }
        Value::Object(all)
    }

    fn table(&self) -> String {
        let row = |name: &str, times: &Histogram| {
            let mut row = vec![name.to_owned()];
            row.extend(millis(times).map(|millis| format!("{millis:.2}")));
            row
        };
        let rows = [
            row("create", &self.times.create),
            row("create → job activated", &self.times.activation),
            row("whole instance", &self.times.instance),
        ];
        let mut lines = vec![format!("{:.0} instances/s, {} steps each", self.instances_per_second, self.steps)];
        let ratio = |floor| {
            format!("{floor:.0} instances/s is the floor: the rate is {:.0} % of it", self.instances_per_second / floor * 100.0)
        };
        lines.extend(self.floor.map(ratio));
        lines.extend(self.server_cpu_micros.map(|micros| format!("{micros:.0} µs of the server's CPU per instance")));
        lines.extend(self.client_cpu_micros.map(|micros| format!("{micros:.0} µs of the bench's own CPU per instance")));
        lines.extend(self.database_cpu_micros.map(|micros| format!("{micros:.0} µs of the database's CPU per instance")));
        lines.extend(self.written_kb.map(|kb| format!("{kb:.1} kB written to disk by the server per instance")));
        lines.extend(self.rss_mb.map(|mb| format!("{mb:.0} MB in the server's memory")));
        lines.extend(self.instances_per_tick.map(|instances| format!("{instances:.1} instances per tick")));
        format!("{}\n{}\n", table::table(&["MILLISECONDS", "P50", "P95", "P99"], &rows), lines.join("\n"))
    }
}

pub(super) fn millis(times: &Histogram) -> [f64; 3] {
    [0.5, 0.95, 0.99].map(|share| times.quantile(share) as f64 / 1000.0)
}

fn rounded(number: f64) -> Value {
    json!((number * 10.0).round() / 10.0)
}

/// What the process has caused to be written to disk so far.
fn written_bytes(pid: u32) -> Option<u64> {
    let io = std::fs::read_to_string(format!("/proc/{pid}/io")).ok()?;
    io.lines().find_map(|line| line.strip_prefix("write_bytes:"))?.trim().parse().ok()
}
