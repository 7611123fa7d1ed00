//! Policies of queues from the command line.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::Value;

use crate::cli::Remote;
use crate::client::{PATIENCE, agent, get, read, show, show_items, url};
use crate::table::print;

#[derive(Debug, Subcommand)]
pub(crate) enum Policies {
    /// Put the policies of a file: an object of them by name, as JSON or, in a file that ends in .toml, as TOML.
    Apply(Apply),
    /// List policies.
    List(List),
}

#[derive(Debug, Args)]
pub(crate) struct List {
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
        Policies::List(list) => {
            let answer = get(&list.remote, "/v1/policies")?;
            let columns =
                [("REF", "ref"), ("VERSION", "version"), ("POLICY", "policy"), ("CHANGED", "changedAt"), ("BY", "changedBy")];
            show_items(&list.remote, &answer, &columns)
        }
    }
}

fn put(apply: &Apply) -> Result<(), String> {
    let file = apply.file.display();
    let text = std::fs::read_to_string(&apply.file).map_err(|error| format!("cannot read {file}: {error}"))?;
    let is_toml = apply.file.extension().is_some_and(|extension| extension == "toml");
    let policies = parsed(&text, is_toml).map_err(|why| format!("{file}: {why}"))?;
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

/// All are read before the first is put.
fn parsed(text: &str, is_toml: bool) -> Result<serde_json::Map<String, Value>, String> {
    let value: Value = match is_toml {
        true => toml::from_str(text).map_err(|error| error.to_string())?,
        false => serde_json::from_str(text).map_err(|error| error.to_string())?,
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
        assert_eq!(parsed(json, false), parsed(toml, true));
        assert_eq!(parsed(json, false).unwrap()["mails"]["concurrency"]["limit"], 2);
        for (text, is_toml) in [("[]", false), (r#"{"a": 1}"#, false), ("a = 1", true), ("{", false), ("[", true)] {
            assert!(parsed(text, is_toml).is_err(), "{text}");
        }
        assert_eq!(escaped("per customer/ü"), "per%20customer%2F%C3%BC");
    }
}
