//! What everybody shares: the database, its clock, chance, the model, and the servers that are up.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use engine::PartitionId;
use host::Metrics;
use store::log::NewRequest;
use store::memory::Memory;
use store::{Backlog, Commit, CommitError, Millis, Store};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::check::{self, AttemptId, Check, Checker, Seen, Told, Violation, What};
use crate::fault::Fault;
use crate::plan::Plan;
use crate::rng::Rng;
use crate::server::Server;

pub(crate) const PARTITION: PartitionId = PartitionId(1);

/// Where the database's clock starts.
const EPOCH: Millis = 1_800_000_000_000;

/// As many calls of the store as there may be in one moment.
const CALLS_AT_ONCE_MAX: u64 = 2_000;

pub(crate) struct World {
    pub(crate) plan: Plan,
    pub(crate) memory: Memory,
    pub(crate) metrics: Arc<Metrics>,
    state: Arc<Mutex<State>>,
    broken: Notify,
}

pub(crate) struct State {
    pub(crate) checker: Checker,
    /// By slot; `None` while it is down.
    pub(crate) servers: Vec<Option<Server>>,
    rng: Rng,
    faults_on: bool,
    begun: Instant,
    jumped: Millis,
    /// How often each fault struck.
    struck: [u64; Fault::ALL.len()],
    violation: Option<Violation>,
    /// What happened, if it is to be told.
    history: Option<Vec<String>>,
    /// Of all that became durable and was told.
    hash: u64,
    commits: u64,
    /// When the store was last called, and how often since without time going on.
    called: (Millis, u64),
}

impl State {
    fn now(&self) -> Millis {
        EPOCH + self.jumped + self.begun.elapsed().as_millis() as Millis
    }

    fn mix(&mut self, number: u64) {
        self.hash = (self.hash ^ number).wrapping_mul(0x100_0000_01B3).rotate_left(23);
    }
}

/// What a run came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub violation: Option<Violation>,
    pub struck: [u64; Fault::ALL.len()],
    pub commits: u64,
    pub seen: Seen,
    pub hash: u64,
    pub history: Vec<String>,
}

impl World {
    pub(crate) fn new(plan: Plan, recording: bool, metrics: Arc<Metrics>) -> Self {
        let state = Arc::new(Mutex::new(State {
            checker: Checker::default(),
            servers: Vec::new(),
            rng: Rng::new(plan.seed, 3),
            faults_on: true,
            begun: Instant::now(),
            jumped: 0,
            struck: [0; Fault::ALL.len()],
            violation: None,
            history: recording.then(Vec::new),
            hash: 0,
            commits: 0,
            called: (0, 0),
        }));
        let clock = state.clone();
        let memory = Memory::new(Arc::new(move || locked(&clock).now()));
        Self { plan, memory, metrics, state, broken: Notify::new() }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    pub(crate) fn report(&self) -> Report {
        let mut state = self.state();
        let history = state.history.take().unwrap_or_default();
        Report {
            violation: state.violation.clone(),
            struck: state.struck,
            commits: state.commits,
            seen: state.checker.seen.clone(),
            hash: state.hash,
            history,
        }
    }

    // ---- chance ----

    /// Whether a fault strikes here and now.
    pub(crate) fn strikes(&self, fault: Fault) -> bool {
        if !self.plan.faults.has(fault) {
            return false;
        }
        let mut state = self.state();
        let strikes = state.faults_on && state.rng.chance(fault.weight() * self.plan.pressure / 100);
        if strikes {
            state.struck[fault as usize] += 1;
        }
        drop(state);
        if strikes {
            self.note(|| format!("fault: {}", fault.name()));
        }
        strikes
    }

    /// A fault that does not depend on chance.
    pub(crate) fn struck(&self, fault: Fault) {
        self.state().struck[fault as usize] += 1;
        self.note(|| format!("fault: {}", fault.name()));
    }

    pub(crate) fn between(&self, first: u64, last: u64) -> u64 {
        self.state().rng.between(first, last)
    }

    /// A while: mostly short, at times longer than a lease.
    pub(crate) fn a_while(&self) -> Duration {
        let longest = if self.between(0, 3) == 0 { 12_000 } else { 500 };
        Duration::from_millis(self.between(1, longest))
    }

    pub(crate) fn stop_faults(&self) {
        self.state().faults_on = false;
        self.note(|| "the faults stop".to_owned());
    }

    pub(crate) fn faults_on(&self) -> bool {
        self.state().faults_on
    }

    /// Ahead, or back.
    pub(crate) fn jump(&self, by: Millis) {
        let mut state = self.state();
        state.checker.log.moved(by);
        if by < 0 {
            state.checker.queues.set_back();
        }
        state.jumped += by;
        drop(state);
        self.note(|| format!("the database's clock jumps by {by} ms"));
    }

    pub(crate) fn now(&self) -> Millis {
        self.state().now()
    }

    // ---- the model ----

    /// Compares something with the model; a fault of ours in it is a finding too.
    pub(crate) fn check(&self, check: impl FnOnce(&mut Checker) -> Check) {
        let mut state = self.state();
        let checked = catch_unwind(AssertUnwindSafe(|| check(&mut state.checker)));
        let checked = checked.unwrap_or_else(|panic| {
            let why = panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(|&why| why.to_owned()));
            Err(Violation { invariant: 3, what: format!("history cannot be applied: {}", why.unwrap_or_default()) })
        });
        drop(state);
        if let Err(violation) = checked {
            self.fail(violation);
        }
    }

    pub(crate) fn fail(&self, violation: Violation) {
        self.note(|| format!("invariant {} is broken: {}", violation.invariant, violation.what));
        self.state().violation.get_or_insert(violation);
        self.broken.notify_one();
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.state().violation.is_some()
    }

