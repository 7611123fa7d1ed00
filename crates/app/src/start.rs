//! `caudal start`: a new process instance and, if wanted, its end.

use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};

use crate::backoff::Backoff;
use crate::cli::Remote;
use crate::client::{PATIENCE, get, post, show, text};
use crate::table::print;
use crate::variables;

/// How long the end of an instance is not looked for, at most.
const LOOK_EVERY: Duration = Duration::from_millis(500);

#[derive(Debug, Args)]
pub(crate) struct Start {
    /// Id of the process, as in the BPMN file
    #[arg(value_name = "PROCESS_ID")]
    process_id: String,
    /// Variables as a JSON object; @FILE reads them from a file, - from standard input
    #[arg(long, value_name = "JSON", default_value = "{}")]
    variables: String,
    /// A version other than the latest
    #[arg(long, value_name = "NUMBER")]
    version: Option<i32>,
    /// Wait for the instance to end and print its variables
    #[arg(long = "await")]
    wait: bool,
    /// How long to wait, in seconds; the instance goes on
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    timeout: u64,
    #[command(flatten)]
    remote: Remote,
}

pub(crate) fn start(start: &Start) -> Result<(), String> {
    let remote = &start.remote;
    let mut body =
        json!({ "processDefinitionId": start.process_id, "variables": variables::given("--variables", &start.variables)? });
    if let Some(version) = start.version {
        body["processDefinitionVersion"] = json!(version);
    }
    let mut created = post(remote, "/v2/process-instances", &body, PATIENCE)?;
    let key = text(&created["processInstanceKey"]);
    // The key is told before the end is waited for: whatever comes in between, the caller knows what was started.
    if !remote.json {
        print(&format!("{key}\n"));
    }
    let ended = if start.wait { end(start, &key).map(Some) } else { Ok(None) };
    if let Ok(Some(variables)) = &ended {
        created["variables"].clone_from(variables);
    }
    if remote.json {
        show(&created)?;
    } else if start.wait && ended.is_ok() {
        show(&created["variables"])?;
    }
    ended.map(drop)
}

/// The variables of an instance that has completed. A server that is away for a moment is waited for.
fn end(start: &Start, key: &str) -> Result<Value, String> {
    let (remote, until) = (&start.remote, Instant::now() + Duration::from_secs(start.timeout));
    let mut backoff = Backoff::up_to(LOOK_EVERY);
    loop {
        let late = until <= Instant::now();
        match get(remote, &format!("/v2/process-instances/{key}")) {
            Ok(instance) => match instance["state"].as_str() {
                Some("COMPLETED") => {
                    let scope = key.parse().map_err(|_| format!("'{key}' is no key"))?;
                    return variables::of_scope(remote, scope).map(Value::Object);
                }
                Some("TERMINATED") => return Err(format!("process instance {key} was terminated")),
                _ if late && instance["hasIncident"] == true => {
                    return Err(format!("process instance {key} is stuck. Next: caudal incidents --instance {key}"));
                }
                _ if late => {
                    let seconds = start.timeout;
                    return Err(format!(
                        "process instance {key} has not ended within {seconds} s and goes on. Next: caudal instance {key}"
                    ));
                }
                _ => {}
            },
            Err(failed) if late || !failed.may_pass() => return Err(failed.into()),
            Err(_) => {}
        }
        std::thread::sleep(backoff.pause().min(until.saturating_duration_since(Instant::now())));
    }
}
