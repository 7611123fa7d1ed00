//! Thousands of executions under a limit whose server is killed while workers do them: never more at once than may, each first handed out
//! in the order of submission, each done once, and all of it told by the audit trail.

mod check;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::history::Told;
use super::http::{Connection, Request};
use super::load::understand;
use super::random::Random;
use super::run::Outcome;
use super::world::{Layout, World};
use crate::places::Places;
use crate::postgres::Cluster;
use check::{Act, Entry, Record};

const ACTION: &str = "chaos";
const LIMIT: usize = 10;
const WORKERS: usize = 20;
const BULK: usize = 1_000;
const PAGE: usize = 5_000;
const PAUSE: Duration = Duration::from_millis(15);
/// How long it may take, once nothing disturbs them, until one more has ended.
const PROGRESS_MAX: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) name: String,
    pub(crate) layout: Layout,
    pub(crate) executions: usize,
    pub(crate) kills: usize,
    pub(crate) seed: u64,
}

pub(crate) fn run(
    places: &Places,
    cluster: Option<&mut Cluster>,
    plan: &Plan,
    say: &mut dyn FnMut(String),
) -> Result<Outcome, String> {
    let mut world = World::build(places, cluster, plan.layout, &plan.name, None)?;
    let mut random = Random::new(plan.seed);
    let submitted = submit(world.doors[0], plan.executions)?;
    let (history, is_over) = (Mutex::new(Vec::new()), AtomicBool::new(false));
    let doors = world.doors.clone();
    let mut wrong = Vec::new();
    std::thread::scope(|scope| {
        for number in 1..=WORKERS {
            let (doors, history, is_over, random) = (&doors, &history, &is_over, random.split());
            let connection = Connection::default();
            let worker = Worker { name: format!("w{number}"), doors, connection, random, history, is_over };
            scope.spawn(move || worker.work());
        }
        let ended = disturb(&mut world, plan, &mut random, say);
        is_over.store(true, Ordering::Relaxed);
        ended
    })
    .map(|ended| {
        if !ended {
            wrong.push("not every execution came to its end".to_owned())
        }
    })?;
    let trail = trail(world.doors[0])?;
    wrong.extend(check::check(&history.into_inner().unwrap_or_else(PoisonError::into_inner), &trail, &submitted, LIMIT));
    if let Some(damage) = world.close()?.damage {
        wrong.push(damage);
    }
    let summary =
        format!("{} executions under a limit of {LIMIT} over {} kills, {} told", submitted.len(), plan.kills, trail.len());
    Ok(Outcome { summary, wrong })
}

/// The limit, and what is to be done. The ids, in the order of submission.
fn submit(door: SocketAddr, executions: usize) -> Result<Vec<u64>, String> {
    let mut connection = Connection::default();
    let policy = json!({ "scope": "ACTION", "action": ACTION, "concurrency": { "limit": LIMIT } }).to_string();
    let put = Request { method: "PUT", ..Request::post("/v1/policies/chaos", &policy) };
    match understand(connection.send(door, &put)).0 {
        Told::Done(_) => {}
        told => return Err(format!("the policy is refused: {told:?}")),
    }
    let mut ids = Vec::new();
    while ids.len() < executions {
        let count = BULK.min(executions - ids.len());
        let body = json!({ "executions": vec![json!({ "retries": 1_000 }); count] }).to_string();
        let answer = connection.must(door, &Request::post(&format!("/v1/actions/{ACTION}/executions/bulk"), &body))?;
        let new = answer["executions"].as_array().ok_or("a submission without executions")?;
        ids.extend(new.iter().filter_map(|one| one["id"].as_str()?.parse::<u64>().ok()));
    }
    Ok(ids)
}

/// Kills servers, with so much done between two blows that the last comes before the end. Whether everything came to its end.
fn disturb(world: &mut World<'_>, plan: &Plan, random: &mut Random, say: &mut dyn FnMut(String)) -> Result<bool, String> {
    for blow in 1..=plan.kills {
        let until = plan.executions - plan.executions * blow / (plan.kills + 1);
        if !worked_off(world.doors[0], until as u64) {
            return Ok(false);
        }
        std::thread::sleep(random.millis(0, 100));
        let victim = world.servers.iter().position(super::server::Server::owns).unwrap_or(0);
        world.servers[victim].kill();
        say(format!("blow {blow}: server {} is killed with {until} executions left", victim + 1));
        if plan.layout == Layout::Pair {
            // Often long enough for the other to go on.
            std::thread::sleep(random.millis(0, 4_000));
        }
        world.servers[victim].start()?;
    }
    Ok(worked_off(world.doors[0], 0))
}

