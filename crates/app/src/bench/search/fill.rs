//! What there is to find: instances of several processes with business ids, tags and variables of which some are rare and some are everywhere;
//! with parents, people's tasks, incidents, and some that were cancelled. Which has what follows from its number.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::http::Connection;
use super::{BenchSearch, PATIENCE, ask};

const CREATORS: u64 = 32;
const WORKERS: usize = 2;
const PROGRESS_EVERY: Duration = Duration::from_secs(10);
const POLL_MILLIS: u64 = 200;
const JOBS: usize = 500;

const BPMN: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="caudal">
<process id="order" isExecutable="true"><startEvent id="s1"/><sequenceFlow id="a1" sourceRef="s1" targetRef="charge"/>
<serviceTask id="charge"><extensionElements><zeebe:taskDefinition type="=task"/></extensionElements></serviceTask>
<sequenceFlow id="b1" sourceRef="charge" targetRef="e1"/><endEvent id="e1"/></process>
<process id="refund" isExecutable="true"><startEvent id="s2"/><sequenceFlow id="a2" sourceRef="s2" targetRef="pay-back"/>
<serviceTask id="pay-back"><extensionElements><zeebe:taskDefinition type="=task"/></extensionElements></serviceTask>
<sequenceFlow id="b2" sourceRef="pay-back" targetRef="e2"/><endEvent id="e2"/></process>
<process id="rare" isExecutable="true"><startEvent id="s3"/><sequenceFlow id="a3" sourceRef="s3" targetRef="seldom"/>
<serviceTask id="seldom"><extensionElements><zeebe:taskDefinition type="=task"/></extensionElements></serviceTask>
<sequenceFlow id="b3" sourceRef="seldom" targetRef="e3"/><endEvent id="e3"/></process>
<process id="family" isExecutable="true"><startEvent id="s4"/><sequenceFlow id="a4" sourceRef="s4" targetRef="call"/>
<callActivity id="call"><extensionElements><zeebe:calledElement processId="order"/></extensionElements></callActivity>
<sequenceFlow id="b4" sourceRef="call" targetRef="e4"/><endEvent id="e4"/></process>
<process id="desk" isExecutable="true"><startEvent id="s5"/><sequenceFlow id="a5" sourceRef="s5" targetRef="look"/>
<userTask id="look"><extensionElements><zeebe:userTask/><zeebe:assignmentDefinition assignee="=person" candidateGroups="=[group]"/></extensionElements></userTask>
<sequenceFlow id="b5" sourceRef="look" targetRef="e5"/><endEvent id="e5"/></process></definitions>"#;

/// A variable's value that a few instances share, and one that many do.
pub(super) fn customer(number: u64) -> String {
    format!("c{}", number % 50_000)
}

pub(super) fn region(number: u64) -> String {
    format!("r{}", number % 8)
}

pub(super) fn business_id(number: u64) -> String {
    format!("b-{number}")
}

pub(super) fn tag(number: u64) -> String {
    format!("t{}", number % 1_000)
}

pub(super) fn person(number: u64) -> String {
    format!("p{}", number % 100)
}

pub(super) fn group(number: u64) -> String {
    format!("g{}", number % 10)
}

pub(super) fn message(number: u64) -> String {
    format!("card {} was declined", number % 10)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Workers are there.
    Finished,
    Running,
}

fn process(part: Part, number: u64) -> &'static str {
    match number {
        _ if part == Part::Running && number % 10 == 4 => "desk",
        _ if number % 10_000 == 1 => "rare",
        _ if number % 50 == 2 => "family",
        _ if number % 8 == 3 => "refund",
        _ => "order",
    }
}

/// Which worker it waits for: of those that wait for nobody some are cancelled.
fn task(part: Part, number: u64) -> &'static str {
    match part {
        Part::Finished if is_cancelled(number) || number % 1_000 == 9 => "nobody",
        Part::Running if number % 100 == 5 => "broken",
        Part::Finished | Part::Running => "charge",
    }
}

fn is_cancelled(number: u64) -> bool {
    number % 200 == 7
}

struct Filling {
    part: Part,
    next: Cell<u64>,
    until: u64,
    creators: Cell<u64>,
    /// Jobs that workers are to do, and have done.
    wanted: Cell<u64>,
    done: Cell<u64>,
}

