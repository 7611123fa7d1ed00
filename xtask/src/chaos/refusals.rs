//! A store that takes no writes, for want of room or of permission: callers are told so, reads go on, nothing is damaged, and work goes on
//! once the cause is gone.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::http::{Connection, Reply, Request};
use super::server::{Roles, Server};
use super::small_disk::SmallDisk;
use super::{process, state, world};
use crate::places::Places;
use crate::postgres::Cluster;

const BACK_MAX: Duration = super::run::PATIENT;
/// More starts than fit on what a filled disk still gives.
const STARTS_MAX: usize = 2_000;

/// The disk fills up under a running server, and has room again.
pub(super) fn full_disk(places: &Places) -> Result<String, String> {
    let disk = SmallDisk::mount(&places.own.join("data").join("chaos-small-disk"), 24)?;
    let data = disk.folder.join("data");
    let address = format!("sqlite:{}", data.display());
    let mut server = Server::new(places, "chaos-full-disk-server", &address, "", Roles::Both)?.started_by(&disk.enter);
    server.start()?;
    world::deploy(server.rest, process::LINE, process::ALL[0].1)?;
    let mut client = Caller::to(server.rest);
    for _ in 0..50 {
        client.must_start()?;
    }
    disk.fill();
    client.start_until_refused()?;
    let refused = client.refusal()?;
    if refused.0 != 503 || refused.1["title"] != "RESOURCE_EXHAUSTED" || !refused.1.to_string().contains("disk") {
        return Err(format!("a start on a full disk was answered with {}: {}", refused.0, refused.1));
    }
    client.must_read()?;
    disk.make_room()?;
    let back = client.back_within(BACK_MAX)?;
    server.stop();
    let acknowledged = client.acknowledged;
    server.start()?;
    client.must_read()?;
    server.stop();
    let copy = places.own.join("data").join("chaos-full-disk");
    disk.copy(&data, &copy)?;
    let log = state::sqlite_log(places, &copy)?;
    if log.damage.is_some() || log.rows != log.last || log.waiting != 0 {
        return Err(format!("after the disk was full: {log:?}"));
    }
    Ok(format!("{acknowledged} instances, all there; work {} ms after there was room", back.as_millis()))
}

/// A folder that cannot be written to, before the server starts.
pub(super) fn read_only_folder(places: &Places) -> Result<String, String> {
    let disk = SmallDisk::mount(&places.own.join("data").join("chaos-read-only-disk"), 24)?;
    let address = format!("sqlite:{}", disk.folder.join("data").display());
    let mut server = Server::new(places, "chaos-read-only-server", &address, "", Roles::Both)?.started_by(&disk.enter);
    disk.remount("ro")?;
    says(&server.refuse()?, &["read-only", "--data"])?;
    disk.remount("rw")?;
    server.start()?;
    world::deploy(server.rest, process::LINE, process::ALL[0].1)?;
    let mut client = Caller::to(server.rest);
    client.must_start()?;
    server.stop();
    disk.remount("ro")?;
    says(&server.refuse()?, &["read-only", "--data"])?;
    disk.remount("rw")?;
    server.start()?;
    client.must_read()?;
    Ok("refused with words, empty and in use; started once it could write".to_owned())
}

/// Two servers on one file: the second leaves at once.
pub(super) fn second_server(places: &Places) -> Result<String, String> {
    let folder = places.own.join("data").join("chaos-two-servers");
    std::fs::remove_dir_all(&folder).ok();
    let address = format!("sqlite:{}", folder.display());
    let mut first = Server::new(places, "chaos-two-servers-1", &address, "", Roles::Both)?;
    first.start()?;
    let mut second = Server::new(places, "chaos-two-servers-2", &address, "", Roles::Both)?;
    says(&second.refuse()?, &["in use by another server"])?;
    // Held or not, the first keeps its folder.
    first.hold()?;
    says(&second.refuse()?, &["in use by another server"])?;
    first.release()?;
    first.kill();
    second.start()?;
    Ok("refused while the first lived, also while it was held; started once it was dead".to_owned())
}

