//! `caudal retries`: the tries a job has left.

use clap::Args;
use serde_json::json;

use crate::cli::Remote;
use crate::client::{PATIENCE, agent, post, read, show_done, text, url};
use crate::table::print;

#[derive(Debug, Args)]
pub(crate) struct Retries {
    /// Key of the job (see `caudal jobs`)
    #[arg(value_name = "KEY")]
    key: u64,
    /// How many tries it has from now on
    #[arg(value_name = "NUMBER", value_parser = clap::value_parser!(i32).range(1..))]
    retries: i32,
    #[command(flatten)]
    remote: Remote,
}

pub(crate) fn set(retries: &Retries) -> Result<(), String> {
    let Retries { key, retries, remote } = retries;
    let path = url(remote, &format!("/v2/jobs/{key}"));
    let answer = read(remote, agent(remote, PATIENCE)?.patch(path).send_json(json!({ "changeset": { "retries": retries } })))?;
    if remote.json {
        return show_done(remote, &answer);
    }
    print(&format!("{key} has {retries} tries\n"));
    let body = json!({ "filter": { "jobKey": key.to_string(), "state": "ACTIVE" }, "page": { "limit": 1 } });
    let incidents = post(remote, "/v2/incidents/search", &body, PATIENCE)?;
    if let Some(incident) = incidents["items"].get(0) {
        eprintln!("It is still held by an incident. Next: caudal incident resolve {}", text(&incident["incidentKey"]));
    }
    Ok(())
}
