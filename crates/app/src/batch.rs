//! `caudal batch`, `caudal suspend` and `caudal resume`: one thing done to many process instances, with how far it has come.

mod progress;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::change::pair_of;
use crate::cli::Remote;
use crate::client::{self, PATIENCE, get, post, show};
use crate::variables;

#[derive(Debug, Subcommand)]
pub(crate) enum Batch {
    /// Cancel all that run and that the filter finds.
    Cancel(Plain),
    /// Suspend all that run and that the filter finds.
    Suspend(Plain),
    /// Let all suspended ones that the filter finds go on.
    Resume(Plain),
    /// Resolve the incidents of all that the filter finds; jobs without tries left get one.
    Resolve(Plain),
    /// Delete all that have finished and that the filter finds.
    Delete(Plain),
    /// Let all that run and that the filter finds go on as instances of another definition.
    Migrate(Migrate),
    /// Move between elements in all that run and that the filter finds.
    Modify(Modify),
    /// List batch operations, the newest first.
    List(List),
    /// Show what an operation is about, with what became of each.
    Items(Items),
    /// Wait for an operation's end and show how far it comes.
    Wait(One),
    /// Let operations stand still.
    Pause(Keys),
    /// Let operations go on that stand still.
    Continue(Keys),
    /// End operations; what they have done stays done.
    Stop(Keys),
}

/// Which instances; what is given counts together.
#[derive(Debug, Args)]
struct Which {
    /// Of the process with this id, all versions
    #[arg(long, value_name = "PROCESS_ID")]
    definition: Option<String>,
    /// Of the definition with this key
    #[arg(long, value_name = "KEY")]
    definition_key: Option<u64>,
    /// These instances
    #[arg(long, value_name = "KEY")]
    instance: Vec<u64>,
    /// What a search may ask, as JSON: '{"startDate": {"$lt": "2026-01-01T00:00:00Z"}}'; @FILE reads it from a file
    #[arg(long, value_name = "JSON", default_value = "{}")]
    filter: String,
    /// Do not wait for the end: print the key of the operation
    #[arg(long)]
    detach: bool,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  caudal batch cancel --definition order --filter '{\"hasIncident\": true}'")]
pub(crate) struct Plain {
    #[command(flatten)]
    which: Which,
}

#[derive(Debug, Args)]
pub(crate) struct Migrate {
    #[command(flatten)]
    which: Which,
    /// Key of the definition to go on with
    #[arg(long, value_name = "KEY")]
    to: u64,
    /// What an active element, or an event on one, becomes
    #[arg(long, value_name = "ELEMENT=ELEMENT", required = true)]
    map: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Modify {
    #[command(flatten)]
    which: Which,
    /// End all active instances of the first, and enter the second for each
    #[arg(long = "move", value_name = "ELEMENT=ELEMENT", required = true)]
    moves: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// In this state only, such as active or completed
    #[arg(long, value_name = "STATE")]
    state: Option<String>,
    /// How many at most
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    limit: u32,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Debug, Args)]
pub(crate) struct Items {
    /// Key of the operation (see `caudal batch list`)
    #[arg(value_name = "KEY")]
    key: u64,
    /// In this state only: active, completed, failed or canceled
    #[arg(long, value_name = "STATE")]
    state: Option<String>,
    /// How many at most
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    limit: u32,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Debug, Args)]
pub(crate) struct One {
    /// Key of the operation
    #[arg(value_name = "KEY")]
    key: u64,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Debug, Args)]
pub(crate) struct Keys {
    /// Keys of the operations
    #[arg(required = true, value_name = "KEY")]
    keys: Vec<u64>,
    #[command(flatten)]
    remote: Remote,
}

/// Some instances by their keys, or all of a process.
#[derive(Debug, Args)]
#[command(
    after_help = "What they called goes with them. Examples:\n  caudal suspend 2251799813685250\n  caudal suspend --definition order"
)]
pub(crate) struct SomeOrAll {
    /// Keys of the process instances (see `caudal instances`)
    #[arg(value_name = "KEY", required_unless_present = "definition", conflicts_with = "definition")]
    keys: Vec<u64>,
    /// All instances of the process with this id
    #[arg(long, value_name = "PROCESS_ID")]
    definition: Option<String>,
    #[command(flatten)]
    remote: Remote,
}

pub(crate) fn run(batch: &Batch) -> Result<(), String> {
    match batch {
        Batch::Cancel(plain) => begin(&plain.which, "cancellation", json!({})),
        Batch::Suspend(plain) => begin(&plain.which, "suspension", json!({})),
        Batch::Resume(plain) => begin(&plain.which, "resumption", json!({})),
        Batch::Resolve(plain) => begin(&plain.which, "incident-resolution", json!({})),
        Batch::Delete(plain) => begin(&plain.which, "deletion", json!({})),
        Batch::Migrate(migrate) => {
            let mappings = pairs(&migrate.map, "--map")?;
            let plan = json!({ "targetProcessDefinitionKey": migrate.to.to_string(), "mappingInstructions": mappings });
            begin(&migrate.which, "migration", json!({ "migrationPlan": plan }))
        }
        Batch::Modify(modify) => {
            let moves = pairs(&modify.moves, "--move")?;
            begin(&modify.which, "modification", json!({ "moveInstructions": moves }))
        }
        Batch::List(options) => list(options),
        Batch::Items(options) => items(options),
        Batch::Wait(one) => progress::follow(&one.remote, &one.key.to_string()),
        Batch::Pause(keys) => steer(keys, "suspension", "paused"),
        Batch::Continue(keys) => steer(keys, "resumption", "continued"),
        Batch::Stop(keys) => steer(keys, "cancellation", "stopped"),
    }
}

