//! `caudal audit`: who did what, and what happened to jobs.

use clap::Args;

use crate::cli::Remote;
use crate::client::{PATIENCE, agent, read, show_items, url};

#[derive(Debug, Args)]
pub(crate) struct Audit {
    /// Of jobs of this type only
    #[arg(long, value_name = "TYPE")]
    action: Option<String>,
    /// Of this process instance only
    #[arg(long, value_name = "KEY")]
    instance: Option<u64>,
    /// Of this job or execution only
    #[arg(long, value_name = "KEY")]
    job: Option<u64>,
    /// Of this user task only
    #[arg(long, value_name = "KEY")]
    task: Option<u64>,
    /// Only this: create, assign, cancel, dispatch, fail, time-out, …
    #[arg(long, value_name = "OPERATION")]
    operation: Option<String>,
    /// To things of this kind only: process-instance, user-task, job, policy, …
    #[arg(long, value_name = "TYPE")]
    entity: Option<String>,
    /// Then or later, such as 2026-05-01T00:00:00Z
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Before then
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// How many at most
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    limit: u32,
    #[command(flatten)]
    remote: Remote,
}

pub(crate) fn audit(audit: &Audit) -> Result<(), String> {
    let remote = &audit.remote;
    let mut request = agent(remote, PATIENCE)?.get(url(remote, "/v1/audit")).query("limit", audit.limit.to_string());
    let word = |word: &Option<String>| word.as_ref().map(|word| word.to_uppercase().replace('-', "_"));
    let key = |key: Option<u64>| key.map(|key| key.to_string());
    let filters = [
        ("action", audit.action.clone()),
        ("processInstanceKey", key(audit.instance)),
        ("jobKey", key(audit.job)),
        ("userTaskKey", key(audit.task)),
        ("operation", word(&audit.operation)),
        ("entityType", word(&audit.entity)),
        ("since", audit.since.clone()),
        ("until", audit.until.clone()),
    ];
    for (name, value) in filters {
        if let Some(value) = value {
            request = request.query(name, value);
        }
    }
    let answer = read(remote, request.call())?;
    let columns = [
        ("TIME", "timestamp"),
        ("OPERATION", "operation"),
        ("WHAT", "entityType"),
        ("KEY", "entityKey"),
        ("WHO", "actorId"),
        ("ACTION", "action"),
        ("WORKER", "worker"),
        ("INSTANCE", "processInstanceKey"),
        ("ABOUT", "description"),
    ];
    show_items(remote, &answer, &columns)
}