pub(super) async fn fill(options: &BenchSearch, rest: &str) -> Result<(), String> {
    Connection::to(rest).deploy("search.bpmn", BPMN, PATIENCE).await?;
    part(rest, Part::Finished, 0, options.finished).await?;
    part(rest, Part::Running, options.finished, options.finished + options.running).await?;
    break_some(rest, options.running / 100).await
}

async fn part(rest: &str, part: Part, from: u64, until: u64) -> Result<(), String> {
    let next = Cell::new(from);
    let filling = Filling { part, next, until, creators: Cell::new(CREATORS), wanted: Cell::new(0), done: Cell::new(0) };
    let (filling, begun) = (Rc::new(filling), Instant::now());
    let local = tokio::task::LocalSet::new();
    let mut tasks = Vec::new();
    for _ in 0..CREATORS {
        let (connection, filling) = (Connection::to(rest), filling.clone());
        tasks.push(local.spawn_local(async move { create(connection, &filling).await }));
    }
    for _ in 0..if part == Part::Finished { WORKERS } else { 0 } {
        let (connection, filling) = (Connection::to(rest), filling.clone());
        tasks.push(local.spawn_local(async move { work(connection, &filling).await }));
    }
    let watched = filling.clone();
    local.spawn_local(async move {
        loop {
            tokio::time::sleep(PROGRESS_EVERY).await;
            let (at, rate) = (watched.next.get(), (watched.next.get() - from) as f64 / begun.elapsed().as_secs_f64());
            eprintln!("filling  {at} of {until} instances, {rate:.0} /s");
        }
    });
    let ended = local.run_until(async {
        for task in tasks {
            task.await.map_err(|error| error.to_string())??;
        }
        Ok(())
    });
    ended.await
}

async fn create(mut connection: Connection, filling: &Filling) -> Result<(), String> {
    while filling.next.get() < filling.until {
        let number = filling.next.replace(filling.next.get() + 1);
        let (process, task) = (process(filling.part, number), task(filling.part, number));
        let mut tags = vec![tag(number)];
        if number.is_multiple_of(3) {
            tags.push("vip".to_owned());
        }
        let mut variables = json!({ "task": task, "customer": customer(number), "region": region(number), "amount": number });
        if process == "desk" {
            variables["person"] = person(number / 10).into();
            variables["group"] = group(number / 10).into();
        }
        let body =
            json!({ "processDefinitionId": process, "variables": variables, "tags": tags, "businessId": business_id(number) });
        let created = ask(&mut connection, "/v2/process-instances", &body).await?;
        if filling.part == Part::Finished && is_cancelled(number) {
            let key = created["processInstanceKey"].as_str().unwrap_or_default();
            ask(&mut connection, &format!("/v2/process-instances/{key}/cancellation"), &json!({})).await?;
        } else if task == "charge" {
            filling.wanted.set(filling.wanted.get() + 1);
        }
    }
    filling.creators.set(filling.creators.get() - 1);
    Ok(())
}

async fn work(mut connection: Connection, filling: &Filling) -> Result<(), String> {
    while 0 < filling.creators.get() || filling.done.get() < filling.wanted.get() {
        let jobs: Vec<Value> = activate(&mut connection, "charge").await?.iter().map(|key| json!({ "jobKey": key })).collect();
        if !jobs.is_empty() {
            let answer = ask(&mut connection, "/v1/jobs/completion", &json!({ "jobs": jobs })).await?;
            filling.done.set(filling.done.get() + answer["completed"].as_u64().unwrap_or(0));
        }
    }
    Ok(())
}

async fn break_some(rest: &str, count: u64) -> Result<(), String> {
    let mut connection = Connection::to(rest);
    let mut broken = 0;
    while broken < count {
        for key in activate(&mut connection, "broken").await? {
            let path = format!("/v2/jobs/{}/failure", key.as_str().unwrap_or_default());
            ask(&mut connection, &path, &json!({ "retries": 0, "errorMessage": message(broken) })).await?;
            broken += 1;
        }
    }
    Ok(())
}

/// Keys of jobs.
async fn activate(connection: &mut Connection, job_type: &str) -> Result<Vec<Value>, String> {
    let poll = json!({
        "type": job_type, "worker": "bench", "timeout": 600_000, "maxJobsToActivate": JOBS, "requestTimeout": POLL_MILLIS,
        "fetchVariable": ["nothing"],
    });
    let answer = ask(connection, "/v2/jobs/activation", &poll).await?;
    Ok(answer["jobs"].as_array().map_or(&[][..], Vec::as_slice).iter().map(|job| job["jobKey"].clone()).collect())
}
