//! `caudal bench crowd`: what happens to others while one step does a hundred thousand things, and what a message costs among a million that wait.

use std::cell::Cell;
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

const PATIENCE: Duration = Duration::from_secs(120);
/// Clients that start instances and send messages at the same time.
const CLIENTS: u64 = 32;
/// Clients that others are: each starts an instance, takes its job, completes it and rests.
const OTHERS: usize = 4;
const REST: Duration = Duration::from_millis(20);
/// How long others are measured alone.
const ALONE: Duration = Duration::from_secs(4);
/// Subscriptions of one instance.
const BLOCK: u64 = 1_000;
/// Messages that are measured, and how many wait when hardly any do.
const MESSAGES: u64 = 2_000;
const FEW: u64 = 10;

const BPMN: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="caudal">
<message id="m" name="come"><extensionElements><zeebe:subscription correlationKey="=key"/></extensionElements></message><signal id="g" name="go"/>
<process id="other" isExecutable="true"><startEvent id="s"/><sequenceFlow id="a" sourceRef="s" targetRef="t"/>
<serviceTask id="t"><extensionElements><zeebe:taskDefinition type="work"/></extensionElements></serviceTask>
<sequenceFlow id="b" sourceRef="t" targetRef="e"/><endEvent id="e"/></process>
<process id="list" isExecutable="true"><startEvent id="s1"/><sequenceFlow id="c" sourceRef="s1" targetRef="t1"/>
<scriptTask id="t1"><extensionElements><zeebe:script expression="=item * 2" resultVariable="twice"/></extensionElements><multiInstanceLoopCharacteristics><extensionElements><zeebe:loopCharacteristics inputCollection="=for i in 1..n return i" inputElement="item" outputCollection="all" outputElement="=twice"/></extensionElements></multiInstanceLoopCharacteristics></scriptTask>
<sequenceFlow id="d" sourceRef="t1" targetRef="e1"/><endEvent id="e1"/></process>
<process id="ear" isExecutable="true"><startEvent id="s2"/><sequenceFlow id="f" sourceRef="s2" targetRef="t2"/>
<intermediateCatchEvent id="t2"><signalEventDefinition signalRef="g"/></intermediateCatchEvent><sequenceFlow id="h" sourceRef="t2" targetRef="e2"/><endEvent id="e2"/></process>
<process id="one" isExecutable="true"><startEvent id="s3"/><sequenceFlow id="i" sourceRef="s3" targetRef="t3"/>
<receiveTask id="t3" messageRef="m"/><sequenceFlow id="j" sourceRef="t3" targetRef="e3"/><endEvent id="e3"/></process>
<process id="block" isExecutable="true"><startEvent id="s4"/><sequenceFlow id="k" sourceRef="s4" targetRef="t4"/>
<receiveTask id="t4" messageRef="m"><multiInstanceLoopCharacteristics><extensionElements><zeebe:loopCharacteristics inputCollection="=for i in 1..n return string(block) + &quot;-&quot; + string(i)" inputElement="key"/></extensionElements></multiInstanceLoopCharacteristics></receiveTask></process>
</definitions>"#;

