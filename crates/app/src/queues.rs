//! Policies of queues from the command line.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::Value;

use crate::cli::Remote;
use crate::client::{PATIENCE, agent, get, read, show, show_items, url};
use crate::table::print;

#[derive(Debug, Subcommand)]
pub(crate) enum Policies {
    /// Put the policies of a file: an object of them by name, as YAML (.yaml, .yml), TOML (.toml) or JSON.
    Apply(Apply),
    /// List policies.
    List(List),
    /// Show how a policy has changed, and who changed it.
    History(Named),
    /// Delete a policy; its history stays.
    Delete(Named),
}

#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    pub(crate) remote: Remote,
}

#[derive(Debug, Args)]
pub(crate) struct Named {
    /// What the policy is called
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Hand out no more of its jobs; what runs goes on.
    Pause(Which),
    /// Hand out its jobs, and take executions, again.
    Resume(Which),
    /// Take no more executions; what is there goes on.
    Drain(Named),
}

#[derive(Debug, Args)]
pub(crate) struct Which {
    /// The action
    pub(crate) name: String,
    /// Only the group with these values, as a JSON object: a value for each parameter of the policy that applies
    #[arg(long, value_name = "JSON")]
    pub(crate) group: Option<String>,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

#[derive(Debug, Args)]
pub(crate) struct Apply {
    /// The file
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

pub(crate) fn policies(policies: &Policies) -> Result<(), String> {
    match policies {
        Policies::Apply(apply) => put(apply),
        Policies::List(list) => list_of(&list.remote, "/v1/policies"),
        Policies::History(named) => list_of(&named.remote, &format!("/v1/policies/{}/history", escaped(&named.name))),
        Policies::Delete(named) => {
            let path = format!("/v1/policies/{}", escaped(&named.name));
            let sent = agent(&named.remote, PATIENCE)?.delete(url(&named.remote, &path)).call();
            read(&named.remote, sent)?;
            Ok(())
        }
    }
}

fn list_of(remote: &Remote, path: &str) -> Result<(), String> {
    let columns = [("REF", "ref"), ("VERSION", "version"), ("POLICY", "policy"), ("CHANGED", "changedAt"), ("BY", "changedBy")];
    show_items(remote, &get(remote, path)?, &columns)
}

pub(crate) fn action(action: &Action) -> Result<(), String> {
    let (remote, name, verb, group) = match action {
        Action::Pause(which) => (&which.remote, &which.name, "pause", which.group.as_deref()),
        Action::Resume(which) => (&which.remote, &which.name, "resume", which.group.as_deref()),
        Action::Drain(named) => (&named.remote, &named.name, "drain", None),
    };
    let body = match group {
        Some(text) => {
            let group: Value = serde_json::from_str(text).map_err(|error| format!("--group is no JSON: {error}"))?;
            serde_json::json!({ "group": group })
        }
        None => serde_json::json!({}),
    };
    let path = format!("/v1/actions/{}/{verb}", escaped(name));
    let sent = agent(remote, PATIENCE)?.post(url(remote, &path)).content_type("application/json").send(body.to_string());
    read(remote, sent)?;
    Ok(())
}

fn put(apply: &Apply) -> Result<(), String> {
    let file = apply.file.display();
    let text = std::fs::read_to_string(&apply.file).map_err(|error| format!("cannot read {file}: {error}"))?;
    let policies = parsed(&text, Notation::of(&apply.file)).map_err(|why| format!("{file}: {why}"))?;
    for (name, policy) in &policies {
        let path = format!("/v1/policies/{}", escaped(name));
        let body = policy.to_string();
        let sent = agent(&apply.remote, PATIENCE)?.put(url(&apply.remote, &path)).content_type("application/json").send(body);
        read(&apply.remote, sent).map_err(|why| format!("{name}: {}", String::from(why)))?;
    }
    if apply.remote.json {
        return show(&Value::from_iter(policies.keys().cloned()));
    }
    policies.keys().for_each(|name| print(&format!("{name}\n")));
    Ok(())
}

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Notation {
    Json,
    Toml,
    Yaml,
}

impl Notation {
    fn of(file: &Path) -> Self {
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("toml") => Self::Toml,
            Some("yaml" | "yml") => Self::Yaml,
            Some(_) | None => Self::Json,
        }
    }
}

/// All are read before the first is put.
fn parsed(text: &str, notation: Notation) -> Result<serde_json::Map<String, Value>, String> {
    let value: Value = match notation {
        Notation::Toml => toml::from_str(text).map_err(|error| error.to_string())?,
        Notation::Yaml => serde_norway::from_str(text).map_err(|error| error.to_string())?,
        Notation::Json => serde_json::from_str(text).map_err(|error| error.to_string())?,
    };
    match value {
        Value::Object(policies) if policies.values().all(Value::is_object) => Ok(policies),
        _ => Err("expected an object of policies by name, such as {\"mails\": {\"scope\": \"ACTION\", …}}".to_owned()),
    }
}

/// A name as a segment of a path.
pub(crate) fn escaped(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
    name.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_policies_by_name() {
        let json = r#"{"mails": {"scope": "ACTION", "action": "mail", "concurrency": {"limit": 2}}}"#;
        let toml = "[mails]\nscope = \"ACTION\"\naction = \"mail\"\nconcurrency = { limit = 2 }\n";
        let yaml = "mails:\n  scope: ACTION\n  action: mail\n  concurrency:\n    limit: 2\n";
        let known = parsed(json, Notation::Json);
        assert_eq!(known.as_ref().unwrap()["mails"]["concurrency"]["limit"], 2);
        assert_eq!((&known, &known), (&parsed(toml, Notation::Toml), &parsed(yaml, Notation::Yaml)));
        let (json, toml, yaml) = (Notation::Json, Notation::Toml, Notation::Yaml);
        let wrong =
            [("[]", json), (r#"{"a": 1}"#, json), ("a = 1", toml), ("{", json), ("[", toml), ("a: 1", yaml), ("a: b: c", yaml)];
        for (text, notation) in wrong {
            assert!(parsed(text, notation).is_err(), "{text}");
        }
        for (file, notation) in [("p.yaml", yaml), ("p.yml", yaml), ("p.toml", toml), ("p.json", json), ("p", json)] {
            assert_eq!(Notation::of(Path::new(file)), notation, "{file}");
        }
        assert_eq!(escaped("per customer/ü"), "per%20customer%2F%C3%BC");
    }
}
