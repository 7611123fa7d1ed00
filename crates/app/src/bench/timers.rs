//! `caudal bench timers`: what pending timers cost a server, and how late and how fast they fire.
//!
//! Most of the pending timers are rows alone, written straight to the store and due long after the end: what a server does with them is to
//! leave them where they are. Those that fire or are cancelled belong to real instances that clients start.

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::{ElementKey, InstanceKey, Keys, PartitionId, TimerKey, WaitKey};
use model::ElementIx;
use serde_json::{Value, json};
use store::query::{Entity, Field, Filter, Items, Op, Order, Page, Query, Scalar, Sort, Tenants};
use store::row::{Timer, TimerKind, TimerState, WaitOrigin};
use store::{Changes, Commit, Ownership};

use super::fresh::Fresh;
use super::http::Connection;
use super::options::BenchTimers;
use super::target::{Server, free_addresses};
use super::usage;
use crate::config::{Access, store_url};
use crate::table;

const PARTITION: PartitionId = PartitionId(1);
const TENANT: &str = "<default>";
const PATIENCE: Duration = Duration::from_secs(30);
/// Rows in one commit that makes pending timers.
const FILL: usize = 10_000;
/// Clients that start and cancel instances at the same time.
const CLIENTS: usize = 32;
/// How long a rate is measured.
const MEASURED: Duration = Duration::from_secs(4);
/// Long after the bench has ended.
const FAR: i64 = 1_000 * 60 * 60 * 1_000;
/// Timers due per second, and overdue at the start.
const DUE_PER_SECOND: u64 = 1_000;
const DUE_SECONDS: u64 = 10;

const BPMN: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="caudal">
<process id="nap" isExecutable="true"><startEvent id="s"/><sequenceFlow id="a" sourceRef="s" targetRef="t"/>
<intermediateCatchEvent id="t"><timerEventDefinition><timeDuration>=wait</timeDuration></timerEventDefinition></intermediateCatchEvent>
<sequenceFlow id="b" sourceRef="t" targetRef="e"/><endEvent id="e"/></process>
<process id="pass" isExecutable="true"><startEvent id="s2"/><sequenceFlow id="c" sourceRef="s2" targetRef="e2"/><endEvent id="e2"/></process>
</definitions>"#;

pub(crate) fn run(options: &BenchTimers) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start: {error}"))?;
    runtime.block_on(async {
        let fresh = Fresh::make(options.store.as_deref()).await?;
        if matches!(fresh, Fresh::Memory) {
            return Err("a store that is gone with its server cannot be filled before: use sqlite: or postgres:".to_owned());
        }
        let measured = tokio::select! {
            measured = measure(options, &fresh) => measured,
            _ = tokio::signal::ctrl_c() => Err("interrupted".to_owned()),
        };
        fresh.remove().await?;
        measured.map(|report| report.show(options.json))
    })
}

/// One line of the table.
struct Report(Vec<(String, String, Value)>);

impl Report {
    fn add(&mut self, name: impl Into<String>, number: f64, unit: &str) {
        let name = name.into();
        eprintln!("{name}: {number:.1} {unit}");
        self.0.push((name, unit.to_owned(), json!((number * 10.0).round() / 10.0)));
    }

    fn show(&self, json: bool) {
        if json {
            let all: Vec<Value> =
                self.0.iter().map(|(name, unit, number)| json!({ "what": name, "value": number, "unit": unit })).collect();
            table::print(&format!("{}\n", Value::Array(all)));
        } else {
            let rows: Vec<_> =
                self.0.iter().map(|(name, unit, number)| vec![name.clone(), number.to_string(), unit.clone()]).collect();
            table::print(&table::table(&["WHAT", "VALUE", "UNIT"], &rows));
        }
    }
}

