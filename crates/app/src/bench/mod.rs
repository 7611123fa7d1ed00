//! `caudal bench process`: how many instances a server completes, how fast, and at what cost: of start → service task → end, or of a model
//! of somebody's own.
//!
//! Reading order: this file (the course of a run), `subject` (the process and its variables; `model` reads one of somebody's own), `run` (what starters and workers share and
//! what they measured), `starters`, `workers`, `caller` (one request at a time over gRPC or REST; `http` is the little it needs of HTTP),
//! `target` (the server under test and its fresh store), `usage` (its memory and CPU), `floor` (the same rows without the engine), `report`.
//!
//! An instance's variables carry its number, so a worker knows whose job it has without asking anybody.
//!
//! Deliberately absent: anything a client of the server could not do, except in `floor`.

pub(crate) mod batch;
mod caller;
pub(crate) mod crowd;
mod database;
mod dispatch;
mod floor;
mod fresh;
mod grpc;
mod histogram;
mod http;
mod model;
pub(crate) mod options;
pub(crate) mod queue;
mod report;
mod run;
pub(crate) mod search;
mod starters;
mod steps;
mod subject;
mod target;
pub(crate) mod tasks;
pub(crate) mod timers;
mod usage;
mod workers;

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::config::Access;
use caller::{Endpoints, Speech};
use model::Model;
use options::{BenchProcess, BenchRun, BenchWorkflow, Dispatch, Polling, Protocol};
use report::{Report, Spent};
use run::{Limits, Run};
use subject::{Size, Subject};
use target::Target;

const PROGRESS_EVERY: Duration = Duration::from_secs(1);
/// How long what was begun may take to end when nothing more is started.
const DRAIN_MAX: Duration = Duration::from_secs(15);
/// How long the floor is measured.
const FLOOR: Duration = Duration::from_secs(5);
/// Instances per commit where the server's own ticks are not known.
const FLOOR_BATCH: usize = 50;
/// Instances that may be running, for each that may be in creation.
const RUNNING_PER_STARTER: usize = 4;

pub(crate) fn process(options: &BenchProcess) -> Result<(), String> {
    let speech = match options.protocol {
        Protocol::Grpc => Speech::Grpc,
        Protocol::Rest => Speech::Rest,
    };
    match options.dispatch {
        Dispatch::Polling => run(&options.run, speech, &What::Process(options)),
        Dispatch::Kafka => runtime()?.block_on(dispatch::compare(options, speech)),
    }
}

/// `caudal bench workflow`: the same for a JSON workflow over `/v1`.
pub(crate) fn workflow(options: &BenchWorkflow) -> Result<(), String> {
    let speech = match options.polling {
        Polling::Contract => Speech::WORKFLOW_CONTRACT,
        Polling::Waiting => Speech::WORKFLOW_WAITING,
    };
    run(&options.run, speech, &What::Workflow)
}

enum What<'a> {
    Process(&'a BenchProcess),
    Workflow,
}

fn run(options: &BenchRun, speech: Speech, what: &What<'_>) -> Result<(), String> {
    runtime()?.block_on(bench(options, speech, what))
}

/// One thread: starters and workers are not what is measured, and share the machine with it.
fn runtime() -> Result<tokio::runtime::Runtime, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| format!("cannot start: {error}"))
}

async fn bench(options: &BenchRun, speech: Speech, what: &What<'_>) -> Result<(), String> {
    let target = Target::of(options).await?;
    let measured = tokio::select! {
        measured = measure(options, speech, what, (&target, None)) => measured,
        _ = tokio::signal::ctrl_c() => Err("interrupted".to_owned()),
    };
    if let (Err(reason), Some(log)) = (&measured, target.log()) {
        eprintln!("caudal: {reason}; the server's last words:\n{log}");
    }
    let fresh = target.stop();
    let report = match (measured, what) {
        (Ok(report), What::Process(process)) if process.floor => tokio::select! {
            floor = measure_floor(process, fresh.as_ref(), report.instances_per_tick) => floor.map(|rate| report.with_floor(rate)),
            _ = tokio::signal::ctrl_c() => Err("interrupted".to_owned()),
        },
        (measured, What::Process(_) | What::Workflow) => measured,
    };
    if let Some(fresh) = fresh {
        fresh.remove().await?;
    }
    report?.show(options.json)
}

