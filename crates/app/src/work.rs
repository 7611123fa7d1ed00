//! `caudal work`: a worker for those who have none yet.

use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use crate::backoff::Backoff;
use crate::cli::Remote;
use crate::client::{Failed, PATIENCE, post, text};
use crate::table::print;
use crate::variables;

/// How long one poll for jobs waits.
const POLL: Duration = Duration::from_secs(10);

#[derive(Debug, Args)]
pub(crate) struct Work {
    /// Type of the jobs
    #[arg(value_name = "TYPE")]
    job_type: String,
    /// Complete each job with these variables (JSON, @FILE or -); without it jobs are only shown and released when their lease ends
    #[arg(long, value_name = "JSON")]
    complete_with: Option<String>,
    /// Stop after this many jobs
    #[arg(long, value_name = "NUMBER")]
    count: Option<u64>,
    /// How long a job is leased, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    lease: u64,
    /// Name of this worker
    #[arg(long, value_name = "NAME", default_value = "caudal-work")]
    worker: String,
    #[command(flatten)]
    remote: Remote,
}

pub(crate) fn work(work: &Work) -> Result<(), String> {
    let given = work.complete_with.as_deref();
    let variables = given.map(|given| variables::given("--complete-with", given)).transpose()?;
    let poll = json!({
        "type": work.job_type,
        "worker": work.worker,
        "timeout": work.lease * 1000,
        "maxJobsToActivate": 1,
        "requestTimeout": POLL.as_millis() as u64,
    });
    eprintln!("caudal: waiting for jobs of type '{}' (Ctrl-C ends)", work.job_type);
    // A server that was never there has another address, rather than a restart.
    let mut patience = Patience::None;
    let mut done = 0;
    while work.count.is_none_or(|count| done < count) {
        let answer = patience.ask(|| post(&work.remote, "/v2/jobs/activation", &poll, PATIENCE + POLL))?;
        patience = Patience::Restarts;
        for job in answer["jobs"].as_array().into_iter().flatten() {
            let key = text(&job["jobKey"]);
            if work.remote.json {
                print(&format!("{job}\n"));
            } else {
                print(&format!("{key}  {}  {}\n", text(&job["elementId"]), job["variables"]));
            }
            if let Some(variables) = &variables {
                let path = format!("/v2/jobs/{key}/completion");
                let body = json!({ "variables": variables });
                match patience.ask(|| post(&work.remote, &path, &body, PATIENCE)) {
                    // Its lease ended meanwhile, or an earlier try came through without its answer: somebody has done it.
                    Err(Failed::Refused { status: 404 | 409, reason }) => eprintln!("caudal: {reason}"),
                    completed => completed.map(drop)?,
                }
            }
            done += 1;
        }
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq)]
enum Patience {
    None,
    Restarts,
}

impl Patience {
    /// Asks until there is an answer, waiting longer each time.
    fn ask(self, ask: impl Fn() -> Result<Value, Failed>) -> Result<Value, Failed> {
        let mut backoff = Backoff::new();
        let mut is_away = false;
        loop {
            match ask() {
                Err(failed) if failed.may_pass() && self == Self::Restarts => {
                    if !is_away {
                        eprintln!("caudal: {}; trying again until it answers", String::from(failed));
                    }
                    is_away = true;
                    std::thread::sleep(backoff.pause());
                }
                answer => {
                    if is_away {
                        eprintln!("caudal: the server answers again");
                    }
                    return answer;
                }
            }
        }
    }
}
