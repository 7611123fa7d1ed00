//! `caudal purge`.

use std::collections::BTreeMap;

use clap::Args;
use serde_json::{Value, json};

use crate::cli::Remote;
use crate::client::{PATIENCE, post, show};
use crate::table::print;

#[derive(Debug, Args)]
pub(crate) struct Purge {
    /// Remove nothing: count what would go, each kind up to a million
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    remote: Remote,
}

/// Asks until all of it is gone.
pub(crate) fn purge(purge: &Purge) -> Result<(), String> {
    let mut rows: BTreeMap<String, u64> = BTreeMap::new();
    loop {
        let answer = post(&purge.remote, "/v1/purge", &json!({ "dryRun": purge.dry_run }), PATIENCE)?;
        for item in answer["items"].as_array().into_iter().flatten() {
            let (what, count) = (item["what"].as_str().unwrap_or_default(), item["rows"].as_u64().unwrap_or_default());
            *rows.entry(what.to_owned()).or_default() += count;
        }
        if purge.dry_run || answer["isDone"] == Value::Bool(true) {
            break;
        }
    }
    if purge.remote.json {
        return show(&json!(rows));
    }
    for (what, count) in &rows {
        let word = if purge.dry_run { "would go" } else { "went" };
        print(&format!("{what}: {count} {word}\n"));
    }
    if rows.is_empty() {
        print("Nothing is old enough.\n");
    }
    Ok(())
}