#[derive(Debug, Args)]
pub(crate) struct BenchCrowd {
    /// Where the fresh store is made: sqlite:FOLDER (a new folder in it), postgres://… (a new database beside the one named), or memory:
    #[arg(long, value_name = "URL", hide_env_values = true)]
    pub(crate) store: Option<String>,
    /// Items of the multi-instance activity, and instances that wait for the signal
    #[arg(long, value_name = "NUMBER", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: u64,
    /// Subscriptions that wait while messages are correlated
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(BLOCK..))]
    pub(crate) subscriptions: u64,
    /// Print JSON, one document
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(options: &BenchCrowd) -> Result<(), String> {
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

async fn measure(options: &BenchCrowd, fresh: &Fresh) -> Result<Vec<Line>, String> {
    let [rest, grpc, metrics] = free_addresses()?;
    let mut server = Server::start(&fresh.url(), [&rest, &grpc, &metrics], &[])?;
    server.ready(&metrics).await?;
    let up = Up { rest, metrics, pid: server.pid() };
    Connection::to(&up.rest).deploy("crowd.bpmn", BPMN, PATIENCE).await?;
    let mut lines = Vec::new();
    let nothing = async {
        tokio::time::sleep(ALONE).await;
        Ok(())
    };
    let alone = up.beside(nothing).await?;
    lines.extend(alone.lines(["others alone, p50", "others alone, p99", "memory"]));

    eprintln!("a list of {} items", options.count);
    let list = up.beside(up.list(options.count)).await?;
    lines.push(("items of a list", options.count as f64 / list.seconds, "/s"));
    lines.extend(list.lines(["others beside it, p50", "others beside it, p99", "memory, at most"]));

    eprintln!("a signal to {} instances", options.count);
    up.start_all("ear", options.count, &|_| json!({})).await?;
    let signal = up.beside(up.signal(options.count)).await?;
    lines.push(("instances that a signal reaches", options.count as f64 / signal.seconds, "/s"));
    lines.extend(signal.lines(["others beside the signal, p50", "others beside the signal, p99", "memory then, at most"]));

    up.block(0, FEW).await?;
    lines.extend(up.messages("few").await?.lines(["messages among ten", "their p50", "their p99", "CPU of each"]));
    eprintln!("{} subscriptions", options.subscriptions);
    let blocks = options.subscriptions / BLOCK;
    for block in 1..=blocks {
        up.block(block, BLOCK).await?;
    }
    let names = ["messages among all subscriptions", "their p50 then", "their p99 then", "CPU of each then"];
    lines.extend(up.messages("many").await?.lines(names));
    lines.push(("memory in the end", usage::rss_mb(up.pid).unwrap_or(0.0), "MB"));
    server.stop();
    Ok(lines)
}

/// A server that is up.
struct Up {
    rest: String,
    metrics: String,
    pid: u32,
}

/// What others saw meanwhile.
struct Beside {
    seconds: f64,
    requests: Histogram,
    memory: f64,
}

impl Beside {
    fn lines(&self, [p50, p99, memory]: [&'static str; 3]) -> [Line; 3] {
        let millis = |share: f64| self.requests.quantile(share) as f64 / 1_000.0;
        [(p50, millis(0.5), "ms"), (p99, millis(0.99), "ms"), (memory, self.memory, "MB")]
    }
}

struct Correlated {
    rate: f64,
    requests: Histogram,
    cpu: Duration,
}

impl Correlated {
    fn lines(&self, [rate, p50, p99, cpu]: [&'static str; 4]) -> [Line; 4] {
        let millis = |share: f64| self.requests.quantile(share) as f64 / 1_000.0;
        let each = self.cpu.as_micros() as f64 / MESSAGES as f64;
        [(rate, self.rate, "/s"), (p50, millis(0.5), "ms"), (p99, millis(0.99), "ms"), (cpu, each, "µs")]
    }
}

impl Up {
    /// Does it while others work, and sees how they fare and what memory the server has.
    async fn beside(&self, work: impl Future<Output = Result<(), String>>) -> Result<Beside, String> {
        let (begun, over, most) = (Instant::now(), Cell::new(None), Cell::new(0.0_f64));
        let work = async {
            let done = work.await;
            over.set(Some(begun.elapsed()));
            done
        };
        let memory = async {
            while over.get().is_none() {
                most.set(most.get().max(usage::rss_mb(self.pid).unwrap_or(0.0)));
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let others = all((0..OTHERS).map(|_| self.other(|| over.get().is_some())));
        let (done, requests, ()) = tokio::join!(work, others, memory);
        done?;
        let mut all_requests = Histogram::default();
        requests?.into_iter().flatten().for_each(|micros| all_requests.record(micros));
        Ok(Beside { seconds: over.get().unwrap_or_default().as_secs_f64(), requests: all_requests, memory: most.get() })
    }

    /// Another client: how long each of its requests took, in microseconds.
    async fn other(&self, is_over: impl Fn() -> bool) -> Result<Vec<u64>, String> {
        let (mut connection, mut took) = (Connection::to(&self.rest), Vec::new());
        while !is_over() {
            timed(&mut took, create(&mut connection, "other", &json!({}))).await?;
            let wanted =
                json!({ "type": "work", "timeout": 600_000, "maxJobsToActivate": 1, "worker": "other", "requestTimeout": -1 });
            let found = timed(&mut took, post(&mut connection, "/v2/jobs/activation", &wanted)).await?;
            if let Some(key) = found["jobs"][0]["jobKey"].as_str() {
                let path = format!("/v2/jobs/{key}/completion");
                timed(&mut took, connection.post(&path, b"{}", PATIENCE)).await?.expect_success()?;
            }
            tokio::time::sleep(REST).await;
        }
        Ok(took)
    }

    /// An instance that goes through a list.
    async fn list(&self, items: u64) -> Result<(), String> {
        let mut connection = Connection::to(&self.rest);
        let key = create(&mut connection, "list", &json!({ "n": items })).await?;
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            let answer = connection.get(&format!("/v2/process-instances/{key}"), PATIENCE).await?.expect_success()?;
            let answer: Value = serde_json::from_slice(&answer).map_err(|error| error.to_string())?;
            match (answer["state"].as_str(), answer["hasIncident"].as_bool()) {
                (Some("COMPLETED"), _) => return Ok(()),
                (_, Some(true)) => return Err("the list has an incident".to_owned()),
                _ => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
        Err(format!("the list did not end within {} s", PATIENCE.as_secs()))
    }

    /// A signal that ends so many instances. Others end some, too, so the last of all is seen to be gone.
    async fn signal(&self, instances: u64) -> Result<(), String> {
        let ended = self.ended().await?;
        let mut connection = Connection::to(&self.rest);
        post(&mut connection, "/v2/signals/broadcast", &json!({ "signalName": "go" })).await?;
        let waiting = json!({ "filter": { "processDefinitionId": "ear", "state": "ACTIVE" }, "page": { "limit": 1 } });
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            // Counting all that still wait is work of its own, so it is asked for when it may be over.
            if ended + instances <= self.ended().await? {
                let found = post(&mut connection, "/v2/process-instances/search", &waiting).await?;
                if found["page"]["totalItems"] == 0 {
                    return Ok(());
                }
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Err(format!("the signal had not reached all within {} s", PATIENCE.as_secs()))
    }

    /// How many instances have ended on this server.
    async fn ended(&self) -> Result<u64, String> {
        let answer = Connection::to(&self.metrics).get("/metrics", PATIENCE).await?;
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        let line = text.lines().find_map(|line| line.strip_prefix("caudal_instances_ended_total "));
        line.and_then(|number| number.trim().parse().ok()).ok_or_else(|| "the server does not say how many ended".to_owned())
    }

    /// An instance that waits for so many messages, each with a key of its own.
    async fn block(&self, block: u64, subscriptions: u64) -> Result<(), String> {
        let variables = json!({ "block": block, "n": subscriptions });
        create(&mut Connection::to(&self.rest), "block", &variables).await.map(drop)
    }

    /// Messages to instances that each wait for theirs.
    async fn messages(&self, name: &str) -> Result<Correlated, String> {
        self.start_all("one", MESSAGES, &|number| json!({ "key": format!("{name}-{number}") })).await?;
        let (begun, cpu) = (Instant::now(), usage::cpu(self.pid).unwrap_or_default());
        let clients = (0..CLIENTS).map(|client| async move {
            let (mut connection, mut took) = (Connection::to(&self.rest), Vec::new());
            for number in (client..MESSAGES).step_by(CLIENTS as usize) {
                let message = json!({ "name": "come", "correlationKey": format!("{name}-{number}") });
                timed(&mut took, post(&mut connection, "/v2/messages/correlation", &message)).await?;
            }
            Ok::<_, String>(took)
        });
        let took = all(clients).await?;
        let seconds = begun.elapsed().as_secs_f64();
        let mut requests = Histogram::default();
        took.into_iter().flatten().for_each(|micros| requests.record(micros));
        let cpu = usage::cpu(self.pid).unwrap_or_default() - cpu;
        Ok(Correlated { rate: MESSAGES as f64 / seconds, requests, cpu })
    }

    async fn start_all(&self, process: &str, count: u64, variables: &dyn Fn(u64) -> Value) -> Result<(), String> {
        let clients = (0..CLIENTS).map(|client| async move {
            let mut connection = Connection::to(&self.rest);
            for number in (client..count).step_by(CLIENTS as usize) {
                create(&mut connection, process, &variables(number)).await?;
            }
            Ok::<_, String>(())
        });
        all(clients).await.map(drop)
    }
}

async fn timed<T>(took: &mut Vec<u64>, request: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    let begun = Instant::now();
    let answer = request.await;
    took.push(begun.elapsed().as_micros() as u64);
    answer
}

async fn create(connection: &mut Connection, process: &str, variables: &Value) -> Result<String, String> {
    let wanted = json!({ "processDefinitionId": process, "variables": variables });
    let created = post(connection, "/v2/process-instances", &wanted).await?;
    created["processInstanceKey"].as_str().map(str::to_owned).ok_or_else(|| format!("no key in {created}"))
}

async fn post(connection: &mut Connection, path: &str, body: &Value) -> Result<Value, String> {
    let answer = connection.post(path, body.to_string().as_bytes(), PATIENCE).await?.expect_success()?;
    serde_json::from_slice(&answer).map_err(|error| error.to_string())
}
