//! Variables: as they are given on the command line, and `caudal variables`.

use std::io::Read as _;

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use crate::cli::Remote;
use crate::client::{PATIENCE, agent, post, read, show, show_done, text as shown, url};

/// Variables of one scope that are shown.
const VARIABLES_MAX: usize = 10_000;

#[derive(Debug, Subcommand)]
pub(crate) enum Variables {
    /// Print the variables of one scope as a JSON object.
    Get(Get),
    /// Set variables: each where it exists already, or else in the process instance.
    Set(Set),
}

#[derive(Debug, Args)]
pub(crate) struct Get {
    /// Key of a process instance, or of an element instance for its own variables (see `caudal instance`)
    #[arg(value_name = "KEY")]
    key: u64,
    /// These only
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Debug, Args)]
pub(crate) struct Set {
    /// Key of a process instance, or of an element instance
    #[arg(value_name = "KEY")]
    key: u64,
    /// Variables as a JSON object; @FILE reads them from a file, - from standard input
    #[arg(value_name = "JSON")]
    variables: String,
    /// In this scope alone, also where an outer one has a variable of the same name
    #[arg(long)]
    local: bool,
    #[command(flatten)]
    remote: Remote,
}

pub(crate) fn run(variables: &Variables) -> Result<(), String> {
    match variables {
        Variables::Get(get) => print(get),
        Variables::Set(set) => {
            let body = json!({ "variables": given("JSON", &set.variables)?, "local": set.local });
            let path = url(&set.remote, &format!("/v2/element-instances/{}/variables", set.key));
            let answer = read(&set.remote, agent(&set.remote, PATIENCE)?.put(path).send_json(body))?;
            show_done(&set.remote, &answer)
        }
    }
}

fn print(get: &Get) -> Result<(), String> {
    let mut variables = of_scope(&get.remote, get.key)?;
    if let Some(missing) = get.names.iter().find(|name| !variables.contains_key(*name)) {
        return Err(format!("{} has no variable '{missing}' of its own; see `caudal instance KEY` for all its scopes", get.key));
    }
    if !get.names.is_empty() {
        variables.retain(|name, _| get.names.contains(name));
    }
    show(&Value::Object(variables))
}

/// The variables of one scope, whole.
pub(crate) fn of_scope(remote: &Remote, scope: u64) -> Result<Map<String, Value>, String> {
    let body = json!({ "filter": { "scopeKey": scope.to_string() }, "page": { "limit": VARIABLES_MAX } });
    let answer = post(remote, "/v2/variables/search?truncateValues=false", &body, PATIENCE)?;
    let items = answer["items"].as_array().map_or(&[][..], Vec::as_slice);
    Ok(items.iter().map(|item| (shown(&item["name"]), value(&shown(&item["value"])))).collect())
}

/// The value of a variable, which answers write as JSON in a text.
fn value(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|_| Value::String(json.to_owned()))
}

/// Variables as they were given: JSON, `@FILE` or `-`.
pub(crate) fn given(flag: &str, given: &str) -> Result<Value, String> {
    let variables: Value = serde_json::from_str(&text(flag, given)?).map_err(|error| format!("{flag} is not JSON: {error}"))?;
    match variables.is_object() {
        true => Ok(variables),
        false => Err(format!("{flag} must be a JSON object, such as '{{\"amount\": 5}}'")),
    }
}

/// What was given, what stands in the file after `@`, or what comes from standard input for `-`.
pub(crate) fn text(flag: &str, given: &str) -> Result<String, String> {
    if given == "-" {
        let mut text = String::new();
        let read = std::io::stdin().lock().read_to_string(&mut text);
        return read.map(|_| text).map_err(|error| format!("{flag}: cannot read standard input: {error}"));
    }
    match given.strip_prefix('@') {
        None => Ok(given.to_owned()),
        Some(path) => std::fs::read_to_string(path).map_err(|error| format!("{flag}: cannot read {path}: {error}")),
    }
}
