//! One run: load on a system, blow after blow, then quiet, then the check.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::broker::{Broker, Listener};
use super::check::{self, Found};
use super::fault::Fault;
use super::history::History;
use super::load::Load;
use super::random::Random;
use super::state;
use super::world::{Layout, World};
use crate::places::Places;
use crate::postgres::Cluster;

/// What we promise: work goes on within this time of the end of a fault.
pub(super) const PROMISED: Duration = Duration::from_secs(10);
/// For tests, which may have to share their machine with others.
pub(super) const PATIENT: Duration = Duration::from_secs(60);
/// Violations shown; the first ones tell the story.
const SHOWN_MAX: usize = 20;

#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) name: String,
    pub(crate) fault: Fault,
    pub(crate) layout: Layout,
    pub(crate) times: usize,
    pub(crate) seed: u64,
    /// How long it may take after a fault until work goes on.
    pub(crate) working_max: Duration,
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// What was seen, in one line.
    pub(crate) summary: String,
    /// What is wrong; empty if all is well.
    pub(crate) wrong: Vec<String>,
}

/// Without a cluster on SQLite, otherwise there. `say` hears of every step.
pub(crate) fn run(
    places: &Places,
    cluster: Option<&mut Cluster>,
    plan: &Plan,
    say: &mut dyn FnMut(String),
) -> Result<Outcome, String> {
    if plan.fault.needs_postgres() && cluster.is_none() {
        return Err(format!("the fault {} needs --store postgres", plan.fault.name()));
    }
    let mut random = Random::new(plan.seed);
    let broker = plan.fault.needs_broker().then(|| Broker::start(places, &plan.name)).transpose()?;
    let mut world = World::build(places, cluster, plan.layout, &plan.name, broker)?;
    let listening = match plan.fault.needs_broker() {
        true => Some(Listener::start(places, world.broker()?, &plan.name)?),
        false => None,
    };
    let (_listener, heard) = listening.unzip();
    let history = Arc::new(History::create(&places.own.join("logs").join(format!("{}-history.jsonl", plan.name)))?);
    let mut load = Load::begin(&world.doors, &history, &mut random, heard);
    let mut wrong = Vec::new();
    let mut slowest = Duration::ZERO;
    for number in 1..=plan.times {
        std::thread::sleep(random.millis(200, 1_400));
        let done = plan.fault.strike(&mut world, number, &mut random)?;
        let working = working_again(&history, plan.working_max);
        let counts = history.counts();
        match working {
            Some(after) => {
                slowest = slowest.max(after);
                say(format!(
                    "{:>4}/{} {done}; working after {} ms; {} started, {} jobs completed, {} answers in doubt",
                    number,
                    plan.times,
                    after.as_millis(),
                    counts.starts,
                    counts.completions,
                    counts.unknown
                ));
            }
            None => wrong.push(format!("blow {number} ({done}): no work within {} s of its end", plan.working_max.as_secs())),
        }
        for (place, server) in (1..).zip(&mut world.servers) {
            if let Some(end) = server.ended() {
                return Err(format!("server {place} ended by itself ({end}); see {}", server.log.display()));
            }
        }
    }
    load.stop_starting();
    if !state::finished(world.doors[0]) {
        wrong.push("not every instance came to its end".to_owned());
    }
    drop(load);
    let instances = state::instances(world.doors[0])?;
    let found = Found { instances, log: world.close()? };
    wrong.extend(check::check(&history.records(), &found));
    Ok(conclude(plan, &history, &found, slowest, wrong))
}

/// How long it took until a start and a completion sent from now on were acknowledged.
fn working_again(history: &History, limit: Duration) -> Option<Duration> {
    let (began, at) = (Instant::now(), history.now());
    while began.elapsed() < limit {
        if history.works_since(at) {
            return Some(began.elapsed());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    None
}

fn conclude(plan: &Plan, history: &History, found: &Found, slowest: Duration, mut wrong: Vec<String>) -> Outcome {
    let counts = history.counts();
    let summary = format!(
        "{} × {}: {} instances, {} jobs completed, {} answers in doubt, {} positions, work within {} ms",
        plan.times,
        plan.fault.name(),
        found.instances.len(),
        counts.completions,
        counts.unknown,
        found.log.rows,
        slowest.as_millis()
    );
    if wrong.is_empty() {
        std::fs::remove_file(&history.path).ok();
    } else {
        let more = wrong.len().saturating_sub(SHOWN_MAX);
        wrong.truncate(SHOWN_MAX);
        if 0 < more {
            wrong.push(format!("and {more} more"));
        }
        wrong.push(format!("what every client was told: {}", history.path.display()));
    }
    Outcome { summary, wrong }
}
