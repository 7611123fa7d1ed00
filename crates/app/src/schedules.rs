//! `caudal schedules`: what is submitted again and again.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::cli::Remote;
use crate::client::{PATIENCE, agent, get, read, show, show_done, show_items, url};
use crate::queues::escaped;

#[derive(Debug, Subcommand)]
pub(crate) enum Schedules {
    /// List schedules, with when each is next.
    List(List),
    /// Show one as JSON.
    Show(Named),
    /// Make or change one.
    Put(Box<Put>),
    /// Delete one; what it has submitted stays.
    Delete(Named),
}

#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    remote: Remote,
}

#[derive(Debug, Args)]
pub(crate) struct Named {
    /// What it is called
    name: String,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Debug, Args)]
pub(crate) struct Put {
    /// What it is called
    name: String,
    /// Whose workers do it
    #[arg(long, value_name = "ACTION")]
    action: String,
    /// When: cron such as "0 9 * * MON-FRI", or an interval such as R/PT1H
    #[arg(long, value_name = "EXPRESSION")]
    cron: String,
    /// Of cron; UTC if left out
    #[arg(long, value_name = "ZONE")]
    time_zone: Option<String>,
    /// What its workers get as variables, a JSON object
    #[arg(long, value_name = "JSON", conflicts_with = "input_file")]
    input: Option<String>,
    /// A file with it
    #[arg(long, value_name = "FILE")]
    input_file: Option<PathBuf>,
    /// The higher first, 0 to 100
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    priority: u32,
    /// How often each execution may be tried
    #[arg(long, value_name = "NUMBER", default_value_t = 3)]
    retries: u32,
    /// Nothing is submitted while an earlier one waits or runs
    #[arg(long)]
    no_overlap: bool,
    /// Submit nothing for now
    #[arg(long)]
    paused: bool,
    #[command(flatten)]
    remote: Remote,
}

pub(crate) fn run(command: &Schedules) -> Result<(), String> {
    match command {
        Schedules::List(list) => {
            let answer = get(&list.remote, "/v1/schedules")?;
            let columns = [
                ("NAME", "ref"),
                ("ACTION", "action"),
                ("CRON", "cron"),
                ("ZONE", "timeZone"),
                ("PAUSED", "paused"),
                ("NEXT", "nextAt"),
                ("LAST", "lastAt"),
                ("EXECUTION", "lastExecutionId"),
                ("ERROR", "lastError"),
            ];
            show_items(&list.remote, &answer, &columns)
        }
        Schedules::Show(named) => show(&get(&named.remote, &path(&named.name))?),
        Schedules::Put(schedule) => put(schedule),
        Schedules::Delete(named) => {
            let sent = agent(&named.remote, PATIENCE)?.delete(url(&named.remote, &path(&named.name))).call();
            show_done(&named.remote, &read(&named.remote, sent)?)
        }
    }
}

fn path(name: &str) -> String {
    format!("/v1/schedules/{}", escaped(name))
}

fn put(schedule: &Put) -> Result<(), String> {
    let text = match (&schedule.input, &schedule.input_file) {
        (Some(text), _) => text.clone(),
        (None, Some(file)) => {
            std::fs::read_to_string(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?
        }
        (None, None) => "{}".to_owned(),
    };
    let input: Value = serde_json::from_str(&text).map_err(|error| format!("the input is no JSON: {error}"))?;
    let mut execution = json!({ "input": input, "priority": schedule.priority, "retries": schedule.retries });
    if schedule.no_overlap {
        execution["uniqueKey"] = json!(format!("schedule:{}", schedule.name));
    }
    let body = json!({
        "action": schedule.action,
        "cron": schedule.cron,
        "timeZone": schedule.time_zone,
        "paused": schedule.paused,
        "execution": execution,
    });
    let remote = &schedule.remote;
    let request = agent(remote, PATIENCE)?.put(url(remote, &path(&schedule.name))).content_type("application/json");
    show_done(remote, &read(remote, request.send(body.to_string()))?)
}
