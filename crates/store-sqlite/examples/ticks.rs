//! How many instances of a one-task process the store can write: `cargo run --release --example ticks [seconds] [folder]`.
//!
//! Every instance takes three commits (created; job handed out; job completed), each for a whole batch, and 3 log rows, 1
//! instance, 3 elements, 2 variables, 1 job: 10 rows inserted and 4 changed.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a measurement, not part of the product")]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use engine::{PartitionId, Phase};
use model::ElementIx;
use store::conformance::rows;
use store::query::{Entity, Field, Filter, Op, Order, Page, Query, Scalar, Sort};
use store::row::{Availability, Element, ElementState, Instance, InstanceState, Job, JobState};
use store::{Changes, Commit, ElementChange, InstanceChange, LogRow, Ownership, Store, Wanted};
use store_sqlite::Sqlite;

const PARTITION: PartitionId = PartitionId(1);

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().map_or(5, |seconds| seconds.parse().expect("a number of seconds"));
    let folder = arguments.next().map_or_else(|| std::env::temp_dir().join("caudal-ticks"), PathBuf::from);
    for batch in [1, 10, 50, 200, 500] {
        let _ = std::fs::remove_dir_all(&folder);
        let store = store_sqlite::open(&folder).unwrap();
        let mut bench = Bench::start(&store).await;
        let begun = Instant::now();
        let cpu = cpu_time();
        let mut instances = 0;
        while begun.elapsed() < Duration::from_secs(seconds) {
            bench.batch(batch).await;
            instances += batch;
        }
        let elapsed = begun.elapsed();
        println!(
            "batch {batch:>4}: {:>8.0} instances/s, {:>6.1} µs of CPU each, {:>6.2} ms a commit",
            instances as f64 / elapsed.as_secs_f64(),
            (cpu_time() - cpu) * 1e6 / instances as f64,
            elapsed.as_secs_f64() * 1e3 / (instances / batch * 3) as f64,
        );
        if batch == 500 {
            reads(&store, bench.ownership.next_key).await;
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
}

struct Bench<'a> {
    store: &'a Sqlite,
    ownership: Ownership,
    definition: u64,
    now: i64,
}

impl<'a> Bench<'a> {
    async fn start(store: &'a Sqlite) -> Self {
        let ownership = store.acquire(PARTITION, "bench", Duration::from_secs(60)).await.unwrap().unwrap();
        let mut bench = Self { store, ownership, definition: PARTITION.first_key(), now: 1_700_000_000_000 };
        bench.ownership.next_key += 1;
        let definition = rows::definition(bench.definition, "one-task", 1);
        bench.commit(1, Changes { definitions_new: vec![definition], ..Changes::default() }).await;
        bench
    }

    fn key(&mut self) -> u64 {
        self.ownership.next_key += 1;
        self.ownership.next_key - 1
    }

    async fn commit(&mut self, commands: usize, changes: Changes) {
        let tail = self.ownership.tail;
        let row = |position| LogRow {
            position,
            kind: "create",
            instance: changes.instances_new.first().map(|one| one.key),
            events: vec![9; 150],
            answer: None,
        };
        let appended: Vec<LogRow> = (tail + 1..=tail + commands as u64).map(row).collect();
        self.ownership.tail += commands as u64;
        self.now += 7;
        let commit = Commit {
            fence: self.ownership.fence,
            tail,
            processed: vec![],
            appended,
            processed_to: self.ownership.tail,
            next_key: self.ownership.next_key,
            now: self.now,
            changes,
            wake: false,
        };
        self.store.commit(commit).await.unwrap();
    }

