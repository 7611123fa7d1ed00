//! `caudal bench tasks`: how many user tasks a server creates, hands to people and completes, and how fast people find theirs among many.

use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};

use super::fresh::Fresh;
use super::histogram::Histogram;
use super::http::Connection;
use super::queue::show;
use super::target::{Server, free_addresses};
use super::timers::all;
use super::usage;

const PATIENCE: Duration = Duration::from_secs(60);
/// Tasks of one group, and of one person.
const OF_GROUP: u64 = 1_000;
const OF_PERSON: u64 = 100;
/// What a search shows.
const PAGE: u32 = 50;

/// A task whose person and group are said by variables, and one that nobody has.
const BPMN: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="caudal">
<process id="desk" isExecutable="true"><startEvent id="s"/><sequenceFlow id="a" sourceRef="s" targetRef="t"/>
<userTask id="t"><extensionElements><zeebe:userTask/><zeebe:assignmentDefinition assignee="=person" candidateGroups="=[group]"/></extensionElements></userTask>
<sequenceFlow id="b" sourceRef="t" targetRef="e"/><endEvent id="e"/></process>
<process id="counter" isExecutable="true"><startEvent id="s2"/><sequenceFlow id="c" sourceRef="s2" targetRef="t2"/>
<userTask id="t2"><extensionElements><zeebe:userTask/></extensionElements></userTask>
<sequenceFlow id="d" sourceRef="t2" targetRef="e2"/><endEvent id="e2"/></process></definitions>"#;

#[derive(Debug, Args)]
pub(crate) struct BenchTasks {
    /// Where the fresh store is made: sqlite:FOLDER (a new folder in it), postgres://… (a new database beside the one named), or memory:
    #[arg(long, value_name = "URL", hide_env_values = true)]
    pub(crate) store: Option<String>,
    /// Tasks that are open while people search
    #[arg(long, value_name = "NUMBER", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(OF_GROUP..))]
    pub(crate) open: u64,
    /// Clients that create, assign and complete at the same time
    #[arg(long, value_name = "NUMBER", default_value_t = 32, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) clients: u64,
    /// How long life cycles are measured
    #[arg(long, value_name = "NUMBER", default_value_t = 10)]
    pub(crate) seconds: u64,
    /// Searches of each kind, one after the other
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) searches: u64,
    /// Print JSON, one document
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(options: &BenchTasks) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start: {error}"))?;
    runtime.block_on(async {
        let fresh = Fresh::make(options.store.as_deref()).await?;
        let measured = tokio::select! {
            measured = measure(options, &fresh) => measured,
            _ = tokio::signal::ctrl_c() => Err("interrupted".to_owned()),
        };
        fresh.remove().await?;
        show(&measured?, options.json);
        Ok(())
    })
}

type Line = (&'static str, f64, &'static str);

async fn measure(options: &BenchTasks, fresh: &Fresh) -> Result<Vec<Line>, String> {
    let [rest, grpc, metrics] = free_addresses()?;
    let mut server = Server::start(&fresh.url(), [&rest, &grpc, &metrics], &[])?;
    server.ready(&metrics).await?;
    Connection::to(&rest).deploy("desk.bpmn", BPMN, PATIENCE).await?;
    let mut lines = vec![("life cycles with no other task open", cycles(options, &rest).await?, "/s")];
    let begun = Instant::now();
    fill(options, &rest).await?;
    lines.push(("tasks created", options.open as f64 / begun.elapsed().as_secs_f64(), "/s"));
    lines.push(("life cycles beside them", cycles(options, &rest).await?, "/s"));
    lines.extend(searches(options, &rest).await?);
    lines.push(("server memory", usage::rss_mb(server.pid()).unwrap_or(0.0), "MB"));
    server.stop();
    Ok(lines)
}