async fn measure(options: &BenchTimers, fresh: &Fresh) -> Result<Report, String> {
    let mut report = Report(Vec::new());
    let first = Up::start(fresh).await?;
    first.deploy().await?;
    first.stop();
    let mut steps = vec![0, 10_000, 100_000, options.pending];
    steps.retain(|step| *step <= options.pending);
    steps.dedup();
    let mut filled = 0;
    for step in steps {
        let begun = Instant::now();
        fill(fresh, step - filled).await?;
        if filled < step {
            report.add(format!("rows of {step} timers written"), begun.elapsed().as_secs_f64(), "s");
        }
        filled = step;
        let up = Up::start(fresh).await?;
        report.add(format!("ready with {step} pending"), up.ready.as_secs_f64() * 1_000.0, "ms");
        report.add(format!("memory with {step} pending"), usage::rss_mb(up.server.pid()).unwrap_or(0.0), "MB");
        if step == 0 {
            report.add("instances without timers", up.creates("pass", after(MEASURED)).await?.1, "/s");
        }
        let (keys, armed) = up.creates("nap", after(MEASURED)).await?;
        report.add(format!("timers armed with {step} pending"), armed, "/s");
        report.add(format!("timers cancelled with {step} pending"), up.cancel(keys).await?, "/s");
        up.stop();
    }
    fires(fresh, &mut report).await?;
    catches_up(fresh, &mut report).await?;
    Ok(report)
}

/// So many fall due every second.
async fn fires(fresh: &Fresh, report: &mut Report) -> Result<(), String> {
    let up = Up::start(fresh).await?;
    let count = DUE_PER_SECOND * DUE_SECONDS;
    let from = Instant::now() + Duration::from_secs(2) + Duration::from_millis(count / 2);
    up.arm(count, |number| from + Duration::from_micros(number * 1_000_000 / DUE_PER_SECOND)).await?;
    if from < Instant::now() {
        eprintln!("caudal: arming took too long: some timers were overdue before they were all armed");
    }
    let until = from + Duration::from_secs(DUE_SECONDS);
    tokio::time::sleep_until(until.into()).await;
    up.fired(count).await?;
    report.add(format!("last of {count} fired after its time"), until.elapsed().as_secs_f64() * 1_000.0, "ms");
    up.stop();
    let mut late = lateness(fresh, count).await?;
    late.sort_unstable();
    for (name, share) in [("p50", 0.5), ("p99", 0.99), ("most", 1.0)] {
        let place = ((late.len() as f64 * share) as usize).min(late.len().saturating_sub(1));
        let millis = late.get(place).copied().unwrap_or(0);
        report.add(format!("lateness {name} at {DUE_PER_SECOND}/s"), millis as f64, "ms");
    }
    Ok(())
}

/// So many fell due while nobody was there.
async fn catches_up(fresh: &Fresh, report: &mut Report) -> Result<(), String> {
    let count = DUE_PER_SECOND * DUE_SECONDS;
    let up = Up::start(fresh).await?;
    let due = Instant::now() + Duration::from_secs(2) + Duration::from_millis(count / 2);
    up.arm(count, |_| due).await?;
    up.stop();
    tokio::time::sleep_until(due.into()).await;
    let up = Up::start(fresh).await?;
    let begun = Instant::now();
    let over = Cell::new(false);
    let fired = async {
        let fired = up.fired(count).await;
        over.set(true);
        fired
    };
    let (fired, created) = tokio::join!(fired, up.creates("pass", || over.get()));
    report.add(format!("{count} overdue fired"), count as f64 / fired?.duration_since(begun).as_secs_f64(), "/s");
    let rate = created?.1;
    report.add("instances meanwhile", rate, "/s");
    let (_, alone) = up.creates("pass", after(MEASURED)).await?;
    report.add("instances after that", alone, "/s");
    report.add("share of the rate after that", rate / alone * 100.0, "%");
    up.stop();
    Ok(())
}

