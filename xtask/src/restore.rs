//! The part `restore` of `cargo xtask test`: PostgreSQL is taken back to a moment, as the book tells operators to, and the server goes on
//! from there: with what was answered before it, and without what came after.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::logged;
use crate::places::Places;
use crate::postgres::Cluster;
use crate::server::{Data, Server, Store};
use crate::summary::{self, Outcome, Report};

pub(crate) const NAME: &str = "restore";
const STEP_MAX: Duration = Duration::from_secs(60);
const POINT: &str = "noon";
/// Instances started before the copy, between it and the moment, and after the moment.
const STARTED: usize = 5;

pub(crate) fn test(places: &Places) -> Report {
    summary::begin(NAME, Store::Postgres.name());
    let began = Instant::now();
    let outcome = match rewound(places) {
        Ok(()) => Outcome::Ran { passed: 1, failed: 0, note: String::new() },
        Err(why) => Outcome::Broken(why),
    };
    let logs = ["restore-postgres", "restore-caudal"].map(|name| places.log(name)).into_iter().filter(|log| log.exists());
    Report { part: NAME.to_owned(), on: Store::Postgres.name(), took: began.elapsed(), outcome, logs: logs.collect() }
}

fn rewound(places: &Places) -> Result<(), String> {
    let mut cluster = Cluster::start_private(places, "restore-postgres")?;
    cluster.keep_archive()?;
    let data = Data::fresh(places, &cluster, Store::Postgres, NAME)?;
    let server = Server::on(&places.caudal(), &data)?;
    let caudal = |server: &Server, words: &[&str]| {
        let mut command = Command::new(places.caudal());
        command.args(words).args(["--url", &server.rest]);
        logged::must(&mut command, &places.log("restore-caudal"), STEP_MAX)
    };
    let start = |server: &Server| (0..STARTED).map(|_| caudal(server, &["start", "order"])).collect::<Result<Vec<_>, _>>();
    caudal(&server, &["deploy", &places.root.join("examples/order.bpmn").display().to_string()])?;
    let mut kept = start(&server)?;
    cluster.base_backup()?;
    kept.extend(start(&server)?);
    caudal(&server, &["work", "charge-card", "--complete-with", "{\"amount\": 1}", "--count", "1"])?;
    cluster.query(&format!("SELECT pg_create_restore_point('{POINT}')"))?;
    let lost = start(&server)?;
    drop(server);
    cluster.rewind(POINT)?;

    let server = Server::on(&places.caudal(), &data)?;
    let is_there = |key: &String| caudal(&server, &["instance", key.trim()]).is_ok();
    if let Some(missing) = kept.iter().find(|key| !is_there(key)) {
        return Err(format!("instance {} was answered before the moment and is not there", missing.trim()));
    }
    if let Some(extra) = lost.iter().find(|key| is_there(key)) {
        return Err(format!("instance {} came after the moment and is there", extra.trim()));
    }
    let left = (2 * STARTED - 1).to_string();
    caudal(&server, &["work", "charge-card", "--complete-with", "{\"amount\": 1}", "--count", &left])?;
    let completed = caudal(&server, &["instances", "--state", "completed", "--json"])?.matches("\"COMPLETED\"").count();
    if completed != 2 * STARTED {
        return Err(format!("{completed} of {} instances completed", 2 * STARTED));
    }
    Ok(())
}
