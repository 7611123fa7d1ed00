//! Reads what is there at the end: rows through the API, as any client would; positions in the store itself.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::check::{Instance, Job, Log};
use super::http::{Connection, Request};
use crate::packages;
use crate::places::Places;
use crate::postgres::Cluster;

const PAGE: usize = 5_000;
/// How long it may take, once nothing disturbs them, until one more of the last instances has ended.
const PROGRESS_MAX: Duration = Duration::from_secs(30);

/// The same of both stores, from the positions in their logs.
fn log(positions: &str) -> String {
    format!(
        "SELECT coalesce(min(position), 0), coalesce(max(position), 0), count(*),
            (SELECT position FROM partitions WHERE partition = 1), (SELECT count(*) FROM inbox WHERE partition = 1)
        FROM ({positions}) AS log"
    )
}

/// Waits until no instance runs any more; true if that came to pass.
pub(super) fn finished(server: SocketAddr) -> bool {
    let body = json!({ "filter": { "state": "ACTIVE" }, "page": { "limit": 1 } }).to_string();
    let mut connection = Connection::default();
    let (mut least, mut progress) = (u64::MAX, Instant::now());
    while progress.elapsed() < PROGRESS_MAX {
        let answer = connection.must(server, &Request::post("/v2/process-instances/search", &body));
        match answer.ok().and_then(|answer| answer["page"]["totalItems"].as_u64()) {
            Some(0) => return true,
            Some(left) if left < least => (least, progress) = (left, Instant::now()),
            _ => {}
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    false
}

/// Every instance with all that belongs to it.
pub(super) fn instances(server: SocketAddr) -> Result<BTreeMap<u64, Instance>, String> {
    let mut instances = BTreeMap::new();
    search(server, "process-instances", |row| {
        let (process, state) = (text(row, "processDefinitionId"), text(row, "state"));
        instances.insert(key(row, "processInstanceKey"), Instance { process, state, ..Instance::default() });
    })?;
    search(server, "element-instances", |row| {
        let instance = instances.entry(key(row, "processInstanceKey")).or_default();
        instance.elements.push((text(row, "elementId"), text(row, "state")));
    })?;
    search(server, "variables", |row| {
        let instance = instances.entry(key(row, "processInstanceKey")).or_default();
        if row["scopeKey"] == row["processInstanceKey"] {
            instance.variables.push((text(row, "name"), text(row, "value")));
        }
    })?;
    search(server, "jobs", |row| {
        let instance = instances.entry(key(row, "processInstanceKey")).or_default();
        instance.jobs.push(Job {
            key: key(row, "jobKey"),
            element: text(row, "elementId"),
            state: text(row, "state"),
            has_failed: row["hasFailedWithRetriesLeft"] == true,
        });
    })?;
    search(server, "incidents", |row| instances.entry(key(row, "processInstanceKey")).or_default().incidents += 1)?;
    Ok(instances)
}

fn search(server: SocketAddr, what: &str, mut each: impl FnMut(&Value)) -> Result<(), String> {
    let mut connection = Connection::default();
    let path = format!("/v2/{what}/search");
    let mut page = json!({ "limit": PAGE });
    loop {
        let answer = connection.must(server, &Request::post(&path, &json!({ "page": page }).to_string()))?;
        let items = answer["items"].as_array().ok_or("a search without items")?;
        items.iter().for_each(&mut each);
        if items.len() < PAGE {
            return Ok(());
        }
        page = json!({ "limit": PAGE, "after": answer["page"]["endCursor"] });
    }
}

fn text(row: &Value, name: &str) -> String {
    row[name].as_str().unwrap_or_default().to_owned()
}

fn key(row: &Value, name: &str) -> u64 {
    row[name].as_str().and_then(|key| key.parse().ok()).unwrap_or(0)
}

/// The log of an embedded store whose server has stopped, and what SQLite itself says about the file.
pub(super) fn sqlite_log(places: &Places, folder: &Path) -> Result<Log, String> {
    let file = folder.join("caudal.db");
    let damage = sqlite(places, &file, "PRAGMA integrity_check")?.trim().to_owned();
    let positions = "SELECT place - (1 << 51) AS position FROM log WHERE place >> 51 = 1";
    let log = numbers(&sqlite(places, &file, &log(positions))?)?;
    Ok(Log { damage: (damage != "ok").then_some(damage), ..log })
}

pub(super) fn postgres_log(cluster: &Cluster, url: &str) -> Result<Log, String> {
    numbers(&cluster.ask(url, &log("SELECT position FROM log WHERE partition = 1"))?)
}

pub(super) fn sqlite(places: &Places, file: &Path, statement: &str) -> Result<String, String> {
    if !packages::found("sqlite3") {
        packages::install(&packages::SQLITE, &places.log("install-sqlite3"))?;
    }
    let output = Command::new("sqlite3").arg("-batch").arg(file).arg(statement).output();
    let output = output.map_err(|error| format!("cannot run sqlite3: {error}"))?;
    if !output.status.success() {
        return Err(format!("{statement}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn numbers(line: &str) -> Result<Log, String> {
    let numbers: Vec<u64> = line.trim().split('|').filter_map(|number| number.parse().ok()).collect();
    match numbers[..] {
        [first, last, rows, position, waiting] => Ok(Log { first, last, rows, position, waiting, damage: None }),
        _ => Err(format!("the log cannot be read: {line}")),
    }
}
