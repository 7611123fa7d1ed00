//! The part `chaos` of `cargo xtask test`: enough blows of every kind to notice a hole, in a few minutes.

use std::fs::File;
use std::io::Write as _;
use std::time::Instant;

use super::fault::Fault;
use super::queues;
use super::refusals;
use super::run::{self, PATIENT, Plan};
use super::timers;
use super::world::Layout;
use crate::places::Places;
use crate::postgres::Cluster;
use crate::server::Store;
use crate::summary::{self, Outcome, Report};

pub(crate) const NAME: &str = "chaos";
/// A run in a test is the same every time as far as chance is ours; `cargo xtask chaos` takes others.
const SEED: u64 = 1;

/// Fault, servers, how often, on which store.
const RUNS: [(Fault, Layout, usize, Store); 9] = [
    (Fault::Kill, Layout::One, 20, Store::Sqlite),
    (Fault::Kill, Layout::One, 20, Store::Postgres),
    (Fault::Kill, Layout::Split, 6, Store::Postgres),
    (Fault::DatabaseKill, Layout::One, 3, Store::Postgres),
    (Fault::DatabaseStop, Layout::One, 3, Store::Postgres),
    (Fault::Cut, Layout::One, 4, Store::Postgres),
    (Fault::Stall, Layout::One, 3, Store::Postgres),
    (Fault::Pause, Layout::Pair, 4, Store::Postgres),
    (Fault::BrokerKill, Layout::One, 3, Store::Sqlite),
];

/// Servers, how often, on which store: killed while timers fall due.
const AT_DUE_TIME: [(Layout, usize, Store); 2] = [(Layout::One, 4, Store::Sqlite), (Layout::Pair, 3, Store::Postgres)];
const TIMERS: usize = 2_000;
/// The same: killed while executions are worked off under a limit.
const AT_WORK: [(Layout, usize, Store); 2] = [(Layout::One, 3, Store::Sqlite), (Layout::Pair, 3, Store::Postgres)];
const EXECUTIONS: usize = 10_000;

pub(crate) fn test(places: &Places, note: &mut dyn FnMut(Report)) {
    let mut cluster = Cluster::start_private(places, "chaos-postgres");
    for (fault, layout, times, store) in RUNS {
        let name = format!("{NAME}-{}-{}-{}", fault.name(), layout.name(), store.name());
        let plan = Plan { name: name.clone(), fault, layout, times, seed: SEED, working_max: PATIENT };
        let what = format!("{} ({})", fault.name(), layout.name());
        note(one(places, &mut cluster, (&name, &what, store), &mut |cluster, say| run::run(places, cluster, &plan, say)));
    }
    for (layout, kills, store) in AT_DUE_TIME {
        let name = format!("{NAME}-timers-{}-{}", layout.name(), store.name());
        let plan = timers::Plan { name: name.clone(), layout, timers: TIMERS, kills, seed: SEED };
        let what = format!("timers ({})", layout.name());
        note(one(places, &mut cluster, (&name, &what, store), &mut |cluster, say| timers::run(places, cluster, &plan, say)));
    }
    for (layout, kills, store) in AT_WORK {
        let name = format!("{NAME}-queues-{}-{}", layout.name(), store.name());
        let plan = queues::Plan { name: name.clone(), layout, executions: EXECUTIONS, kills, seed: SEED };
        let what = format!("queues ({})", layout.name());
        note(one(places, &mut cluster, (&name, &what, store), &mut |cluster, say| queues::run(places, cluster, &plan, say)));
    }
    match &cluster {
        Ok(cluster) => refuse(places, cluster, note),
        Err(why) => note(report("refusals", Store::Postgres, Instant::now(), Err(why.clone()))),
    }
}

/// One run, on the store it needs.
type Run<'a> = dyn FnMut(Option<&mut Cluster>, &mut dyn FnMut(String)) -> Result<run::Outcome, String> + 'a;

fn one(
    places: &Places,
    cluster: &mut Result<Cluster, String>,
    (name, what, store): (&str, &str, Store),
    run: &mut Run<'_>,
) -> Report {
    summary::begin(name, store.name());
    let (began, log) = (Instant::now(), places.log(name));
    let cluster = match (store, cluster) {
        (Store::Sqlite, _) => Ok(None),
        (Store::Postgres, Ok(cluster)) => Ok(Some(cluster)),
        (Store::Postgres, Err(why)) => Err(why.clone()),
    };
    let outcome = cluster.and_then(|cluster| {
        let mut file = File::create(&log).map_err(|error| format!("cannot write {}: {error}", log.display()))?;
        run(cluster, &mut |line| drop(writeln!(file, "{line}")))
    });
    let seen = outcome.and_then(|ran| match ran.wrong.as_slice() {
        [] => Ok(ran.summary),
        wrong => Err(format!("{}\n{}", ran.summary, wrong.join("\n"))),
    });
    Report { logs: vec![log], ..report(what, store, began, seen) }
}

/// Stores that take no writes.
pub(super) fn refuse(places: &Places, cluster: &Cluster, note: &mut dyn FnMut(Report)) {
    let mut check = |what: &str, store: Store, check: &dyn Fn() -> Result<String, String>| {
        let began = Instant::now();
        note(report(what, store, began, check()));
    };
    check("full disk", Store::Sqlite, &|| refusals::full_disk(places));
    check("read-only folder", Store::Sqlite, &|| refusals::read_only_folder(places));
    check("second server", Store::Sqlite, &|| refusals::second_server(places));
    check("read-only database", Store::Postgres, &|| refusals::read_only_database(places, cluster));
}

fn report(what: &str, store: Store, began: Instant, seen: Result<String, String>) -> Report {
    let outcome = match seen {
        Ok(note) => Outcome::Ran { passed: 1, failed: 0, note },
        Err(why) => Outcome::Broken(why),
    };
    Report { part: format!("{NAME} {what}"), on: store.name(), took: began.elapsed(), outcome, logs: Vec::new() }
}