/// Jobs come through brokers where some are named.
async fn measure(
    options: &BenchRun,
    speech: Speech,
    what: &What<'_>,
    (target, brokers): (&Target, Option<&str>),
) -> Result<Report, String> {
    let endpoints = Endpoints { rest: target.rest.clone(), grpc: target.grpc.clone(), speech };
    let subject = deployed(options, what, &endpoints).await?;
    let running = options.running.map_or(options.starters as usize * RUNNING_PER_STARTER, |running| running as usize);
    let run = Arc::new(Run::new(subject, Limits { running, workers: options.workers, rate: options.rate }));
    let mut tasks = JoinSet::new();
    match brokers {
        None => workers::spawn(&mut tasks, &run, &endpoints, options.workers).await?,
        Some(brokers) => dispatch::spawn(&mut tasks, &run, &endpoints, (options.workers, brokers)).await?,
    }
    starters::spawn(&mut tasks, &run, &endpoints, options.starters).await?;
    // Caches fill, plans are made and files grow before anything counts.
    watch(&run, Duration::from_secs(options.warm_up), None, "warming up").await;
    let before = Spent::so_far(target, &run).await;
    run.count();
    let begun = Instant::now();
    let length = if options.instances.is_some() { Duration::MAX } else { Duration::from_secs(options.seconds) };
    watch(&run, length, options.instances, "measuring").await;
    let seconds = begun.elapsed().as_secs_f64();
    let after = Spent::so_far(target, &run).await;
    run.stop();
    drain(&run).await;
    if let Some((failures, first)) = run.failures() {
        eprintln!("caudal: {failures} requests failed; the first: {first}");
    }
    Report::of(&run, seconds, &before, &after)
}

async fn deployed(options: &BenchRun, what: &What<'_>, endpoints: &Endpoints) -> Result<Subject, String> {
    let size = Size::of(options);
    let mut subject = match what {
        What::Workflow => Subject::workflow(size),
        What::Process(process) => match Model::of(process)? {
            None => Subject::line(size, process.tasks),
            Some(model) => Subject::of(model, size, process.steps),
        },
    };
    endpoints.deploy(&subject).await?;
    if subject.steps == Subject::STEPS_UNKNOWN {
        subject.steps = steps::of(&subject, endpoints).await?;
    }
    Ok(subject)
}

/// Lets the run go on for a time or until so many more instances are completed, and says every second how it goes.
async fn watch(run: &Run, length: Duration, instances: Option<u64>, what: &str) {
    let begun = Instant::now();
    let goal = instances.map_or(u64::MAX, |instances| run.completed() + instances);
    let mut completed = run.completed();
    while begun.elapsed() < length && run.completed() < goal {
        let since = Instant::now();
        tokio::time::sleep(PROGRESS_EVERY.min(length - begun.elapsed().min(length))).await;
        let rate = (run.completed() - completed) as f64 / since.elapsed().as_secs_f64();
        completed = run.completed();
        let (running, failed) = (run.running(), run.failures().map_or(0, |(count, _)| count));
        eprintln!("{what}  {:>3} s  {rate:>7.0} instances/s  {running:>5} running  {failed} failed", begun.elapsed().as_secs());
    }
}

async fn drain(run: &Run) {
    let begun = Instant::now();
    while 0 < run.running() && begun.elapsed() < DRAIN_MAX {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    if 0 < run.running() {
        eprintln!("caudal: {} instances did not end within {} s", run.running(), DRAIN_MAX.as_secs());
    }
}

async fn measure_floor(options: &BenchProcess, fresh: Option<&fresh::Fresh>, batch: Option<f64>) -> Result<f64, String> {
    let fresh = fresh.ok_or("the floor needs a store of its own: leave --url out")?;
    let batch = batch.map_or(FLOOR_BATCH, |batch| (batch.round() as usize).max(1));
    eprintln!("measuring the floor: {batch} instances per commit");
    let store = crate::serve::open(&fresh.again().await?, &Access::default()).await?;
    let subject = Subject::line(Size::of(&options.run), options.tasks);
    floor::measure(&*store, &subject, batch, FLOOR).await
}
