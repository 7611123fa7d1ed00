//! `caudal definitions` and `caudal delete`: what is deployed.

use clap::Args;
use serde_json::json;

use crate::cli::Remote;
use crate::client::{self, PATIENCE, post};

#[derive(Debug, Args)]
pub(crate) struct Definitions {
    /// With this id only
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// Decisions rather than processes
    #[arg(long)]
    decisions: bool,
    /// The latest version of each only
    #[arg(long)]
    latest: bool,
    /// How many at most
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    limit: u32,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Debug, Args)]
pub(crate) struct Delete {
    /// Keys of processes, of decision requirements (column FILE KEY of `caudal definitions --decisions`) or of forms
    #[arg(required = true, value_name = "KEY")]
    keys: Vec<u64>,
    /// The keys are those of process instances that have finished: they go with those they called
    #[arg(long)]
    instances: bool,
    #[command(flatten)]
    remote: Remote,
}

pub(crate) fn list(definitions: &Definitions) -> Result<(), String> {
    const PROCESSES: [(&str, &str); 6] = [
        ("KEY", "processDefinitionKey"),
        ("ID", "processDefinitionId"),
        ("VERSION", "version"),
        ("TAG", "versionTag"),
        ("NAME", "name"),
        ("FILE", "resourceName"),
    ];
    const DECISIONS: [(&str, &str); 5] = [
        ("KEY", "decisionDefinitionKey"),
        ("ID", "decisionDefinitionId"),
        ("VERSION", "version"),
        ("NAME", "name"),
        ("FILE KEY", "decisionRequirementsKey"),
    ];
    let (path, columns) = match definitions.decisions {
        false => ("/v2/process-definitions/search", &PROCESSES[..]),
        true => ("/v2/decision-definitions/search", &DECISIONS[..]),
    };
    let mut filter = json!({});
    if let Some(id) = &definitions.id {
        filter[columns[1].1] = json!(id);
    }
    if !definitions.decisions {
        filter["state"] = json!("ACTIVE");
    }
    if definitions.latest {
        filter["isLatestVersion"] = json!(true);
    }
    // The latest versions can be sorted by few properties.
    let by = if definitions.latest { columns[1].1 } else { columns[0].1 };
    let order = if definitions.latest { "ASC" } else { "DESC" };
    let body = json!({ "filter": filter, "sort": [{ "field": by, "order": order }], "page": { "limit": definitions.limit } });
    client::list(&definitions.remote, path, &body, columns)
}

pub(crate) fn delete(delete: &Delete) -> Result<(), String> {
    let remote = &delete.remote;
    let resource = if delete.instances { "process-instances" } else { "resources" };
    client::each(remote, &delete.keys, "deleted", |key| {
        post(remote, &format!("/v2/{resource}/{key}/deletion"), &json!({}), PATIENCE)
    })
}
