//! A day in ten minutes: load, timers and retention, with the clock moved on by a quarter of an hour again and again. At the end every timer
//! that fell due has fired once, and memory, disk and latency are what they were in the morning.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Bench, measure, usage};
use crate::server::{Data, Server, Store, request};

const QUARTERS: u64 = 96;
/// Instances of load a second. Every quarter has as many as any other, however long the machine takes for them: what is kept at its end can
/// be compared.
const RATE: u64 = 300;
/// Instances started in every quarter that wait for a time of their own.
const SLEEPERS: u64 = 100;
/// They wait for one quarter up to so many, each for another number of them.
const SLEEP_MAX: u64 = 16;
/// How long timers that are due may take to fire, on a machine that others use.
const FIRED_MAX: Duration = Duration::from_secs(120);
/// How much more memory and disk the evening may take than the morning.
const GROWTH_MAX: f64 = 1.2;
/// And how much longer it may take until a job is handed out. What else the machine does moves that a lot, so it is generous; what gets
/// slower with all that has been done during the day is more than this.
const SLOWER_MAX: f64 = 2.0;
/// Differences of less say nothing, in milliseconds.
const LATENCY_FLOOR_MS: f64 = 5.0;
/// What has ended goes after so long, well before the morning: from then on the disk is to stay as it is.
const RETENTION: [&str; 2] = ["--retention-instances=2h", "--retention-log=2h"];

const PROCESS: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="day" targetNamespace="http://example.org/day">
  <process id="sleeper" isExecutable="true">
    <startEvent id="start"/>
    <sequenceFlow id="a" sourceRef="start" targetRef="sleep"/>
    <intermediateCatchEvent id="sleep"><timerEventDefinition id="t"><timeDuration>=wait</timeDuration></timerEventDefinition></intermediateCatchEvent>
    <sequenceFlow id="b" sourceRef="sleep" targetRef="end"/>
    <endEvent id="end"/>
  </process>
</definitions>
"#;

/// What is seen at the end of a quarter.
struct Seen {
    memory_mb: f64,
    disk_mb: f64,
    instances: f64,
    activation: String,
    /// The median of it.
    activation_ms: f64,
}

/// One of the figures of a quarter.
type Figure = fn(&Seen) -> f64;

pub(super) fn run(bench: &Bench, store: Store, minutes: u64, more: &[String]) -> Result<bool, String> {
    let data = Data::fresh(&bench.places, &bench.cluster, store, "bench-day")?;
    let more: Vec<&str> = RETENTION.into_iter().chain(["--test-clock"]).chain(more.iter().map(String::as_str)).collect();
    let mut server = Server::with(&bench.binary, &data, &more)?;
    let address = server.rest.trim_start_matches("http://").to_owned();
    deploy(bench, &server, &data)?;
    let (mut seen, mut started) = (Vec::new(), Vec::new());
    let load = (RATE * (minutes * 60 / QUARTERS).saturating_sub(1).max(1)).to_string();
    let mut instances = 0.0;
    for quarter in 0..QUARTERS {
        for number in 0..SLEEPERS {
            let quarters = 1 + (quarter * 7 + number) % SLEEP_MAX;
            ask(
                &address,
                "/v2/process-instances",
                &json!({
                    "processDefinitionId": "sleeper", "variables": { "wait": format!("PT{}M", quarters * 15) }
                }),
            )?;
            started.push(quarter + quarters);
        }
        let options = ["--rate", &RATE.to_string(), "--warm-up", "0", "--instances", &load];
        let measured = measure::on(bench, &server, store, &options)?;
        instances += measured.number("instances").unwrap_or_default();
        server.check()?;
        ask(&address, "/v1/clock/advance", &json!({ "duration": "PT15M" }))?;
        wait_for_fired(&address, started.iter().filter(|fires| quarter + 1 < **fires).count() as u64)?;
        let memory_mb = usage::rss_mb(server.pid()).unwrap_or(f64::NAN);
        let (activation, activation_ms) = (measured.times("activationMs"), measured.median("activationMs"));
        seen.push(Seen { memory_mb, disk_mb: disk(bench, store, &data)?, instances, activation, activation_ms });
    }
    Ok(show(store, &seen))
}

fn deploy(bench: &Bench, server: &Server, data: &Data) -> Result<(), String> {
    let file = data.folder.join("day.bpmn");
    fs::write(&file, PROCESS).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
    let mut command = std::process::Command::new(&bench.binary);
    command.arg("deploy").arg(&file).args(["--url", &server.rest]);
    crate::logged::must(&mut command, &bench.places.log("bench-day"), FIRED_MAX).map(drop)
}

