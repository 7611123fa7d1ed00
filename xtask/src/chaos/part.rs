//! The part `chaos` of `cargo xtask test`: enough blows of every kind to notice a hole, in a few minutes.

use std::fs::File;
use std::io::Write as _;
use std::time::Instant;

use super::fault::Fault;
use super::refusals;
use super::run::{self, Plan};
use super::world::Layout;
use crate::places::Places;
use crate::postgres::Cluster;
use crate::server::Store;
use crate::summary::{Outcome, Report};

pub(crate) const NAME: &str = "chaos";
/// A run in a test is the same every time as far as chance is ours; `cargo xtask chaos` takes others.
const SEED: u64 = 1;

/// Fault, servers, how often, on which store.
const RUNS: [(Fault, Layout, usize, Store); 8] = [
    (Fault::Kill, Layout::One, 20, Store::Sqlite),
    (Fault::Kill, Layout::One, 20, Store::Postgres),
    (Fault::Kill, Layout::Split, 6, Store::Postgres),
    (Fault::DatabaseKill, Layout::One, 3, Store::Postgres),
    (Fault::DatabaseStop, Layout::One, 3, Store::Postgres),
    (Fault::Cut, Layout::One, 4, Store::Postgres),
    (Fault::Stall, Layout::One, 3, Store::Postgres),
    (Fault::Pause, Layout::Pair, 3, Store::Postgres),
];

pub(crate) fn test(places: &Places, note: &mut dyn FnMut(Report)) {
    let mut cluster = Cluster::start_private(places, "chaos-postgres");
    for (fault, layout, times, store) in RUNS {
        let name = format!("{NAME}-{}-{}-{}", fault.name(), layout.name(), store.name());
        let plan = Plan { name, fault, layout, times, seed: SEED };
        let began = Instant::now();
        let log = places.log(&plan.name);
        let cluster = match (store, &mut cluster) {
            (Store::Sqlite, _) => Ok(None),
            (Store::Postgres, Ok(cluster)) => Ok(Some(cluster)),
            (Store::Postgres, Err(why)) => Err(why.clone()),
        };
        let outcome = cluster.and_then(|cluster| {
            let mut file = File::create(&log).map_err(|error| format!("cannot write {}: {error}", log.display()))?;
            run::run(places, cluster, &plan, &mut |line| drop(writeln!(file, "{line}")))
        });
        let outcome = match outcome {
            Ok(ran) if ran.wrong.is_empty() => Outcome::Ran { passed: 1, failed: 0, note: ran.summary },
            Ok(ran) => Outcome::Broken(format!("{}\n{}", ran.summary, ran.wrong.join("\n"))),
            Err(why) => Outcome::Broken(why),
        };
        let part = format!("{NAME} {} ({})", fault.name(), layout.name());
        note(Report { part, on: store.name(), took: began.elapsed(), outcome, logs: vec![log] });
    }
    let mut refusal = |what: &str, store: Store, check: &dyn Fn() -> Result<String, String>| {
        let began = Instant::now();
        let outcome = match check() {
            Ok(note) => Outcome::Ran { passed: 1, failed: 0, note },
            Err(why) => Outcome::Broken(why),
        };
        note(Report { part: format!("{NAME} {what}"), on: store.name(), took: began.elapsed(), outcome, logs: Vec::new() });
    };
    refusal("full disk", Store::Sqlite, &|| refusals::full_disk(places));
    refusal("read-only folder", Store::Sqlite, &|| refusals::read_only_folder(places));
    refusal("second server", Store::Sqlite, &|| refusals::second_server(places));
    refusal("read-only database", Store::Postgres, &|| {
        refusals::read_only_database(places, cluster.as_ref().map_err(Clone::clone)?)
    });
}
