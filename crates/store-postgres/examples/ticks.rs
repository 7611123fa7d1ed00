//! How many one-task instances per second the store takes: the rows of start → service task → end, written by three ticks
//! (created; job leased; job completed), so many instances per tick. No engine, no clients: this is the floor.
//!
//! `cargo run --release -p store-postgres --example ticks -- URL [SECONDS] [BATCH…]`; the database must be empty or a former
//! bench's. With several partitions (`PARTITIONS=2`) each has a server of its own.

#![allow(clippy::print_stdout, reason = "its output is what it is for")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::{DefinitionKey, ElementKey, InstanceKey, JobKey, Keys, PartitionId, Phase, VariableKey};
use model::ElementIx;
use store::row::{Availability, Element, ElementState, Instance, InstanceState, Job, JobState, Variable};
use store::{Changes, Commit, ElementChange, InstanceChange, LogRow, Ownership, Store};
use store_postgres::{Options, Postgres};

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or("the first argument is the URL of a database")?;
    let seconds = arguments.next().map_or(Ok(5), |text| text.parse::<u64>())?;
    let mut batches = arguments.map(|text| text.parse::<usize>()).collect::<Result<Vec<_>, _>>()?;
    if batches.is_empty() {
        batches = vec![50, 200, 500];
    }
    let partitions = std::env::var("PARTITIONS").map_or(Ok(1), |text| text.parse::<u16>())?;
    for batch in batches {
        let run = (1..=partitions).map(|partition| {
            let url = url.clone();
            tokio::spawn(async move { bench(&url, PartitionId(partition), batch, Duration::from_secs(seconds)).await })
        });
        let mut rate = 0.0;
        for one in run.collect::<Vec<_>>() {
            rate += one.await??;
        }
        println!("batch {batch:4}: {rate:8.0} instances/s");
    }
    Ok(())
}

async fn bench(url: &str, partition: PartitionId, batch: usize, length: Duration) -> Result<f64, Failure> {
    let store = Postgres::connect(url, Options::default()).await?;
    let owned = store.acquire(partition, "bench", Duration::from_secs(3600)).await?.ok_or("another bench runs")?;
    let mut owner = Owner { keys: Keys::starting_at(owned.next_key), owned };
    let begun = Instant::now();
    let mut instances = 0;
    while begun.elapsed() < length {
        let mut work: Vec<Work> = (0..batch).map(|_| Work::new(&mut owner.keys)).collect();
        for step in [created, leased, completed] {
            let mut changes = Changes::default();
            for one in &mut work {
                step(one, owner.owned.now, &mut owner.keys, &mut changes);
            }
            let commit = owner.tick(&work, changes);
            owner.owned.now = store.commit(commit).await?;
        }
        instances += batch;
    }
    Ok(instances as f64 / begun.elapsed().as_secs_f64())
}

struct Owner {
    owned: Ownership,
    keys: Keys,
}

impl Owner {
    /// Each instance had one command of its own.
    fn tick(&mut self, work: &[Work], changes: Changes) -> Commit {
        let tail = self.owned.tail;
        let row = |(position, one): (u64, &Work)| LogRow {
            position,
            kind: "create",
            instance: Some(one.instance),
            events: vec![7; 150],
            answer: None,
        };
        let appended: Vec<LogRow> = (tail + 1..).zip(work).map(row).collect();
        self.owned.tail += appended.len() as u64;
        Commit {
            fence: self.owned.fence,
            tail,
            processed: Vec::new(),
            appended,
            processed_to: self.owned.tail,
            next_key: self.keys.next_key(),
            now: self.owned.now,
            changes,
            wake: false,
        }
    }
}

/// An instance on its way.
struct Work {
    instance: InstanceKey,
    task: ElementKey,
    job: Option<Job>,
}

impl Work {
    fn new(keys: &mut Keys) -> Self {
        Self { instance: InstanceKey(keys.take()), task: ElementKey(keys.take()), job: None }
    }

    fn element(&self, key: ElementKey, element: u32, state: ElementState, now: i64) -> Element {
        let ended = match state {
            ElementState::Alive(_) => None,
            ElementState::Completed | ElementState::Terminated => Some(now),
        };
        Element {
            key,
            instance: self.instance,
            definition: DefinitionKey(1),
            element: ElementIx(element),
            scope: self.instance.root(),
            state,
            started: now,
            ended,
            incident: None,
        }
    }

    fn variable(&self, keys: &mut Keys, name: &str, bytes: usize) -> Variable {
        Variable {
            key: VariableKey(keys.take()),
            instance: self.instance,
            definition: DefinitionKey(1),
            scope: self.instance.root(),
            name: name.into(),
            value: format!("\"{}\"", "x".repeat(bytes)).into(),
        }
    }
}

fn created(work: &mut Work, now: i64, keys: &mut Keys, changes: &mut Changes) {
    changes.instances_new.push(Instance {
        key: work.instance,
        definition: DefinitionKey(1),
        state: InstanceState::Active,
        phase: Phase::Active,
        started: now,
        ended: None,
        parent: None,
        root: work.instance,
        tags: Vec::new(),
        business_id: None,
        tokens: Vec::new(),
        incidents: 0,
    });
    changes.elements_new.push(work.element(ElementKey(keys.take()), 1, ElementState::Completed, now));
    changes.elements_new.push(work.element(work.task, 2, ElementState::Alive(Phase::Active), now));
    changes.variables_new.push(work.variable(keys, "input", 500));
    let empty: Arc<str> = "".into();
    let job = Job {
        key: JobKey(keys.take()),
        instance: work.instance,
        definition: DefinitionKey(1),
        element: ElementIx(2),
        element_instance: work.task,
        job_type: "bench".into(),
        tenant: "<default>".into(),
        state: JobState::Created,
        availability: Availability::Ready,
        retries: 3,
        worker: empty.clone(),
        deadline: None,
        error_code: empty.clone(),
        error_message: empty,
        failed_with_retries_left: false,
        created: now,
        updated: now,
        ended: None,
    };
    // With a worker waiting, the job is leased as it comes into being.
    if std::env::var_os("LEASED").is_some() {
        changes.jobs_new.push(lease(&job, now));
    } else {
        changes.jobs_new.push(job.clone());
    }
    work.job = Some(job);
}

fn leased(work: &mut Work, now: i64, _: &mut Keys, changes: &mut Changes) {
    if std::env::var_os("LEASED").is_none() {
        changes.jobs_changed.extend(work.job.as_ref().map(|job| lease(job, now)));
    }
}

fn lease(job: &Job, now: i64) -> Job {
    Job { availability: Availability::Leased, worker: "worker".into(), deadline: Some(now + 30_000), ..job.clone() }
}

fn completed(work: &mut Work, now: i64, keys: &mut Keys, changes: &mut Changes) {
    let done = |job: &Job| Job {
        state: JobState::Completed,
        availability: Availability::Done,
        worker: "worker".into(),
        updated: now,
        ended: Some(now),
        ..job.clone()
    };
    changes.jobs_changed.extend(work.job.as_ref().map(done));
    changes.variables_new.push(work.variable(keys, "result", 20));
    changes.elements_changed.push(ElementChange {
        key: work.task,
        state: ElementState::Completed,
        ended: Some(now),
        incident: None,
    });
    changes.elements_new.push(work.element(ElementKey(keys.take()), 3, ElementState::Completed, now));
    changes.instances_changed.push(InstanceChange {
        key: work.instance,
        state: InstanceState::Completed,
        phase: Phase::Leaving,
        ended: Some(now),
        tokens: Vec::new(),
        incidents: 0,
    });
}