fn ask(address: &str, path: &str, body: &Value) -> Result<Value, String> {
    let answer = request(address, &format!("POST {path}"), &body.to_string()).map_err(|error| format!("{path}: {error}"))?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    if head.split_whitespace().nth(1).is_none_or(|status| !status.starts_with('2')) {
        return Err(format!("{path}: {answer}"));
    }
    Ok(body.parse().unwrap_or(Value::Null))
}

/// Exactly those that are not due sleep on: one less would have fired early, or twice.
fn wait_for_fired(address: &str, asleep: u64) -> Result<(), String> {
    let search = json!({ "filter": { "processDefinitionId": "sleeper", "state": "ACTIVE" }, "page": { "limit": 1 } });
    let deadline = Instant::now() + FIRED_MAX;
    loop {
        let found = ask(address, "/v2/process-instances/search", &search)?["page"]["totalItems"].as_u64().unwrap_or_default();
        if found == asleep {
            return Ok(());
        }
        if found < asleep || deadline < Instant::now() {
            return Err(format!("{found} instances wait for a timer, and {asleep} are to"));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn disk(bench: &Bench, store: Store, data: &Data) -> Result<f64, String> {
    let bytes = match store {
        Store::Sqlite => files(&data.folder)?,
        Store::Postgres => {
            let name = data.url().rsplit('/').next().unwrap_or_default().split('?').next().unwrap_or_default();
            bench.cluster.query(&format!("SELECT pg_database_size('{name}')"))?.parse().map_err(|error| format!("{error}"))?
        }
    };
    Ok(bytes as f64 / 1e6)
}

fn files(folder: &Path) -> Result<u64, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(entries.flatten().filter_map(|entry| entry.metadata().ok()).map(|found| found.len()).sum())
}

/// True if the evening is like the morning.
fn show(store: Store, seen: &[Seen]) -> bool {
    println!(
        "| {}, hour | memory | disk | instances so far | create → activated p50/p95/p99 ms |\n|---|---|---|---|---|",
        store.name()
    );
    for (quarter, at) in seen.iter().enumerate().filter(|(quarter, _)| quarter % 12 == 11) {
        let hour = quarter.div_ceil(4);
        println!("| {hour} | {:.1} MB | {:.0} MB | {:.0} | {} |", at.memory_mb, at.disk_mb, at.instances, at.activation);
    }
    // The first sixth warms up; the morning is the next one, the evening the last.
    let (morning, evening) = (part(seen, 1), part(seen, 5));
    let mean = |part: &[Seen], of: Figure| part.iter().map(of).sum::<f64>() / part.len() as f64;
    let (memory, disk, latency): (Figure, Figure, Figure) = (|at| at.memory_mb, |at| at.disk_mb, |at| at.activation_ms);
    let is_flat = |of: Figure| mean(evening, of) <= mean(morning, of) * GROWTH_MAX;
    println!(
        "\nmemory {:.1} MB in the morning, {:.1} MB in the evening; disk {:.1} MB in the morning, {:.1} MB in the evening; create → \
         activated {:.1} ms in the morning, {:.1} ms in the evening (the median of each quarter, on average); every timer that was due fired \
         once\n",
        mean(morning, memory),
        mean(evening, memory),
        mean(morning, disk),
        mean(evening, disk),
        mean(morning, latency),
        mean(evening, latency)
    );
    is_flat(memory) && is_flat(disk) && is_as_quick(mean(morning, latency), mean(evening, latency))
}

fn is_as_quick(morning_ms: f64, evening_ms: f64) -> bool {
    evening_ms <= (morning_ms * SLOWER_MAX).max(morning_ms + LATENCY_FLOOR_MS)
}

/// One of six parts of the day.
fn part(seen: &[Seen], number: usize) -> &[Seen] {
    let length = seen.len() / 6;
    &seen[number * length..(number + 1) * length]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(evening: [f64; 3]) -> Vec<Seen> {
        let at = |[memory_mb, disk_mb, activation_ms]: [f64; 3]| Seen {
            memory_mb,
            disk_mb,
            instances: 0.0,
            activation: String::new(),
            activation_ms,
        };
        (0..6).map(|sixth| at(if sixth == 5 { evening } else { [50.0, 40.0, 8.0] })).collect()
    }

    #[test]
    fn an_evening_is_like_the_morning_in_memory_disk_and_latency() {
        assert!(show(Store::Sqlite, &day([59.0, 47.0, 15.9])));
        assert!(!show(Store::Sqlite, &day([61.0, 47.0, 15.9])), "more memory");
        assert!(!show(Store::Sqlite, &day([59.0, 49.0, 15.9])), "more disk");
        assert!(!show(Store::Sqlite, &day([59.0, 47.0, 16.1])), "slower");
        assert!(!show(Store::Sqlite, &day([59.0, 47.0, f64::NAN])), "not measured");
        assert!(is_as_quick(0.5, 5.0), "a few milliseconds are of the machine");
    }
}