    /// Until an invariant is broken.
    pub(crate) async fn broken(&self) {
        self.broken.notified().await;
    }

    pub(crate) fn attempt(&self, what: What) -> AttemptId {
        self.state().checker.attempts.new_attempt(what)
    }

    pub(crate) fn told(&self, id: AttemptId, told: Told) {
        self.note(|| format!("{id} is told {told:?}"));
        self.state().mix(id.0 as u64);
        self.check(|checker| checker.told(id, told));
    }

    pub(crate) fn note(&self, line: impl FnOnce() -> String) {
        let mut state = self.state();
        if state.history.is_some() {
            let at = state.now() - EPOCH;
            let line = format!("{:>4}.{:03} {}", at / 1000, at % 1000, line());
            state.history.iter_mut().for_each(|history| history.push(line.clone()));
        }
    }

    /// Whether somebody calls the store over and over while time stands still: such a server would burn a processor for nothing.
    pub(crate) fn spins(&self) -> bool {
        let mut state = self.state();
        let now = state.now();
        if state.called.0 != now {
            state.called = (now, 0);
        }
        state.called.1 += 1;
        let spins = CALLS_AT_ONCE_MAX < state.called.1;
        drop(state);
        if spins {
            self.fail(Violation {
                invariant: 0,
                what: "a server calls the store over and over while nothing changes".to_owned(),
            });
        }
        spins
    }

    /// Something came about that a test wants to have come about.
    pub(crate) fn saw(&self, what: &'static str) {
        *self.state().checker.seen.entry(what).or_default() += 1;
    }

    pub(crate) fn commits(&self) -> u64 {
        self.state().commits
    }

    // ---- the database ----

    /// A commit arrives at the database. Nothing waits in here.
    pub(crate) async fn land(&self, commit: Commit) -> Result<Millis, CommitError> {
        if self.forgets_commit() {
            return Ok(self.now());
        }
        let copy = commit.clone();
        let landed = self.memory.commit(self.taken(commit)).await;
        if let Err(error) = &landed {
            self.note(|| format!("commit of epoch {} is refused: {error}", copy.fence.epoch));
            return landed;
        }
        self.note(|| described(&copy));
        self.remember(&copy);
        let loaded = self.memory.load(PARTITION, &check::wanted(&copy), copy.now).await?;
        let now = self.now();
        self.check(|checker| checker.landed(&copy, now, &loaded));
        if copy.wake {
            self.wake_servers();
        }
        landed.map(|now| self.told_time(now))
    }

    pub(crate) async fn append(&self, requests: Vec<NewRequest>, backlog: Backlog) -> Result<Vec<u64>, store::Error> {
        let kinds: Vec<_> = requests.iter().map(|request| request.kind).collect();
        let positions = self.told_positions(self.memory.append(PARTITION, requests, backlog).await?);
        self.note(|| format!("appended {kinds:?} at {positions:?}"));
        self.check(|checker| checker.log.appended(&positions));
        self.wake_servers();
        Ok(positions)
    }

    fn wake_servers(&self) {
        let links: Vec<_> = self.state().servers.iter().flatten().map(|server| server.link.clone()).collect();
        for link in links {
            if !self.strikes(Fault::WakeLost) {
                link.wake();
            }
        }
    }

    fn remember(&self, commit: &Commit) {
        let mut state = self.state();
        state.commits += 1;
        let now = state.now() as u64;
        let numbers = [now, commit.now as u64, commit.inbox_to, commit.next_key, commit.changes.jobs_changed.len() as u64];
        numbers.into_iter().for_each(|number| state.mix(number));
        let events = commit.log.iter().flat_map(|row| &row.events);
        for byte in events.chain(commit.answers.iter().flat_map(|row| &row.answer)) {
            state.mix(u64::from(*byte));
        }
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A commit in one line.
fn described(commit: &Commit) -> String {
    let row = |row: &store::LogRow| match row.instance {
        Some(instance) => format!("{} {} of {instance}", row.position, row.kind),
        None => format!("{} {}", row.position, row.kind),
    };
    let job =
        |job: &store::row::Job| format!("{} {:?} {:?} {} {:?}", job.key, job.state, job.availability, job.worker, job.deadline);
    let list = |lines: Vec<String>| lines.join(", ");
    let changes = &commit.changes;
    let timer = |row: &store::row::Timer| format!("{} {:?} {}", row.key, row.state, row.due);
    let timers = changes.timers_new.iter().chain(&changes.timers_changed).map(timer).collect();
    let opened = changes.subscriptions_new.iter().map(|row| format!("{} {:?} {} {:?}", row.key, row.kind, row.name, row.state));
    let closed = changes.subscriptions_changed.iter().map(|row| format!("{} {:?}", row.key, row.state));
    let messages =
        changes.messages_new.iter().map(|row| format!("{} {} {} until {}", row.key, row.name, row.correlation_key, row.expires));
    let taken = changes.correlations_new.iter().map(|row| format!("{} to {} of {}", row.message, row.subscription, row.instance));
    let signals = changes.signals_put.iter().map(|row| format!("{} {} after {}", row.key, row.name, row.after));
    format!(
        "commit of epoch {}: [{}], answers [{}]; jobs [{}], timers [{}], subscriptions [{}], messages [{}], taken [{}], signals [{}]",
        commit.fence.epoch,
        list(commit.log.iter().map(row).collect()),
        list(commit.answers.iter().map(|row| row.position.to_string()).collect()),
        list(changes.jobs_new.iter().chain(&changes.jobs_changed).map(job).collect()),
        list(timers),
        list(opened.chain(closed).collect()),
        list(messages.collect()),
        list(taken.collect()),
        list(signals.chain(changes.signals_done.iter().map(|key| format!("{key} done"))).collect()),
    )
}