/// Waits until no more than so many wait or run; true if that came to pass.
fn worked_off(door: SocketAddr, until: u64) -> bool {
    let mut connection = Connection::default();
    let (mut least, mut progress) = (u64::MAX, Instant::now());
    let path = format!("/v1/actions/{ACTION}");
    while progress.elapsed() < PROGRESS_MAX {
        let answer = connection.must(door, &Request::get(&path)).unwrap_or_default();
        match answer["queueLength"].as_u64().zip(answer["activeCount"].as_u64()).map(|(waiting, running)| waiting + running) {
            Some(left) if left <= until => return true,
            Some(left) if left < least => (least, progress) = (left, Instant::now()),
            _ => {}
        }
        std::thread::sleep(PAUSE);
    }
    false
}

/// What the audit trail tells of them.
fn trail(door: SocketAddr) -> Result<Vec<Entry>, String> {
    let mut connection = Connection::default();
    let (mut trail, mut after) = (Vec::new(), String::new());
    loop {
        let path = format!("/v1/audit?action={ACTION}&entityType=JOB&sort=auditKey&limit={PAGE}{after}");
        let answer = connection.must(door, &Request::get(&path))?;
        let items = answer["items"].as_array().ok_or("a trail without items")?;
        trail.extend(items.iter().map(Entry::read));
        match answer["page"]["endCursor"].as_str() {
            Some(cursor) if items.len() == PAGE => after = format!("&after={cursor}"),
            _ => return Ok(trail),
        }
    }
}

struct Worker<'a> {
    name: String,
    doors: &'a [SocketAddr],
    connection: Connection,
    random: Random,
    history: &'a Mutex<Vec<Record>>,
    is_over: &'a AtomicBool,
}

impl Worker<'_> {
    fn work(mut self) {
        let poll = json!({ "workerId": self.name, "jobTypes": [ACTION], "leaseSeconds": 5, "waitSeconds": 1 }).to_string();
        while !self.is_over.load(Ordering::Relaxed) {
            let (told, answer) = self.send("/v1/jobs/poll", &poll);
            let jobs = answer["jobs"].as_array().map(Vec::as_slice).unwrap_or_default();
            match told {
                Told::Done(_) => jobs.iter().for_each(|job| self.do_job(job)),
                _ => std::thread::sleep(PAUSE),
            }
        }
    }

    /// Mostly completes it, sometimes fails it or gives it back, now and then forgets it.
    fn do_job(&mut self, job: &Value) {
        let Some(id) = job["id"].as_str().and_then(|id| id.parse().ok()) else { return };
        self.note(id, Act::Given);
        let mut body = json!({ "workerId": self.name, "lease": job["lease"] });
        let (what, act) = match self.random.below(1_000) {
            0..900 => ("complete", Act::Completed),
            900..960 => ("fail", Act::Failed),
            960..995 => ("release", Act::GaveBack),
            _ => return,
        };
        if act == Act::Failed {
            (body["retryable"], body["errorMessage"]) = (json!(true), json!("not now"));
        }
        let (path, body) = (format!("/v1/jobs/{id}/{what}"), body.to_string());
        while !self.is_over.load(Ordering::Relaxed) {
            match self.send(&path, &body).0 {
                Told::Done(_) => return self.note(id, act),
                Told::Wrong(what) => return self.note(id, Act::Wrong(what)),
                // Its lease is over: others have it, or have done it.
                Told::Refused(_) => return,
                Told::Unknown(_) | Told::Unsent => std::thread::sleep(PAUSE),
            }
        }
    }

    fn send(&mut self, path: &str, body: &str) -> (Told, Value) {
        let door = self.doors[self.random.below(self.doors.len())];
        understand(self.connection.send(door, &Request::post(path, body)))
    }

    fn note(&self, job: u64, act: Act) {
        let record = Record { job, worker: self.name.clone(), act };
        self.history.lock().unwrap_or_else(PoisonError::into_inner).push(record);
    }
}
