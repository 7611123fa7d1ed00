//! `caudal dead-letters`: jobs that nobody tries any more, and trying them again.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::cli::Remote;
use crate::client::{self, PATIENCE, get, post, show};
use crate::table::print;

#[derive(Debug, Subcommand)]
pub(crate) enum DeadLetters {
    /// List executions that have failed and jobs without retries, the newest first.
    List(List),
    /// Show one of them as JSON, with its input.
    Show(Show),
    /// Let some be tried again: by their ids, or all that match.
    Retry(Retry),
}

#[derive(Debug, Args)]
struct Which {
    /// Of this action only
    #[arg(long, value_name = "ACTION")]
    action: Option<String>,
    /// With this error only; * stands for any text
    #[arg(long, value_name = "PATTERN")]
    error: Option<String>,
    /// Of this process instance only
    #[arg(long, value_name = "KEY")]
    instance: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    which: Which,
    /// How many at most
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    limit: u32,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// Which (see `caudal dead-letters list`)
    id: u64,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Debug, Args)]
pub(crate) struct Retry {
    /// Which (see `caudal dead-letters list`); none for all that match
    #[arg(value_name = "ID")]
    ids: Vec<u64>,
    #[command(flatten)]
    which: Which,
    /// All there are
    #[arg(long)]
    all: bool,
    /// How often each may be tried
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    retries: u32,
    #[command(flatten)]
    remote: Remote,
}

impl Which {
    fn filter(&self) -> Value {
        let mut filter = json!({});
        if let Some(action) = &self.action {
            filter["action"] = json!(action);
        }
        if let Some(error) = &self.error {
            filter["error"] = json!({ "$like": error });
        }
        if let Some(instance) = self.instance {
            filter["processInstanceKey"] = json!(instance.to_string());
        }
        filter
    }
}

pub(crate) fn run(command: &DeadLetters) -> Result<(), String> {
    match command {
        DeadLetters::List(list) => {
            let sort = json!([{ "field": "failedAt", "order": "DESC" }]);
            let body = json!({ "filter": list.which.filter(), "sort": sort, "page": { "limit": list.limit } });
            let columns = [
                ("ID", "id"),
                ("KIND", "kind"),
                ("ACTION", "action"),
                ("ATTEMPTS", "attempts"),
                ("WORKER", "worker"),
                ("INSTANCE", "processInstanceKey"),
                ("SINCE", "failedAt"),
                ("ERROR", "error"),
            ];
            client::list(&list.remote, "/v1/dead-letters/search", &body, &columns)
        }
        DeadLetters::Show(one) => show(&get(&one.remote, &format!("/v1/dead-letters/{}", one.id))?),
        DeadLetters::Retry(retry) if !retry.ids.is_empty() => {
            let body = json!({ "retries": retry.retries });
            client::each(&retry.remote, &retry.ids, "to be tried again", |id| {
                post(&retry.remote, &format!("/v1/dead-letters/{id}/retry"), &body, PATIENCE)
            })
        }
        DeadLetters::Retry(retry) => retry_matching(retry),
    }
}

/// One request after the other, as long as there is something left that can be retried.
fn retry_matching(retry: &Retry) -> Result<(), String> {
    let filter = retry.which.filter();
    if filter == json!({}) && !retry.all {
        return Err("say which: ids, --action, --error, --instance, or --all".to_owned());
    }
    let (mut retried, mut refused) = (0, Vec::new());
    loop {
        let path = format!("/v1/dead-letters/retry?retries={}", retry.retries);
        let answer = post(&retry.remote, &path, &json!({ "filter": filter }), PATIENCE)?;
        let done = answer["retried"].as_u64().unwrap_or(0);
        retried += done;
        refused = answer["refused"].as_array().cloned().unwrap_or(refused);
        if done == 0 || answer["hasMore"] != true {
            break;
        }
    }
    if retry.remote.json {
        return show(&json!({ "retried": retried, "refused": refused }));
    }
    print(&format!("{retried} to be tried again\n"));
    for one in &refused {
        print(&format!("{}: {}\n", one["id"].as_str().unwrap_or_default(), one["detail"].as_str().unwrap_or_default()));
    }
    if refused.is_empty() { Ok(()) } else { Err(format!("{} were refused", refused.len())) }
}
