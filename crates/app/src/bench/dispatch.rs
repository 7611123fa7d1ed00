//! `caudal bench process --dispatch kafka`: jobs through a broker next to jobs that workers ask for, in one run.

use std::sync::Arc;

use serde_json::json;
use tokio::task::JoinSet;

use super::caller::{Endpoints, Speech};
use super::options::{BenchProcess, BenchRun};
use super::report::{Report, millis};
use super::run::Run;
use super::target::Target;
use super::{What, measure};
use crate::table;

/// As fast as each goes; then both at a tenth of the slower one's rate, where nothing waits for room.
const SHARE: f64 = 0.1;

pub(super) async fn compare(options: &BenchProcess, speech: Speech) -> Result<(), String> {
    let brokers = options.brokers.as_deref().ok_or("--dispatch kafka needs --brokers")?;
    let mut measured = Vec::new();
    let mut rate = options.run.rate;
    for pace in ["full", "a tenth"] {
        for (dispatch, through) in [("polling", None), ("kafka", Some(brokers))] {
            eprintln!("{dispatch}, {pace}");
            let run = BenchRun { rate, ..options.run.clone() };
            measured.push((dispatch, pace, one(options, &run, speech, through).await?));
        }
        let slowest = measured.iter().map(|(_, _, report)| report.instances_per_second).fold(f64::MAX, f64::min);
        rate = Some(((slowest * SHARE) as u32).max(1));
    }
    show(&measured, options.run.json)
}

async fn one(options: &BenchProcess, run: &BenchRun, speech: Speech, brokers: Option<&str>) -> Result<Report, String> {
    let settings = brokers.map_or(Vec::new(), |brokers| vec!["--dispatch", "kafka_outbox", "--kafka-brokers", brokers]);
    let target = Target::start(run.store.as_deref(), &settings).await?;
    let measured = measure(run, speech, &What::Process(options), (&target, brokers)).await;
    if let (Err(reason), Some(log)) = (&measured, target.log()) {
        eprintln!("caudal: {reason}; the server's last words:\n{log}");
    }
    if let Some(fresh) = target.stop() {
        fresh.remove().await?;
    }
    measured
}

fn show(measured: &[(&str, &str, Report)], is_json: bool) -> Result<(), String> {
    if is_json {
        let all = measured.iter().map(|(dispatch, pace, report)| {
            let [p50, p95, p99] = millis(&report.times.activation);
            json!({
                "dispatch": dispatch, "pace": pace, "jobsPerSecond": report.instances_per_second.round(),
                "createToConsumedMs": { "p50": p50, "p95": p95, "p99": p99 },
                "createMs": { "p50": millis(&report.times.create)[0] }, "serverCpuMicrosPerInstance": report.server_cpu_micros,
            })
        });
        let text = serde_json::to_string_pretty(&all.collect::<Vec<_>>()).map_err(|error| error.to_string())?;
        table::print(&format!("{text}\n"));
        return Ok(());
    }
    let row = |(dispatch, pace, report): &(&str, &str, Report)| {
        let cells = [(*dispatch).to_owned(), (*pace).to_owned(), format!("{:.0}", report.instances_per_second)];
        let created = std::iter::once(millis(&report.times.create)[0]);
        let times = created.chain(millis(&report.times.activation)).map(|millis| format!("{millis:.2}"));
        let cpu = report.server_cpu_micros.map_or(String::new(), |micros| format!("{micros:.0}"));
        cells.into_iter().chain(times).chain([cpu]).collect()
    };
    let head = ["DISPATCH", "PACE", "JOBS/S", "CREATE P50 MS", "CREATE → CONSUMED P50", "P95", "P99", "SERVER CPU µS"];
    table::print(&table::table(&head, &measured.iter().map(row).collect::<Vec<_>>()));
    Ok(())
}

/// Workers that hear of their jobs, as members of one group.
#[cfg(feature = "kafka")]
pub(super) async fn spawn(
    tasks: &mut JoinSet<()>,
    run: &Arc<Run>,
    endpoints: &Endpoints,
    (count, brokers): (u32, &str),
) -> Result<(), String> {
    let topic_prefix = "workflow.jobs.".to_owned();
    let options = kafka::Options { brokers: brokers.to_owned(), topic_prefix, sasl: None };
    for job_type in &run.subject.job_types {
        kafka::make_topic(&options, job_type, count).await?;
        for _ in 0..count {
            let listener = kafka::Listener::join(&options, job_type, job_type).await?;
            let caller = endpoints.connect().await?;
            let hands = Arc::new(super::workers::Hands::of(&caller, endpoints.speech.jobs_per_worker()));
            tasks.spawn(hear(run.clone(), listener, hands));
        }
    }
    Ok(())
}

#[cfg(feature = "kafka")]
async fn hear(run: Arc<Run>, listener: kafka::Listener, hands: Arc<super::workers::Hands>) {
    while !run.is_stopping() || 0 < run.running() {
        match listener.next().await {
            Ok(events) => {
                let job = |event: kafka::JobDispatchEvent| super::caller::Job {
                    key: event.job_id.parse().unwrap_or(0),
                    variables: String::from_utf8(event.job_payload).unwrap_or_default(),
                };
                super::workers::take_on(&run, &hands, events.into_iter().map(job).collect()).await;
            }
            Err(reason) => run.failed(reason),
        }
    }
}

#[cfg(not(feature = "kafka"))]
pub(super) async fn spawn(_: &mut JoinSet<()>, _: &Arc<Run>, _: &Endpoints, _: (u32, &str)) -> Result<(), String> {
    Err("this server was built without Kafka: build it with its default features".to_owned())
}