/// The database turns read-only under a running server, as a replica does, and back.
pub(super) fn read_only_database(places: &Places, cluster: &Cluster) -> Result<String, String> {
    let name = "chaos_read_only";
    let url = cluster.fresh_database(name)?;
    let mut server = Server::new(places, "chaos-read-only-database-server", &url, "", Roles::Both)?;
    server.start()?;
    world::deploy(server.rest, process::LINE, process::ALL[0].1)?;
    let mut client = Caller::to(server.rest);
    client.must_start()?;
    let turn = |word: &str| {
        cluster.ask(&cluster.url, &format!("ALTER DATABASE {name} SET default_transaction_read_only = {word}"))?;
        let cut = format!("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '{name}'");
        cluster.ask(&cluster.url, &cut)
    };
    turn("on")?;
    client.start_until_refused()?;
    let refused = client.refusal()?;
    if refused.0 != 503 || !refused.1.to_string().contains("read-only") {
        return Err(format!("a start on a read-only database was answered with {}: {}", refused.0, refused.1));
    }
    client.must_read()?;
    turn("off")?;
    let back = client.back_within(BACK_MAX)?;
    Ok(format!("work {} ms after it could be written to again", back.as_millis()))
}

fn says(text: &str, parts: &[&str]) -> Result<(), String> {
    match parts.iter().find(|part| !text.contains(**part)) {
        None => Ok(()),
        Some(part) => Err(format!("the server should have said '{part}', but said: {text}")),
    }
}

/// A client that counts.
struct Caller {
    server: SocketAddr,
    connection: Connection,
    acknowledged: usize,
}

impl Caller {
    fn to(server: SocketAddr) -> Caller {
        Caller { server, connection: Connection::default(), acknowledged: 0 }
    }

    /// Status and body.
    fn start(&mut self) -> Result<(u16, Value), String> {
        let body = json!({ "processDefinitionId": process::LINE, "variables": { "count": 0, "room": "x".repeat(2_000) } });
        let body = body.to_string();
        match self.connection.send(self.server, &Request::post("/v2/process-instances", &body)) {
            Reply::Answer { status, body } => {
                self.acknowledged += usize::from(status == 200);
                Ok((status, serde_json::from_slice(&body).unwrap_or(Value::Null)))
            }
            other => Err(format!("a start was not answered: {other:?}")),
        }
    }

    fn must_start(&mut self) -> Result<(), String> {
        match self.start()? {
            (200, _) => Ok(()),
            (status, body) => Err(format!("a start was answered with {status}: {body}")),
        }
    }

    /// The one that notices waits for the store to come back, as long as a caller may; those after it are told at once.
    fn start_until_refused(&mut self) -> Result<(), String> {
        for _ in 0..STARTS_MAX {
            match self.start()? {
                (200, _) => {}
                (503 | 504, _) => return Ok(()),
                (status, body) => return Err(format!("a start was answered with {status}: {body}")),
            }
        }
        Err("the store took every write".to_owned())
    }

    fn refusal(&mut self) -> Result<(u16, Value), String> {
        let began = Instant::now();
        let refused = self.start()?;
        match began.elapsed() {
            took if Duration::from_secs(2) < took => Err(format!("a refusal took {} ms", took.as_millis())),
            _ => Ok(refused),
        }
    }

    /// Every acknowledged instance can be read; one that was in doubt may be there too.
    fn must_read(&mut self) -> Result<(), String> {
        // The server may have been started again since the last call.
        self.connection = Connection::default();
        let answer = self.connection.must(self.server, &Request::post("/v2/process-instances/search", "{}"))?;
        let total = answer["page"]["totalItems"].as_u64().unwrap_or(0) as usize;
        let there = self.acknowledged..=self.acknowledged + 1;
        if there.contains(&total) { Ok(()) } else { Err(format!("{total} instances of {} are there", self.acknowledged)) }
    }

    fn back_within(&mut self, limit: Duration) -> Result<Duration, String> {
        let began = Instant::now();
        while began.elapsed() < limit {
            if self.start()?.0 == 200 {
                return Ok(began.elapsed());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Err(format!("no start succeeded within {} s", limit.as_secs()))
    }
}
