//! `caudal instance` and `caudal cancel`: one process instance, with all that belongs to it.

mod tree;

use clap::Args;
use serde_json::{Value, json};

use crate::cli::Remote;
use crate::client::{self, PATIENCE, get, post, read, text, url};
use crate::table::print;

/// Element instances that are asked for at most, however many scopes they are in.
const ELEMENTS_MAX: usize = 5_000;

/// Elements that have others inside them: in events that compensate, the handlers run.
const SCOPES: [&str; 9] = [
    "PROCESS",
    "SUB_PROCESS",
    "EVENT_SUB_PROCESS",
    "TRANSACTION",
    "AD_HOC_SUB_PROCESS",
    "AD_HOC_SUB_PROCESS_INNER_INSTANCE",
    "MULTI_INSTANCE_BODY",
    "INTERMEDIATE_THROW_EVENT",
    "END_EVENT",
];

#[derive(Debug, Args)]
#[command(
    after_help = "Below each element stand its own variables and what it waits for: a job, a timer, a message, a signal, a condition, a person or a process it called."
)]
pub(crate) struct Instance {
    /// Key of the process instance (see `caudal instances`)
    #[arg(value_name = "KEY")]
    key: u64,
    /// Leave out elements that have ended
    #[arg(long)]
    active: bool,
    /// How many elements of one scope, variables, jobs and so on at most
    #[arg(long, value_name = "NUMBER", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Debug, Args)]
pub(crate) struct Cancel {
    /// Keys of the process instances (see `caudal instances`)
    #[arg(required = true, value_name = "KEY")]
    keys: Vec<u64>,
    #[command(flatten)]
    remote: Remote,
}

pub(crate) fn cancel(cancel: &Cancel) -> Result<(), String> {
    let remote = &cancel.remote;
    client::each(remote, &cancel.keys, "cancelled", |key| {
        post(remote, &format!("/v2/process-instances/{key}/cancellation"), &json!({}), PATIENCE)
    })
}

pub(crate) fn show(instance: &Instance) -> Result<(), String> {
    let shown = collect(instance)?;
    if instance.remote.json {
        return client::show(&shown);
    }
    print(&tree::drawn(&shown));
    Ok(())
}

/// The instance, its elements with those inside them, and what belongs to each, as one document.
fn collect(instance: &Instance) -> Result<Value, String> {
    let key = instance.key.to_string();
    let mut shown = get(&instance.remote, &format!("/v2/process-instances/{key}"))?;
    let of_instance = json!({ "processInstanceKey": key });
    let mut open = of_instance.clone();
    open["state"] = json!("ACTIVE");
    let mut jobs = of_instance.clone();
    jobs["state"] = json!({ "$in": ["CREATED", "FAILED", "ERROR_THROWN", "RETRIES_UPDATED", "TIMED_OUT", "MIGRATED"] });
    let mut tasks = of_instance.clone();
    tasks["state"] = json!({ "$in": ["CREATING", "CREATED", "ASSIGNING", "UPDATING", "COMPLETING", "CANCELING", "FAILED"] });
    shown["variables"] = search(instance, "variables", &of_instance)?;
    shown["incidents"] = search(instance, "incidents", &open)?;
    shown["jobs"] = search(instance, "jobs", &jobs)?;
    shown["userTasks"] = search(instance, "user-tasks", &tasks)?;
    shown["timers"] = list(instance, "timers", Some("PENDING"))?;
    shown["waits"] = list(instance, "waits", None)?;
    shown["called"] = search(instance, "process-instances", &json!({ "parentProcessInstanceKey": key }))?;
    let mut left = ELEMENTS_MAX;
    shown["elements"] = elements(instance, &key, &mut left)?;
    Ok(shown)
}

/// The elements of a scope, with those inside them.
fn elements(instance: &Instance, scope: &str, left: &mut usize) -> Result<Value, String> {
    let mut filter = json!({ "elementInstanceScopeKey": scope });
    if instance.active {
        filter["state"] = json!("ACTIVE");
    }
    let mut page = search(instance, "element-instances", &filter)?;
    let items = page["items"].as_array_mut().map_or(&mut [][..], Vec::as_mut_slice);
    *left = left.saturating_sub(items.len());
    for item in items {
        let is_scope = item["type"].as_str().is_some_and(|kind| SCOPES.contains(&kind));
        if is_scope && 0 < *left {
            item["elements"] = elements(instance, &text(&item["elementInstanceKey"]), left)?;
        }
    }
    Ok(page)
}

/// A page of what is found, with how many there are.
fn search(instance: &Instance, what: &str, filter: &Value) -> Result<Value, String> {
    let body = json!({ "filter": filter, "page": { "limit": instance.limit } });
    Ok(page(&post(&instance.remote, &format!("/v2/{what}/search"), &body, PATIENCE)?))
}

fn list(instance: &Instance, what: &str, state: Option<&str>) -> Result<Value, String> {
    let remote = &instance.remote;
    let request = client::agent(remote, PATIENCE)?
        .get(url(remote, &format!("/v1/{what}")))
        .query("processInstanceKey", instance.key.to_string())
        .query("limit", instance.limit.to_string());
    let request = state.into_iter().fold(request, |request, state| request.query("state", state));
    Ok(page(&read(remote, request.call())?))
}

fn page(answer: &Value) -> Value {
    json!({ "total": answer["page"]["totalItems"], "items": answer["items"] })
}
