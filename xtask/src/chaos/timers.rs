//! Thousands of timers whose server is killed while they fall due: each fires once, and none before its time.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::json;

use super::http::{Connection, Request};
use super::random::Random;
use super::run::Outcome;
use super::state;
use super::world::{Layout, World, deploy};
use crate::places::Places;
use crate::postgres::Cluster;

const PROCESS: &str = "nap";
const CLIENTS: usize = 6;
/// Over how long timers fall due, most of it while servers are killed.
const SPREAD: Duration = Duration::from_secs(10);
/// So many are armed first, and fire at once: they tell how long the others will take.
const FIRST: usize = 120;

const BPMN: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="caudal">
<process id="nap" isExecutable="true"><startEvent id="begin"/><sequenceFlow id="a" sourceRef="begin" targetRef="nap-until"/>
<intermediateCatchEvent id="nap-until"><timerEventDefinition><timeDuration>=wait</timeDuration></timerEventDefinition></intermediateCatchEvent>
<sequenceFlow id="b" sourceRef="nap-until" targetRef="after"/><task id="after"/><sequenceFlow id="c" sourceRef="after" targetRef="end"/><endEvent id="end"/>
</process></definitions>"#;

/// All, fired, the earliest and the latest of them against their time, and fired twice.
pub(super) const COUNTS: &str = "SELECT count(*), sum(CASE WHEN state = 'FIRED' THEN 1 ELSE 0 END), min(ended - due), max(ended - due), \
                                 count(*) - count(DISTINCT instance) FROM timers";

#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) name: String,
    pub(crate) layout: Layout,
    pub(crate) timers: usize,
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
    deploy(world.doors[0], PROCESS, BPMN)?;
    let mut random = Random::new(plan.seed);
    let begun = Instant::now();
    arm(&world.doors, FIRST, None, &mut random)?;
    let due_from = Instant::now() + Duration::from_secs(3) + begun.elapsed() * (2 * plan.timers / FIRST) as u32;
    arm(&world.doors, plan.timers - FIRST, Some(due_from), &mut random)?;
    // On a machine that has become slow since, some are due already: then servers are killed while these are caught up.
    let left = due_from.saturating_duration_since(Instant::now());
    say(format!("{} timers armed, the first due in {:.1} s", plan.timers, left.as_secs_f64()));
    std::thread::sleep(due_from.saturating_duration_since(Instant::now() + Duration::from_secs(1)));
    for blow in 1..=plan.kills {
        std::thread::sleep(random.millis(0, SPREAD.as_millis() as u64 / plan.kills as u64));
        // With two servers the one that owns the partition, so that the other goes on with its timers.
        let victim = world.servers.iter().position(super::server::Server::owns).unwrap_or(0);
        world.servers[victim].kill();
        say(format!("blow {blow}: server {} is killed", victim + 1));
        if plan.layout == Layout::Pair {
            std::thread::sleep(random.millis(0, 3_000));
        }
        world.servers[victim].start()?;
    }
    std::thread::sleep((due_from + SPREAD).saturating_duration_since(Instant::now()));
    let mut wrong = Vec::new();
    if !state::finished(world.doors[0]) {
        wrong.push("some instances never ended".to_owned());
    }
    for (key, instance) in state::instances(world.doors[0])? {
        let passed: Vec<&str> =
            instance.elements.iter().map(|(element, _)| element.as_str()).filter(|id| *id == "after").collect();
        if instance.state != "COMPLETED" || passed.len() != 1 {
            wrong.push(format!("instance {key} is {} and passed 'after' {} times", instance.state, passed.len()));
        }
    }
    let (log, counts) = world.close_and_ask(COUNTS)?;
    if let Some(damage) = log.damage {
        wrong.push(damage);
    }
    let counts: Vec<i64> = counts.trim().split('|').filter_map(|number| number.parse().ok()).collect();
    let [all, fired, earliest, latest, twice] = counts[..] else { return Err(format!("no counts: {counts:?}")) };
    if (all, fired, twice) != (plan.timers as i64, plan.timers as i64, 0) || earliest < 0 {
        wrong.push(format!("of {all} timers {fired} fired, {twice} twice; the earliest {earliest} ms after its time"));
    }
    let summary = format!("{fired} timers fired over {} kills, at most {:.1} s late", plan.kills, latest as f64 / 1000.0);
    Ok(Outcome { summary, wrong })
}

/// Starts instances whose timers fall due from then on, or at once; some are overdue as soon as they are armed.
fn arm(doors: &[SocketAddr], timers: usize, due_from: Option<Instant>, random: &mut Random) -> Result<(), String> {
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let mut random = random.split();
                scope.spawn(move || -> Result<(), String> {
                    let mut connection = Connection::default();
                    for _ in (client..timers).step_by(CLIENTS) {
                        let late = random.percent(2);
                        let due = due_from.filter(|_| !late).map(|from| from + random.millis(0, SPREAD.as_millis() as u64));
                        let wait = due.map_or(Duration::ZERO, |due| due.saturating_duration_since(Instant::now()));
                        let wait = format!("PT{}.{:03}S", wait.as_secs(), wait.subsec_millis());
                        let body = json!({ "processDefinitionId": PROCESS, "variables": { "wait": wait } }).to_string();
                        let request = Request::post("/v2/process-instances", &body);
                        connection.must(doors[client % doors.len()], &request)?;
                    }
                    Ok(())
                })
            })
            .collect();
        clients.into_iter().try_for_each(|client| client.join().unwrap_or_else(|_| Err("a client panicked".to_owned())))
    })
}