/// Pending timers that nobody waits for, due long after.
async fn fill(fresh: &Fresh, count: u64) -> Result<(), String> {
    if count == 0 {
        return Ok(());
    }
    let store = crate::serve::open(&store_url(&fresh.url())?, &Access::default()).await?;
    let told = |error: store::Error| error.to_string();
    let owned = store.acquire(PARTITION, "bench", Duration::from_secs(3_600)).await.map_err(told)?;
    let mut owned = owned.ok_or("somebody else owns the store")?;
    let named = store.process_named(PARTITION, "nap", TENANT).await.map_err(told)?;
    let definition = named.latest.ok_or("the process is not there")?.key;
    for first in (0..count).step_by(FILL) {
        let rows = (first..count.min(first + FILL as u64)).collect::<Vec<_>>().len();
        let commit = pending(&mut owned, definition, rows);
        store.commit(commit).await.map_err(|error| error.to_string())?;
    }
    store.release(owned.fence).await.map_err(told)
}

fn pending(owned: &mut Ownership, definition: engine::DefinitionKey, rows: usize) -> Commit {
    let mut keys = Keys::starting_at(owned.next_key);
    let (instance, element_instance) = (InstanceKey(keys.take()), ElementKey(keys.take()));
    let timers = (0..rows).map(|_| {
        let key = keys.take();
        Timer {
            key: TimerKey(key),
            wait: WaitKey(key),
            origin: Some(WaitOrigin { instance, element_instance }),
            definition,
            tenant: TENANT.into(),
            element: ElementIx(2),
            kind: TimerKind::Duration,
            text: "PT1000H".into(),
            armed: owned.now,
            number: 1,
            due: owned.now + FAR + key as i64 % 1_000_000,
            state: TimerState::Pending,
            created: owned.now,
            ended: None,
        }
    });
    let changes = Changes { timers_new: timers.collect(), ..Changes::default() };
    let first_key = std::mem::replace(&mut owned.next_key, keys.next_key());
    Commit {
        fence: owned.fence,
        first_key,
        next_key: keys.next_key(),
        log: Vec::new(),
        inbox_to: owned.inbox_to,
        answers: Vec::new(),
        now: owned.now,
        changes,
        wake: false,
    }
}

/// How late the last timers fired, in milliseconds, as their rows say.
async fn lateness(fresh: &Fresh, count: u64) -> Result<Vec<i64>, String> {
    let store = crate::serve::open(&store_url(&fresh.url())?, &Access::default()).await?;
    let query = Query {
        filter: Filter::Is(Field::TimerState, Op::Eq(Scalar::Text("FIRED".to_owned()))),
        sort: vec![Sort { field: Field::TimerKey, order: Order::Descending }],
        page: Page::From { from: 0, limit: u32::try_from(count).unwrap_or(u32::MAX) },
        ..Query::of(Entity::Timers, Tenants::These(vec![TENANT.into()]))
    };
    match store.search(&query).await.map_err(|error| error.to_string())?.items {
        Items::Timers(timers) => Ok(timers.iter().filter_map(|timer| Some(timer.ended? - timer.due)).collect()),
        _ => Err("timers were asked for".to_owned()),
    }
}

/// A server that is up.
struct Up {
    server: Server,
    rest: String,
    metrics: String,
    ready: Duration,
}

impl Up {
    async fn start(fresh: &Fresh) -> Result<Self, String> {
        let [rest, grpc, metrics] = free_addresses()?;
        let begun = Instant::now();
        let mut server = Server::start(&fresh.url(), [&rest, &grpc, &metrics], &[])?;
        server.ready(&metrics).await?;
        Ok(Self { server, rest, metrics, ready: begun.elapsed() })
    }

    /// As an operator stops it: its lease is free at once.
    fn stop(self) {
        self.server.stop();
    }

    async fn deploy(&self) -> Result<(), String> {
        Connection::to(&self.rest).deploy("timers.bpmn", BPMN, PATIENCE).await
    }

