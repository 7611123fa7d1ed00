//! `caudal bench process`, run and read.

use std::io::Read as _;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::Bench;
use crate::children::{Farewell, Running};
use crate::server::{Data, Server, Store};

const CPU: [&str; 2] = ["serverCpuMicrosPerInstance", "databaseCpuMicrosPerInstance"];

/// What `caudal bench process --json` said.
#[derive(Debug)]
pub(super) struct Measured(Value);

impl Measured {
    pub(super) fn rate(&self) -> f64 {
        self.number("instancesPerSecond").unwrap_or(f64::NAN)
    }

    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.0[name].as_f64()
    }

    pub(super) fn text(&self, name: &str) -> &str {
        self.0[name].as_str().unwrap_or_default()
    }

    /// The server's CPU per instance and the database's together, in microseconds.
    pub(super) fn cpu(&self) -> f64 {
        CPU.iter().filter_map(|name| self.number(name)).sum()
    }

    /// The server's CPU per instance, then the database's.
    pub(super) fn cpu_text(&self) -> String {
        let each = CPU.iter().filter_map(|name| self.number(name)).map(|micros| format!("{micros:.0}"));
        format!("{} µs", each.collect::<Vec<_>>().join(" + "))
    }

    /// In milliseconds.
    pub(super) fn median(&self, name: &str) -> f64 {
        self.0[name]["p50"].as_f64().unwrap_or(f64::NAN)
    }

    /// p50, p95 and p99 in milliseconds.
    pub(super) fn times(&self, name: &str) -> String {
        let times = &self.0[name];
        ["p50", "p95", "p99"].map(|share| format!("{:.1}", times[share].as_f64().unwrap_or(f64::NAN))).join(" / ")
    }
}

/// With a server and a store that `caudal bench` makes for itself.
pub(super) fn fresh(bench: &Bench, store: Store, options: &[&str]) -> Result<Measured, String> {
    // What it makes lies in here, so that nothing is left behind if we are stopped.
    let data = Data::fresh(&bench.places, &bench.cluster, Store::Sqlite, "bench-fresh")?;
    let beside = match store {
        Store::Sqlite => format!("sqlite:{}", data.folder.display()),
        Store::Postgres => bench.cluster.url.clone(),
    };
    let mut command = caudal(bench, options);
    command.args(["--store", &beside]).env("TMPDIR", &data.folder);
    finish(start(&mut command)?)
}

/// On a server that runs.
pub(super) fn on(bench: &Bench, server: &Server, store: Store, options: &[&str]) -> Result<Measured, String> {
    finish(start_on(bench, server, store, options)?)
}

pub(super) fn start_on(bench: &Bench, server: &Server, store: Store, options: &[&str]) -> Result<Running, String> {
    let mut command = caudal(bench, options);
    command.args(["--url", &server.rest, "--grpc", &server.grpc, "--server-pid", &server.pid().to_string()]);
    if let (Store::Postgres, Some((pid, _))) = (store, bench.cluster.process()) {
        command.args(["--database-pid", &pid.to_string()]);
    }
    start(&mut command)
}

fn caudal(bench: &Bench, options: &[&str]) -> Command {
    let mut command = Command::new(&bench.binary);
    command.args(["bench", "process", "--json"]).args(options);
    command
}

fn start(command: &mut Command) -> Result<Running, String> {
    Running::start(command.stdout(Stdio::piped()), Farewell::Terminate)
        .map_err(|error| format!("cannot start `caudal bench`: {error}"))
}

/// Waits for its end and reads what it said.
pub(super) fn finish(mut running: Running) -> Result<Measured, String> {
    let mut text = String::new();
    let mut output = running.child.stdout.take().expect("its output is a pipe");
    output.read_to_string(&mut text).map_err(|error| format!("`caudal bench`: {error}"))?;
    let status = running.wait().map_err(|error| format!("`caudal bench`: {error}"))?;
    if !status.success() {
        return Err(format!("`caudal bench` ended with {status}"));
    }
    text.parse().map(Measured).map_err(|error| format!("`caudal bench` said {text:?}: {error}"))
}
