//! One run from its beginning to its end: everybody does their part under faults, then the faults stop and everything must come to rest.

use std::sync::Arc;
use std::time::Duration;

use host::{Metrics, Poll};
use tokio::task::JoinSet;

use crate::call::{Heard, TENANT};
use crate::check::Violation;
use crate::client::{Client, incidents, repair};
use crate::fault::Fault;
use crate::plan::Plan;
use crate::queues::{Hand, Sender};
use crate::rng::Rng;
use crate::server;
use crate::worker::{self, Worker};
use crate::world::{Report, World};

/// Rounds after the faults stop, each of a second or so, in which everything must come to rest.
const REST_ROUNDS_MAX: usize = 150;

/// Long enough for servers to start again and for a lease to run out.
const QUIET: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recording {
    /// Only what is needed to compare runs.
    Off,
    /// A line for everything that happens.
    On,
}

/// Plays a plan. The same plan gives the same report, to the last byte.
pub fn play(plan: &Plan, recording: Recording, metrics: &Arc<Metrics>) -> Report {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.expect("a runtime without I/O needs nothing of the system");
    let quarantined = metrics.quarantined.get();
    runtime.block_on(async {
        let world = Arc::new(World::new(plan.clone(), recording == Recording::On, metrics.clone()));
        tokio::select! {
            biased;
            () = world.broken() => {}
            () = story(&world) => {}
        }
        if quarantined < metrics.quarantined.get() {
            world.fail(Violation { invariant: 11, what: "a command hit a fault of the engine".to_owned() });
        }
        let report = world.report();
        // Servers know the world that knows them: without this none would ever go.
        let servers = std::mem::take(&mut world.state().servers);
        drop(servers);
        report
    })
}

async fn story(world: &Arc<World>) {
    let plan = &world.plan;
    let slots = plan.engines + plan.followers;
    world.state().servers.resize_with(slots, || None);
    for slot in 0..slots {
        tokio::spawn(server::keep_up(world.clone(), slot));
    }
    tokio::spawn(server::weather(world.clone()));
    let mut clients: JoinSet<()> = (0..plan.clients).map(|n| Client::new(world.clone(), n).run()).collect();
    let mut workers: JoinSet<()> = (0..plan.workers).map(|n| Worker::new(world.clone(), n).run()).collect();
    if 0 < plan.queues {
        for n in 0..plan.clients {
            clients.spawn(Sender::new(world.clone(), n).run());
        }
        for n in 0..plan.workers {
            workers.spawn(Hand::new(world.clone(), n).run());
        }
    }
    joined(world, &mut clients).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    world.stop_faults();
    joined(world, &mut workers).await;
    let mut operator = Client::new(world.clone(), 98);
    operator.all_go_on().await;
    quiet(world).await;
    rest(world).await;
}

/// Everybody came home; somebody who panicked is a fault of ours.
async fn joined(world: &World, actors: &mut JoinSet<()>) {
    while let Some(ended) = actors.join_next().await {
        if let Err(error) = ended {
            world.fail(Violation { invariant: 11, what: format!("an actor panicked: {error}") });
        }
    }
}

/// What is in the inbox is processed although nobody does anything that could wake anybody.
async fn quiet(world: &World) {
    tokio::time::sleep(QUIET).await;
    let (processed_to, tail) = {
        let log = &world.state().checker.log;
        (log.processed_to, log.tail)
    };
    if processed_to != tail {
        let what = format!("without faults, requests {}..={tail} lie in the inbox and nobody looks", processed_to + 1);
        world.fail(Violation { invariant: 0, what });
    }
    let long_ago = world.now() - QUIET.as_millis() as i64 / 2;
    let overdue = world.state().checker.waits.pending().next().filter(|timer| timer.due <= long_ago).cloned();
    if let Some(timer) = overdue {
        world.fail(Violation { invariant: 0, what: format!("without faults, timer {} is overdue: {timer:?}", timer.key) });
    }
    let left = {
        let checker = &world.state().checker;
        checker.messages.left(long_ago).filter(|_| checker.state.active().count() == 0)
    };
    if let Some(left) = left {
        world.fail(Violation { invariant: 15, what: format!("nothing runs, and there are {left}") });
    }
    world.check(|checker| checker.state.families());
}

/// Good workers and a patient person bring everything to its end.
async fn rest(world: &Arc<World>) {
    let mut rng = Rng::new(world.plan.seed, 5);
    let mut person = Client::new(world.clone(), 99);
    if 0 < world.plan.waits {
        // Whatever was deleted meanwhile may be called by somebody.
        person.deploy(0, 0).await;
    }
    // What they ended may have been waited for.
    let changed = world.state().checker.state.modified();
    for instance in changed {
        person.cancel_one(instance).await;
    }
    let mut hand = Hand::new(world.clone(), 99);
    if 0 < world.plan.queues {
        Sender::new(world.clone(), 99).open_all().await;
    }
    for _ in 0..REST_ROUNDS_MAX {
        if world.is_broken() || still(world).is_none() {
            return;
        }
        for job_type in 0..world.plan.job_types {
            work_off(world, &mut rng, job_type).await;
        }
        for stuck in incidents(world, &mut rng).await {
            repair(world, &mut rng, stuck).await;
        }
        person.nudge().await;
        person.people_work().await;
        if 0 < world.plan.queues {
            hand.work_off().await;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let still = still(world).unwrap_or_default();
    world.fail(Violation { invariant: 0, what: format!("without faults, this never ended: {still}") });
}

/// What is not at its end.
fn still(world: &World) -> Option<String> {
    let now = world.now();
    let checker = &world.state().checker;
    let active: Vec<_> = checker.state.active().collect();
    let timers: Vec<_> = checker.waits.pending().map(|timer| timer.key).collect();
    let (answered, tail) = (checker.log.processed_to, checker.log.tail);
    let left = [checker.messages.left(now), checker.signals.under_way(), checker.queues.open()];
    let ended = active.is_empty() && timers.is_empty() && answered == tail && left.iter().all(Option::is_none);
    (!ended).then(|| format!("instances {active:?}, timers {timers:?}, {left:?}; answered {answered} of {tail} requests"))
}

async fn work_off(world: &Arc<World>, rng: &mut Rng, job_type: usize) {
    let server = world.server(rng).await;
    let poll = Poll {
        job_type: format!("t{job_type}").into(),
        worker: "rest".into(),
        timeout: 60_000,
        max: 20,
        tenants: vec![TENANT.into()],
        fetch: vec![],
        wait: None,
    };
    if let Heard::Done(jobs) = world.hear(&server, Fault::PollDropped, server.host.activate(poll)).await {
        for job in jobs.take() {
            let now = world.now();
            world.check(|checker| checker.jobs.took(&job.worker, &job, now));
            worker::complete(world, rng, false, &job).await;
        }
    }
}