    /// Starts instances until it is over; gives their keys and how many there were per second.
    async fn creates(&self, process: &str, is_over: impl Fn() -> bool) -> Result<(Vec<String>, f64), String> {
        let (begun, is_over) = (Instant::now(), &is_over);
        let wait: Arc<str> = format!("PT{}S", FAR / 1_000).into();
        let clients = (0..CLIENTS).map(|_| {
            let wait = wait.clone();
            async move {
                let (mut connection, mut keys) = (Connection::to(&self.rest), Vec::new());
                while !is_over() {
                    keys.push(create(&mut connection, process, &wait).await?);
                }
                Ok::<_, String>(keys)
            }
        });
        let keys = all(clients).await?.concat();
        let rate = keys.len() as f64 / begun.elapsed().as_secs_f64();
        Ok((keys, rate))
    }

    /// So many timers, each due when it says.
    async fn arm(&self, count: u64, due: impl Fn(u64) -> Instant) -> Result<(), String> {
        let due = &due;
        let clients = (0..CLIENTS as u64).map(|client| async move {
            let mut connection = Connection::to(&self.rest);
            for number in (client..count).step_by(CLIENTS) {
                let wait = due(number).saturating_duration_since(Instant::now());
                let wait = format!("PT{}.{:03}S", wait.as_secs(), wait.subsec_millis());
                create(&mut connection, "nap", &wait).await?;
            }
            Ok::<_, String>(())
        });
        all(clients).await.map(drop)
    }

    /// Cancels them all; gives how many per second.
    async fn cancel(&self, keys: Vec<String>) -> Result<f64, String> {
        let (begun, keys) = (Instant::now(), &keys);
        let clients = (0..CLIENTS).map(|client| async move {
            let mut connection = Connection::to(&self.rest);
            for key in keys.iter().skip(client).step_by(CLIENTS) {
                let path = format!("/v2/process-instances/{key}/cancellation");
                connection.post(&path, b"{}", PATIENCE).await?.expect_success()?;
            }
            Ok::<_, String>(())
        });
        all(clients).await?;
        Ok(keys.len() as f64 / begun.elapsed().as_secs_f64())
    }

    /// Waits until this server has fired so many timers; gives when.
    async fn fired(&self, count: u64) -> Result<Instant, String> {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(120) {
            let answer = Connection::to(&self.metrics).get("/metrics", PATIENCE).await?;
            let text = String::from_utf8_lossy(&answer.body).into_owned();
            let line = text.lines().find_map(|line| line.strip_prefix("caudal_timers_fired_total "));
            if line.and_then(|number| number.trim().parse::<u64>().ok()).is_some_and(|fired| count <= fired) {
                return Ok(Instant::now());
            }
            // Seldom: being asked costs the server what is to be measured.
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Err("the timers did not fire within 120 s".to_owned())
    }
}

fn after(length: Duration) -> impl Fn() -> bool {
    let begun = Instant::now();
    move || length <= begun.elapsed()
}

async fn create(connection: &mut Connection, process: &str, wait: &str) -> Result<String, String> {
    let body = format!(r#"{{"processDefinitionId":"{process}","variables":{{"wait":"{wait}"}}}}"#);
    let answer = connection.post("/v2/process-instances", body.as_bytes(), PATIENCE).await?.expect_success()?;
    let answer: Value = serde_json::from_slice(&answer).map_err(|error| error.to_string())?;
    answer["processInstanceKey"].as_str().map(str::to_owned).ok_or_else(|| format!("no key in {answer}"))
}

/// All at the same time; the first that fails ends it.
pub(super) async fn all<T>(futures: impl Iterator<Item = impl Future<Output = Result<T, String>>>) -> Result<Vec<T>, String> {
    let mut running: Vec<_> = futures.map(Box::pin).map(|future| (future, None)).collect();
    std::future::poll_fn(|context| {
        let mut done = true;
        for (future, result) in &mut running {
            if result.is_none() {
                match future.as_mut().poll(context) {
                    std::task::Poll::Ready(Ok(value)) => *result = Some(value),
                    std::task::Poll::Ready(Err(reason)) => return std::task::Poll::Ready(Err(reason)),
                    std::task::Poll::Pending => done = false,
                }
            }
        }
        if done { std::task::Poll::Ready(Ok(())) } else { std::task::Poll::Pending }
    })
    .await?;
    Ok(running.into_iter().filter_map(|(_, result)| result).collect())
}
