//! Generated requests over everything `/openapi.json` describes: no answer may be a server error, and every answer has a status, a
//! content type and a form that are documented.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::environment::Readiness;
use crate::logged::{Audience, End, run};
use crate::places::Places;
use crate::postgres::Cluster;
use crate::python;
use crate::server::{Server, Store};
use crate::summary::{self, Outcome, Report};

pub(crate) const NAME: &str = "schemathesis";
const SEEDS_MAX: u64 = 5;
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance";
const RUN_MAX: Duration = Duration::from_secs(1200);

/// Requests that have to be made. Runs with further seeds follow until they are.
const REQUESTS_MIN: u64 = 20_000;
/// Random requests per operation, at most.
const EXAMPLES: &str = "50";

/// How much is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Every boundary of every field.
    Bounded,
    /// Random requests too, which take several times as long.
    Whole,
}

impl Extent {
    fn phases(self) -> &'static str {
        match self {
            Self::Bounded => "examples,coverage",
            Self::Whole => "examples,coverage,fuzzing,stateful",
        }
    }
}

pub(crate) fn prepare(places: &Places) -> Readiness {
    python::prepare(places, NAME)
}

pub(crate) fn test(places: &Places, cluster: &Cluster, readiness: &Readiness, extent: Extent) -> Report {
    summary::begin(NAME, Store::Sqlite.name());
    let began = Instant::now();
    let mut logs = Vec::new();
    let generated = || generate(places, cluster, extent, &mut logs).unwrap_or_else(Outcome::Broken);
    let outcome = readiness.unless_ready(NAME).unwrap_or_else(generated);
    logs.push(places.log("server-schemathesis-sqlite"));
    Report { part: NAME.to_owned(), on: Store::Sqlite.name(), took: began.elapsed(), outcome, logs }
}

fn generate(places: &Places, cluster: &Cluster, extent: Extent, logs: &mut Vec<PathBuf>) -> Result<Outcome, String> {
    let mut server = Server::start(places, cluster, Store::Sqlite, NAME)?;
    let mut requests = 0;
    for seed in 1..=SEEDS_MAX {
        let log = places.log(&format!("{NAME}-{seed}"));
        logs.push(log.clone());
        let finished = generate_with_seed(places, &server, extent, seed, &log)?;
        server.check()?;
        requests += finished.1;
        if let End::Failure(why) = finished.0 {
            return Ok(Outcome::Ran { passed: 0, failed: 1, note: format!("{requests} requests, seed {seed}: {why}") });
        }
        if REQUESTS_MIN <= requests {
            return Ok(Outcome::Ran { passed: 1, failed: 0, note: format!("{requests} requests") });
        }
    }
    Ok(Outcome::Ran { passed: 0, failed: 1, note: format!("{requests} requests, fewer than {REQUESTS_MIN}") })
}

/// How the run ended, and how many requests it made.
fn generate_with_seed(
    places: &Places,
    server: &Server,
    extent: Extent,
    seed: u64,
    log: &std::path::Path,
) -> Result<(End, u64), String> {
    let report = places.own.join(format!("{NAME}-{seed}.json"));
    fs::remove_file(&report).ok();
    let mut command = python::program(places, NAME, NAME);
    command.arg("run").arg(format!("{}/openapi.json", server.rest));
    command.args(["--checks", CHECKS, "--no-color", "--workers", "1", "--phases", extent.phases()]);
    command.args(["--max-examples", EXAMPLES, "--seed", &seed.to_string(), "--report-json-path"]).arg(&report);
    command.args(["--request-timeout", "30", "--suppress-health-check", "all", "--continue-on-failure"]);
    command.env("SCHEMATHESIS_HOOKS", "schemathesis_hooks").env("PYTHONPATH", places.clients().join("python"));
    command.env("CAUDAL_FIXTURES", places.clients().join("fixtures")).current_dir(&places.own);
    server.address(&mut command);
    let finished = run(&mut command, log, Audience::LogOnly, RUN_MAX)?;
    let text = fs::read_to_string(&report).unwrap_or_default();
    let requests = text.parse::<Value>().ok().and_then(|report| report["test_cases"]["generated"].as_u64());
    Ok((finished.end, requests.unwrap_or(0)))
}
