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
const RUNS: [(Fault, Layout, usize, Store); 11] = [
    (Fault::Kill, Layout::One, 20, Store::Sqlite),
    (Fault::Kill, Layout::One, 20, Store::Postgres),
    (Fault::Kill, Layout::Split, 6, Store::Postgres),
    (Fault::DatabaseKill, Layout::One, 3, Store::Postgres),
    (Fault::DatabaseStop, Layout::One, 3, Store::Postgres),
    (Fault::Cut, Layout::One, 4, Store::Postgres),
    (Fault::Stall, Layout::One, 3, Store::Postgres),
    (Fault::Pause, Layout::Pair, 4, Store::Postgres),
    (Fault::Burden, Layout::One, 3, Store::Sqlite),
    (Fault::Burden, Layout::Split, 3, Store::Postgres),
    (Fault::BrokerKill, Layout::One, 3, Store::Sqlite),
];

/// Servers, how often, on which store: killed while timers fall due.
const AT_DUE_TIME: [(Layout, usize, Store); 2] = [(Layout::One, 4, Store::Sqlite), (Layout::Pair, 3, Store::Postgres)];
const TIMERS: usize = 2_000;
/// The same: killed while executions are worked off under a limit.
const AT_WORK: [(Layout, usize, Store); 2] = [(Layout::One, 3, Store::Sqlite), (Layout::Pair, 3, Store::Postgres)];
const EXECUTIONS: usize = 10_000;

/// Stores that take no writes.
const REFUSALS: &str = "chaos-refusals";

/// Each run by its name, so that one can be chosen.
pub(crate) fn names() -> Vec<String> {
    let blows = RUNS.iter().map(|(fault, layout, _, store)| name(fault.name(), *layout, *store));
    let at_due_time = AT_DUE_TIME.iter().map(|(layout, _, store)| name("timers", *layout, *store));
    let at_work = AT_WORK.iter().map(|(layout, _, store)| name("queues", *layout, *store));
    blows.chain(at_due_time).chain(at_work).chain([REFUSALS.to_owned()]).collect()
}

fn name(what: &str, layout: Layout, store: Store) -> String {
    format!("{NAME}-{what}-{}-{}", layout.name(), store.name())
}

/// Those that are chosen by their names.
pub(crate) fn test(places: &Places, chosen: &dyn Fn(&str) -> bool, note: &mut dyn FnMut(Report)) {
    let on_postgres = |name: &String| name == REFUSALS || name.ends_with(Store::Postgres.name());
    let mut cluster = match names().iter().any(|name| on_postgres(name) && chosen(name)) {
        true => Cluster::start_private(places, "chaos-postgres"),
        false => Err("no run that was chosen needs it".to_owned()),
    };
    for (fault, layout, times, store) in RUNS {
        let name = name(fault.name(), layout, store);
        if !chosen(&name) {
            continue;
        }
        let plan = Plan { name: name.clone(), fault, layout, times, seed: SEED, working_max: PATIENT };
        let what = format!("{} ({})", fault.name(), layout.name());
        note(one(places, &mut cluster, (&name, &what, store), &mut |cluster, say| run::run(places, cluster, &plan, say)));
    }
    for (layout, kills, store) in AT_DUE_TIME {
        let name = name("timers", layout, store);
        if !chosen(&name) {
            continue;
        }
        let plan = timers::Plan { name: name.clone(), layout, timers: TIMERS, kills, seed: SEED };
        let what = format!("timers ({})", layout.name());
        note(one(places, &mut cluster, (&name, &what, store), &mut |cluster, say| timers::run(places, cluster, &plan, say)));
    }
    for (layout, kills, store) in AT_WORK {
        let name = name("queues", layout, store);
        if !chosen(&name) {
            continue;
        }
        let plan = queues::Plan { name: name.clone(), layout, executions: EXECUTIONS, kills, seed: SEED };
        let what = format!("queues ({})", layout.name());
        note(one(places, &mut cluster, (&name, &what, store), &mut |cluster, say| queues::run(places, cluster, &plan, say)));
    }
    match &cluster {
        _ if !chosen(REFUSALS) => {}
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
