//! `caudal check`: looks at every page of a file, reads every row of every table, compiles all that was deployed, and loads what runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use store_sqlite::Condition;

use crate::client::show;
use crate::config::{StoreUrl, store_url};
use crate::progress::{Progress, megabytes};
use crate::settings::without_password;
use crate::table::print;
use contents::Found;

mod contents;
mod served;

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Folder of the embedded store; no server may be using it
    #[arg(long, value_name = "FOLDER", env = "CAUDAL_DATA", default_value = "./caudal-data")]
    data: PathBuf,
    /// Instead: sqlite:FOLDER, or postgres://USER:PASSWORD@HOST/DATABASE, which servers may be using meanwhile
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// Let a server go on with what is there although something is missing, if it is sound
    #[arg(long)]
    accept: bool,
    /// Print JSON, one document
    #[arg(long)]
    json: bool,
}

/// All that is to be told of a store.
struct Looked {
    /// How people call it.
    name: String,
    condition: Condition,
    /// Rows by table, if they were read.
    counts: Option<BTreeMap<&'static str, u64>>,
    /// Faults beyond those that are listed.
    more: u64,
    advice: &'static str,
}

pub(crate) fn check(check: &Check) -> Result<(), String> {
    let given = check.store.as_deref().filter(|url| !url.is_empty());
    let store = given.map_or_else(|| Ok(StoreUrl::Sqlite(check.data.clone())), store_url)?;
    let looked = match &store {
        StoreUrl::Memory => return Err("a store in memory is gone with its server: there is nothing to check".to_owned()),
        StoreUrl::Sqlite(folder) => in_folder(folder, check.accept, &store)?,
        StoreUrl::Postgres(_) if check.accept => return Err("--accept is for embedded stores".to_owned()),
        StoreUrl::Postgres(url) => in_database(url, &store)?,
    };
    match check.json {
        true => show(&json!({
            "faults": faults(&looked),
            "rows": looked.counts.as_ref().map_or(Value::Null, |counts| json!(counts)),
            "isCurrent": looked.condition.is_current,
        }))?,
        false => tell(&looked),
    }
    outcome(&looked, check.json)
}

fn in_folder(folder: &Path, accept: bool, store: &StoreUrl) -> Result<Looked, String> {
    let file = folder.join("caudal.db");
    let bytes = file.metadata().map_or(0, |found| found.len());
    Progress::begin().tell(|| format!("Looking at every page of {}: {}", file.display(), megabytes(bytes)));
    let mut condition = store_sqlite::check(folder).map_err(|error| error.to_string())?;
    if accept && condition.faults.is_empty() {
        store_sqlite::accept(folder).map_err(|error| error.to_string())?;
        condition.refusal = None;
    }
    // Opening a store of an earlier server would change it, and rows of a damaged file are not worth reading.
    let is_readable = condition.refusal.is_none() && condition.faults.is_empty() && condition.is_current;
    let found = if is_readable { Some(contents::read(store)?) } else { None };
    let advice = "Restore a backup: caudal restore FILE --data FOLDER";
    Ok(looked(folder.display().to_string(), condition, found, advice))
}

fn in_database(url: &str, store: &StoreUrl) -> Result<Looked, String> {
    let is_current = contents::is_current(url)?;
    let found = if is_current { Some(contents::read(store)?) } else { None };
    let condition = Condition { refusal: None, faults: Vec::new(), is_current };
    let advice = "Restore a backup of the database";
    Ok(looked(without_password(url), condition, found, advice))
}

fn looked(name: String, mut condition: Condition, found: Option<Found>, advice: &'static str) -> Looked {
    let Some(found) = found else { return Looked { name, condition, counts: None, more: 0, advice } };
    condition.faults.extend(found.faults);
    Looked { name, condition, counts: Some(found.counts), more: found.more, advice }
}

fn faults(looked: &Looked) -> Vec<&String> {
    looked.condition.faults.iter().chain(&looked.condition.refusal).collect()
}

fn tell(looked: &Looked) {
    for fault in faults(looked) {
        print(&format!("{fault}\n"));
    }
    if 0 < looked.more {
        print(&format!("… and {} more\n", looked.more));
    }
    if !looked.condition.is_current && faults(looked).is_empty() {
        print("The store was written by an earlier server; its rows are checked once this one has opened it.\n");
    }
    for (table, count) in looked.counts.iter().flatten() {
        print(&format!("{table}: {count} read\n"));
    }
}

fn outcome(looked: &Looked, is_json: bool) -> Result<(), String> {
    let (name, advice) = (&looked.name, looked.advice);
    match faults(looked).len() as u64 + looked.more {
        0 if is_json || !looked.condition.is_current => Ok(()),
        0 => {
            print(&format!(
                "{name} is sound: every row of every table was read, every definition, decision and form compiled.\n"
            ));
            Ok(())
        }
        _ if looked.condition.refusal.is_some() => Err(format!("{name} is not all there")),
        1 => Err(format!("a fault in {name}. {advice}")),
        count => Err(format!("{count} faults in {name}. {advice}")),
    }
}
