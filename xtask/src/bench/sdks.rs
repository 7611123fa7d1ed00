//! What a worker of each SDK does when its handlers do nothing: jobs per second, CPU, and what it costs while there is nothing to do.

use std::process::Stdio;
use std::time::{Duration, Instant};

use super::machine::{Moment, Share};
use super::{Bench, one, usage};
use crate::children::{Farewell, Running};
use crate::environment::Readiness;
use crate::sdks::{self, Sdk};
use crate::server::{self, Data, Server, Store};

/// What the handlers of the programs are for.
const ACTION: &str = "work";
/// What is measured: over Kafka it would be the broker.
const PROTOCOLS: [&str; 2] = ["rest", "grpc"];
const JOBS: usize = 20_000;
/// Done before anything counts: compilers at run time and connections have warmed up by then.
const WARM: usize = JOBS / 4;
const SUBMITTED_AT_ONCE: usize = 1_000;
/// Handlers at once, as many as the jobs of one worker of `caudal bench`.
const PARALLEL: &str = "32";
const DONE_MAX: Duration = Duration::from_secs(300);
/// What a run leaves to do is done by then.
const SETTLE: Duration = Duration::from_secs(5);
const IDLE: Duration = Duration::from_secs(30);

struct Measured {
    rate: f64,
    worker: Duration,
    server: Duration,
    idle: Duration,
    memory_mb: f64,
    others: Share,
}

pub(super) fn run(bench: &Bench, only: Option<&str>) -> Result<(), String> {
    let chosen = only.map_or_else(|| Ok(sdks::ALL.to_vec()), sdks::choose)?;
    println!("| worker | protocol | jobs/s | its CPU per job | the server's | idle: CPU a minute | memory | others |");
    println!("|---|---|---|---|---|---|---|---|");
    for protocol in PROTOCOLS {
        // What it starts itself is in its rate as well.
        let (own, others) = one(bench, Store::Sqlite, &["--protocol", protocol, "--seconds", "5"])?;
        let cpu = own.number("serverCpuMicrosPerInstance").unwrap_or(f64::NAN);
        println!("| `caudal bench process` | {protocol} | {:.0} | – | {cpu:.0} µs | – | – | {others} |", own.rate());
    }
    for sdk in chosen {
        if let Readiness::Missing(why) | Readiness::Failed(why) = (sdk.prepare)(&bench.places) {
            return Err(format!("{}: {why}", sdk.name));
        }
        for protocol in sdk.transports.iter().filter(|protocol| PROTOCOLS.contains(protocol)) {
            let measured = measure(bench, sdk, protocol)?;
            println!(
                "| {} | {protocol} | {:.0} | {} µs | {} µs | {} ms | {:.0} MB | {} |",
                sdk.name,
                measured.rate,
                measured.worker.as_micros(),
                measured.server.as_micros(),
                measured.idle.as_millis() * 60_000 / IDLE.as_millis(),
                measured.memory_mb,
                measured.others,
            );
        }
    }
    Ok(())
}

fn measure(bench: &Bench, sdk: &Sdk, protocol: &str) -> Result<Measured, String> {
    // It may be built first.
    let mut command = (sdk.bench)(&bench.places)?;
    let data = Data::fresh(&bench.places, &bench.cluster, Store::Sqlite, &format!("bench-{}-{protocol}", sdk.name))?;
    let server = Server::on(&bench.binary, &data)?;
    for _ in 0..JOBS / SUBMITTED_AT_ONCE {
        submit(&server)?;
    }
    let address = if protocol == "grpc" { format!("grpc://{}", server.grpc) } else { server.rest.clone() };
    command.args(["bench", &address, PARALLEL]).env("CAUDAL_TRANSPORT", protocol).stdout(Stdio::null());
    command.env("CAUDAL_SCENARIOS", bench.places.root.join("sdks/scenarios"));
    let worker =
        Running::start(&mut command, Farewell::Terminate).map_err(|error| format!("cannot start {}: {error}", sdk.name))?;
    let cpu = |pid| usage::cpu(pid).ok_or_else(|| format!("{}: a process ended while it was measured", sdk.name));

    let ours = [worker.child.id(), server.pid()];
    wait_done(&server, WARM)?;
    let (others, begun, done) = (Moment::now(bench, &ours), Instant::now(), completed(&server)?);
    let before = (cpu(worker.child.id())?, cpu(server.pid())?);
    wait_done(&server, JOBS)?;
    let (took, jobs) = (begun.elapsed(), u32::try_from(JOBS - done).unwrap_or(u32::MAX));
    let after = (cpu(worker.child.id())?, cpu(server.pid())?);
    let others = others.others_since(bench, &ours);

    std::thread::sleep(SETTLE);
    let idle = cpu(worker.child.id())?;
    std::thread::sleep(IDLE);
    Ok(Measured {
        rate: f64::from(jobs) / took.as_secs_f64(),
        worker: (after.0 - before.0) / jobs,
        server: (after.1 - before.1) / jobs,
        idle: cpu(worker.child.id())? - idle,
        memory_mb: usage::rss_mb(worker.child.id()).unwrap_or(f64::NAN),
        others,
    })
}

fn submit(server: &Server) -> Result<(), String> {
    let executions = vec!["{}"; SUBMITTED_AT_ONCE].join(",");
    let body = format!("{{\"executions\":[{executions}]}}");
    let place = server.rest.trim_start_matches("http://");
    let answer = server::request(place, &format!("POST /v1/actions/{ACTION}/executions/bulk"), &body);
    let answer = answer.map_err(|error| format!("cannot submit: {error}"))?;
    match answer.split_whitespace().nth(1) {
        Some(status) if status.starts_with('2') => Ok(()),
        _ => Err(format!("cannot submit: {answer}")),
    }
}

fn wait_done(server: &Server, jobs: usize) -> Result<(), String> {
    let deadline = Instant::now() + DONE_MAX;
    while completed(server)? < jobs {
        if deadline < Instant::now() {
            return Err(format!("{jobs} jobs were not done within {} s", DONE_MAX.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// As the server counts.
fn completed(server: &Server) -> Result<usize, String> {
    let metrics = server::get(&server.metrics, "/metrics").map_err(|error| format!("cannot read metrics: {error}"))?;
    let value = metrics.lines().find_map(|line| line.strip_prefix("caudal_jobs_completed_total "));
    value.and_then(|value| value.trim().parse().ok()).ok_or_else(|| "the server does not count its jobs".to_owned())
}