    async fn batch(&mut self, count: usize) {
        let mut running: Vec<(Instance, Element, Job)> = Vec::with_capacity(count);
        let mut changes = Changes::default();
        for _ in 0..count {
            let mut instance = rows::instance(self.key(), self.definition);
            instance.started = self.now;
            let mut start = rows::element(self.key(), &instance);
            start.element = ElementIx(1);
            start.state = ElementState::Completed;
            start.ended = Some(self.now);
            let task = rows::element(self.key(), &instance);
            let job = rows::job(self.key(), &task);
            changes.variables_new.push(rows::variable(self.key(), &instance, "order", "{\"id\":4711,\"total\":99.5}"));
            changes.instances_new.push(instance.clone());
            changes.elements_new.extend([start, task.clone()]);
            changes.jobs_new.push(job.clone());
            running.push((instance, task, job));
        }
        self.commit(count, changes).await;
        let mut changes = Changes::default();
        for (_, _, job) in &mut running {
            job.availability = Availability::Leased;
            job.deadline = Some(self.now + 60_000);
            job.worker = "worker".into();
            changes.jobs_changed.push(job.clone());
        }
        self.commit(count, changes).await;
        let mut changes = Changes::default();
        let ended = Some(self.now);
        for (instance, task, job) in &mut running {
            job.availability = Availability::Done;
            job.state = JobState::Completed;
            job.ended = ended;
            changes.jobs_changed.push(job.clone());
            let state = ElementState::Completed;
            changes.elements_changed.push(ElementChange { key: task.key, state, ended, incident: None });
            let mut end = rows::element(self.key(), instance);
            end.element = ElementIx(3);
            end.state = state;
            end.ended = ended;
            changes.elements_new.push(end);
            changes.variables_new.push(rows::variable(self.key(), instance, "done", "true"));
            changes.instances_changed.push(InstanceChange {
                key: instance.key,
                state: InstanceState::Completed,
                phase: Phase::Leaving,
                ended,
                tokens: Vec::new(),
                incidents: 0,
            });
        }
        self.commit(count, changes).await;
    }
}

/// What reading costs with all that history.
async fn reads(store: &Sqlite, last_key: u64) {
    let middle = (PARTITION.first_key() + last_key) / 2;
    let instances = Query { page: Page::From { from: 0, limit: 50 }, ..Query::of(Entity::Instances) };
    let page = store.search(&Query { filter: Filter::Is(Field::InstanceKey, Op::Gt(key(middle))), ..instances.clone() }).await;
    let cursor = page.unwrap().start.expect("there are many");
    let Some(Scalar::Int(instance)) = cursor.0[0].clone() else { panic!("a key") };
    let by_start = vec![Sort { field: Field::Started, order: Order::Descending }];
    let of_instance =
        |entity| Query { filter: Filter::Is(Field::InstanceKey, Op::Eq(Scalar::Int(instance))), ..Query::of(entity) };
    let started = |page: &store::query::QueryPage| page.end.clone().expect("there are many");
    let latest = store.search(&Query { sort: by_start.clone(), ..instances.clone() }).await.unwrap();
    let searches = [
        ("instance by key", of_instance(Entity::Instances)),
        ("elements of an instance", of_instance(Entity::Elements)),
        ("variables of an instance", of_instance(Entity::Variables)),
        ("jobs of an instance", of_instance(Entity::Jobs)),
        (
            "running instances",
            Query { filter: Filter::Is(Field::InstanceState, Op::Eq(Scalar::Text("ACTIVE".into()))), ..instances.clone() },
        ),
        ("page after a cursor", Query { page: Page::After { cursor: cursor.clone(), limit: 50 }, ..instances.clone() }),
        ("latest started", Query { sort: by_start.clone(), ..instances.clone() }),
        (
            "next of latest started",
            Query { sort: by_start, page: Page::After { cursor: started(&latest), limit: 50 }, ..instances.clone() },
        ),
        (
            "instances of a definition",
            Query { filter: Filter::Is(Field::DefinitionKey, Op::Eq(key(PARTITION.first_key()))), ..instances.clone() },
        ),
        (
            "elements by element id",
            Query { filter: Filter::Is(Field::ElementId, Op::Eq(Scalar::Text("work".into()))), ..Query::of(Entity::Elements) },
        ),
    ];
    for (name, query) in searches {
        let begun = Instant::now();
        let mut times = 0;
        while times < 200 && begun.elapsed() < Duration::from_secs(2) {
            store.search(&query).await.unwrap();
            times += 1;
        }
        println!("{name:>28}: {:>8.1} µs", begun.elapsed().as_secs_f64() * 1e6 / f64::from(times));
    }
    let wanted = Wanted { instances: vec![engine::InstanceKey(instance as u64)], ..Wanted::default() };
    let begun = Instant::now();
    for _ in 0..200 {
        store.load(PARTITION, &wanted, 0).await.unwrap();
    }
    println!("{:>28}: {:>8.1} µs", "load of an ended instance", begun.elapsed().as_secs_f64() * 1e6 / 200.0);
}

fn key(key: u64) -> Scalar {
    Scalar::Int(key as i64)
}

/// Seconds of CPU this process has used.
fn cpu_time() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|ticks| ticks.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}