/// Tasks that are created, found, assigned and completed, per second.
async fn cycles(options: &BenchTasks, rest: &str) -> Result<f64, String> {
    let begun = Instant::now();
    let until = begun + Duration::from_secs(options.seconds);
    let clients = (0..options.clients).map(|_| async move {
        let (mut connection, mut done) = (Connection::to(rest), 0_u64);
        while Instant::now() < until {
            let instance = create(&mut connection, "counter", &json!({})).await?;
            let found = search(&mut connection, &json!({ "processInstanceKey": instance }), &json!([])).await?;
            let task = found["items"][0]["userTaskKey"].as_str().ok_or_else(|| format!("no task in {found}"))?;
            for (what, body) in [("assignment", r#"{"assignee":"ann"}"#), ("completion", r#"{"variables":{"ok":true}}"#)] {
                let path = format!("/v2/user-tasks/{task}/{what}");
                connection.post(&path, body.as_bytes(), PATIENCE).await?.expect_success()?;
            }
            done += 1;
        }
        Ok::<_, String>(done)
    });
    let done: u64 = all(clients).await?.into_iter().sum();
    Ok(done as f64 / begun.elapsed().as_secs_f64())
}

/// Every person has as many tasks as any other, and every group.
async fn fill(options: &BenchTasks, rest: &str) -> Result<(), String> {
    let (groups, people) = sizes(options);
    let clients = (0..options.clients).map(|client| async move {
        let mut connection = Connection::to(rest);
        for number in (client..options.open).step_by(options.clients as usize) {
            let (person, group) = (format!("p{}", number % people), format!("g{}", number % groups));
            create(&mut connection, "desk", &json!({ "person": person, "group": group })).await?;
        }
        Ok::<_, String>(())
    });
    all(clients).await.map(drop)
}

fn sizes(options: &BenchTasks) -> (u64, u64) {
    (options.open / OF_GROUP, options.open / OF_PERSON)
}

/// First pages, asked for by one client.
async fn searches(options: &BenchTasks, rest: &str) -> Result<Vec<Line>, String> {
    let (groups, people) = sizes(options);
    let newest = json!([{ "field": "creationDate", "order": "DESC" }]);
    let of_person = |number: u64| json!({ "state": "CREATED", "assignee": format!("p{}", number % people) });
    let of_group = |number: u64| json!({ "state": "CREATED", "candidateGroup": format!("g{}", number % groups) });
    let mut connection = Connection::to(rest);
    let mut lines = Vec::new();
    for number in 0..options.searches.min(50) {
        search(&mut connection, &of_person(number), &json!([])).await?;
        search(&mut connection, &of_group(number), &newest).await?;
    }
    type Filter<'a> = &'a dyn Fn(u64) -> Value;
    let kinds = [
        (&of_person as Filter<'_>, json!([]), ["search by assignee, p50", "search by assignee, p99"]),
        (&of_person, newest.clone(), ["search by assignee, newest first, p50", "search by assignee, newest first, p99"]),
        (&of_group, json!([]), ["search by candidate group, p50", "search by candidate group, p99"]),
        (&of_group, newest, ["search by candidate group, newest first, p50", "search by candidate group, newest first, p99"]),
    ];
    for (filter, sort, names) in kinds {
        let mut times = Histogram::default();
        for number in 0..options.searches {
            let begun = Instant::now();
            let found = search(&mut connection, &filter(number), &sort).await?;
            times.record(begun.elapsed().as_micros() as u64);
            let shown = found["items"].as_array().map_or(0, Vec::len);
            if shown != PAGE as usize {
                return Err(format!("a page of {PAGE} tasks was asked for, and {shown} came"));
            }
        }
        let millis = |share: f64| times.quantile(share) as f64 / 1_000.0;
        lines.extend([(names[0], millis(0.5), "ms"), (names[1], millis(0.99), "ms")]);
    }
    Ok(lines)
}

async fn create(connection: &mut Connection, process: &str, variables: &Value) -> Result<String, String> {
    let body = json!({ "processDefinitionId": process, "variables": variables }).to_string();
    let answer = connection.post("/v2/process-instances", body.as_bytes(), PATIENCE).await?.expect_success()?;
    let answer: Value = serde_json::from_slice(&answer).map_err(|error| error.to_string())?;
    answer["processInstanceKey"].as_str().map(str::to_owned).ok_or_else(|| format!("no key in {answer}"))
}

async fn search(connection: &mut Connection, filter: &Value, sort: &Value) -> Result<Value, String> {
    let body = json!({ "filter": filter, "sort": sort, "page": { "limit": PAGE } }).to_string();
    let answer = connection.post("/v2/user-tasks/search", body.as_bytes(), PATIENCE).await?.expect_success()?;
    serde_json::from_slice(&answer).map_err(|error| error.to_string())
}
