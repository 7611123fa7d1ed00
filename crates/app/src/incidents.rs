//! `caudal incidents` and `caudal incident resolve`: what is stuck, and trying it again.

use clap::{Args, Subcommand};
use serde_json::json;

use crate::cli::Remote;
use crate::client::{self, PATIENCE, post};

#[derive(Debug, Args)]
pub(crate) struct Incidents {
    /// Of this process only
    #[arg(long, value_name = "PROCESS_ID")]
    process: Option<String>,
    /// Of this process instance only
    #[arg(long, value_name = "KEY")]
    instance: Option<u64>,
    /// Of this element only
    #[arg(long, value_name = "ELEMENT_ID")]
    element: Option<String>,
    /// Of this type only, such as job-no-retries
    #[arg(long = "type", value_name = "TYPE")]
    error_type: Option<String>,
    /// In this state only: active or resolved; all for both
    #[arg(long, value_name = "STATE", default_value = "active")]
    state: String,
    /// How many at most
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    limit: u32,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Incident {
    /// Try again what raised these incidents; mend the cause first (see `caudal variables set`, `caudal retries`).
    Resolve(Resolve),
}

#[derive(Debug, Args)]
pub(crate) struct Resolve {
    /// Keys of the incidents (see `caudal incidents`)
    #[arg(required = true, value_name = "KEY")]
    keys: Vec<u64>,
    #[command(flatten)]
    remote: Remote,
}

pub(crate) fn list(incidents: &Incidents) -> Result<(), String> {
    let mut filter = json!({});
    if incidents.state != "all" {
        filter["state"] = json!(incidents.state.to_uppercase());
    }
    if let Some(process) = &incidents.process {
        filter["processDefinitionId"] = json!(process);
    }
    if let Some(instance) = incidents.instance {
        filter["processInstanceKey"] = json!(instance.to_string());
    }
    if let Some(element) = &incidents.element {
        filter["elementId"] = json!(element);
    }
    if let Some(error_type) = &incidents.error_type {
        filter["errorType"] = json!(error_type.to_uppercase().replace('-', "_"));
    }
    let body = json!({
        "filter": filter,
        "sort": [{ "field": "incidentKey", "order": "DESC" }],
        "page": { "limit": incidents.limit },
    });
    let columns = [
        ("KEY", "incidentKey"),
        ("TYPE", "errorType"),
        ("STATE", "state"),
        ("PROCESS", "processDefinitionId"),
        ("ELEMENT", "elementId"),
        ("INSTANCE", "processInstanceKey"),
        ("JOB", "jobKey"),
        ("SINCE", "creationTime"),
        ("MESSAGE", "errorMessage"),
    ];
    client::list(&incidents.remote, "/v2/incidents/search", &body, &columns)
}

pub(crate) fn resolve(Incident::Resolve(resolve): &Incident) -> Result<(), String> {
    let remote = &resolve.remote;
    client::each(remote, &resolve.keys, "resolved", |key| {
        post(remote, &format!("/v2/incidents/{key}/resolution"), &json!({}), PATIENCE)
    })
}