pub(crate) fn suspend(which: &SomeOrAll) -> Result<(), String> {
    some_or_all(which, "suspension", "suspended")
}

pub(crate) fn resume(which: &SomeOrAll) -> Result<(), String> {
    some_or_all(which, "resumption", "resumed")
}

fn some_or_all(which: &SomeOrAll, what: &str, done: &str) -> Result<(), String> {
    let remote = &which.remote;
    if let Some(process) = &which.definition {
        let body = json!({ "filter": { "processDefinitionId": process } });
        let begun = post(remote, &format!("/v2/process-instances/{what}"), &body, PATIENCE)?;
        return progress::follow(remote, &client::text(&begun["batchOperationKey"]));
    }
    client::each(remote, &which.keys, done, |key| {
        post(remote, &format!("/v2/process-instances/{key}/{what}"), &json!({}), PATIENCE)
    })
}

fn begin(which: &Which, what: &str, mut body: Value) -> Result<(), String> {
    body["filter"] = filter(which)?;
    let begun = post(&which.remote, &format!("/v2/process-instances/{what}"), &body, PATIENCE)?;
    let key = client::text(&begun["batchOperationKey"]);
    match (which.detach, which.remote.json) {
        (false, _) => progress::follow(&which.remote, &key),
        (true, true) => show(&begun),
        (true, false) => {
            crate::table::print(&format!("{key}\n"));
            Ok(())
        }
    }
}

fn filter(which: &Which) -> Result<Value, String> {
    let mut filter = variables::given("--filter", &which.filter)?;
    if let Some(process) = &which.definition {
        filter["processDefinitionId"] = json!(process);
    }
    if let Some(key) = which.definition_key {
        filter["processDefinitionKey"] = json!(key.to_string());
    }
    if !which.instance.is_empty() {
        let keys: Vec<String> = which.instance.iter().map(u64::to_string).collect();
        filter["processInstanceKey"] = json!({ "$in": keys });
    }
    match filter.as_object().is_some_and(|asked| asked.is_empty()) {
        true => Err("say which instances: with --definition, --definition-key, --instance or --filter".to_owned()),
        false => Ok(filter),
    }
}

fn pairs(given: &[String], flag: &str) -> Result<Vec<Value>, String> {
    let pair = |pair: &String| {
        let (from, to) = pair_of(pair, flag)?;
        Ok(json!({ "sourceElementId": from, "targetElementId": to }))
    };
    given.iter().map(pair).collect()
}

fn list(options: &List) -> Result<(), String> {
    let filter = options.state.as_ref().map(|state| json!({ "state": state.to_uppercase() })).unwrap_or(json!({}));
    let sort = json!([{ "field": "batchOperationKey", "order": "DESC" }]);
    let body = json!({ "filter": filter, "sort": sort, "page": { "limit": options.limit } });
    let columns = [
        ("KEY", "batchOperationKey"),
        ("TYPE", "batchOperationType"),
        ("STATE", "state"),
        ("TOTAL", "operationsTotalCount"),
        ("DONE", "operationsCompletedCount"),
        ("FAILED", "operationsFailedCount"),
        ("STARTED", "startDate"),
        ("ENDED", "endDate"),
    ];
    client::list(&options.remote, "/v2/batch-operations/search", &body, &columns)
}

fn items(options: &Items) -> Result<(), String> {
    get(&options.remote, &format!("/v2/batch-operations/{}", options.key))?;
    let mut filter = json!({ "batchOperationKey": options.key.to_string() });
    if let Some(state) = &options.state {
        filter["state"] = json!(state.to_uppercase());
    }
    let body = json!({ "filter": filter, "sort": [{ "field": "itemKey" }], "page": { "limit": options.limit } });
    let columns = [
        ("KEY", "itemKey"),
        ("INSTANCE", "processInstanceKey"),
        ("STATE", "state"),
        ("AT", "processedDate"),
        ("ERROR", "errorMessage"),
    ];
    client::list(&options.remote, "/v2/batch-operation-items/search", &body, &columns)
}

fn steer(keys: &Keys, what: &str, done: &str) -> Result<(), String> {
    let remote = &keys.remote;
    client::each(remote, &keys.keys, done, |key| {
        post(remote, &format!("/v2/batch-operations/{key}/{what}"), &json!({}), PATIENCE)
    })
}
