//! Changing what runs: modification and migration.

use clap::Args;
use serde_json::{Value, json};

use crate::cli::Remote;
use crate::client::{PATIENCE, post, show_done};
use crate::variables;

#[derive(Debug, Args)]
#[command(
    after_help = "All of it happens, or nothing.\n\nExamples:\n  caudal modify 2251799813685250 --move pay=ship\n  caudal modify 2251799813685250 --activate check --terminate 2251799813685262 --variables '{\"x\": 1}'"
)]
pub(crate) struct Modify {
    /// Key of the instance
    #[arg(value_name = "KEY")]
    key: u64,
    /// Enter this element
    #[arg(long, value_name = "ELEMENT")]
    activate: Vec<String>,
    /// End all active instances of this element, or the element instance with this key
    #[arg(long, value_name = "ELEMENT|KEY")]
    terminate: Vec<String>,
    /// End all active instances of an element, or one by its key, and enter another element for each
    #[arg(long = "move", value_name = "ELEMENT|KEY=ELEMENT")]
    moves: Vec<String>,
    /// The element instance to enter elements in; what lies between the two is made anew
    #[arg(long = "in", value_name = "KEY")]
    ancestor: Option<u64>,
    /// Variables to set with each element entered: a JSON object, @FILE, or - for standard input
    #[arg(long, value_name = "JSON", default_value = "{}")]
    variables: String,
    /// Where the variables belong: the element, or a scope around it; without it the process
    #[arg(long, value_name = "ELEMENT")]
    scope: Option<String>,
    #[command(flatten)]
    remote: Remote,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Every active element is mapped to one of the same type.\n\nExample:\n  caudal migrate 2251799813685250 --to 2251799813685300 --map pay=charge --map late=late"
)]
pub(crate) struct Migrate {
    /// Key of the instance
    #[arg(value_name = "KEY")]
    key: u64,
    /// Key of the definition to go on with
    #[arg(long, value_name = "KEY")]
    to: u64,
    /// What an active element, or an event on one, becomes
    #[arg(long, value_name = "ELEMENT=ELEMENT", required = true)]
    map: Vec<String>,
    #[command(flatten)]
    remote: Remote,
}

pub(crate) fn modify(modify: &Modify) -> Result<(), String> {
    let body = modification(modify)?;
    send(&modify.remote, &format!("/v2/process-instances/{}/modification", modify.key), &body)
}

pub(crate) fn migrate(migrate: &Migrate) -> Result<(), String> {
    let mappings = migrate.map.iter().map(|pair| {
        let (from, to) = pair_of(pair, "--map")?;
        Ok(json!({ "sourceElementId": from, "targetElementId": to }))
    });
    let mappings = mappings.collect::<Result<Vec<_>, String>>()?;
    let body = json!({ "targetProcessDefinitionKey": migrate.to.to_string(), "mappingInstructions": mappings });
    send(&migrate.remote, &format!("/v2/process-instances/{}/migration", migrate.key), &body)
}

fn modification(modify: &Modify) -> Result<Value, String> {
    let given = variables::given("--variables", &modify.variables)?;
    let gives_none = given.as_object().is_some_and(|given| given.is_empty());
    let enters_none = modify.activate.is_empty() && modify.moves.is_empty();
    if enters_none && modify.terminate.is_empty() {
        return Err("say what to change: with --activate, --terminate or --move".to_owned());
    }
    if enters_none && (!gives_none || modify.ancestor.is_some()) {
        return Err("--variables and --in are for elements that are entered: with --activate or --move".to_owned());
    }
    if gives_none && modify.scope.is_some() {
        return Err("--scope says where --variables belong, and there are none".to_owned());
    }
    let scoped = match gives_none {
        true => json!([]),
        false => json!([{ "variables": given, "scopeId": modify.scope.clone().unwrap_or_default() }]),
    };
    let ancestor = modify.ancestor.map(|key| key.to_string());
    let activate = modify
        .activate
        .iter()
        .map(|id| json!({ "elementId": id, "ancestorElementInstanceKey": ancestor, "variableInstructions": scoped }));
    let terminate = modify.terminate.iter().map(|which| match is_key(which) {
        true => json!({ "elementInstanceKey": which }),
        false => json!({ "elementId": which }),
    });
    let around = ancestor.as_ref().map(|key| json!({ "ancestorScopeType": "direct", "ancestorElementInstanceKey": key }));
    let moves = modify.moves.iter().map(|pair| {
        let (from, to) = pair_of(pair, "--move")?;
        let source = match is_key(from) {
            true => json!({ "sourceType": "byKey", "sourceElementInstanceKey": from }),
            false => json!({ "sourceType": "byId", "sourceElementId": from }),
        };
        Ok(json!({
            "sourceElementInstruction": source,
            "targetElementId": to,
            "ancestorScopeInstruction": around,
            "variableInstructions": scoped,
        }))
    });
    Ok(json!({
        "activateInstructions": activate.collect::<Vec<_>>(),
        "terminateInstructions": terminate.collect::<Vec<_>>(),
        "moveInstructions": moves.collect::<Result<Vec<_>, String>>()?,
    }))
}

/// No element has an id that begins with a digit.
fn is_key(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit())
}

pub(crate) fn pair_of<'a>(pair: &'a str, flag: &str) -> Result<(&'a str, &'a str), String> {
    pair.split_once('=').ok_or_else(|| format!("{flag} takes two separated by '=', but got '{pair}'"))
}

fn send(remote: &Remote, path: &str, body: &Value) -> Result<(), String> {
    show_done(remote, &post(remote, path, body, PATIENCE)?)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        modify: Modify,
    }

    fn body(line: &str) -> Result<Value, String> {
        modification(&Line::try_parse_from(std::iter::once("x").chain(line.split(' '))).unwrap().modify)
    }

    #[test]
    fn keys_and_ids_are_told_apart() {
        let body = body("5 --terminate a --terminate 77 --move 88=b --move c=d --in 9").unwrap();
        assert_eq!(body["terminateInstructions"], json!([{ "elementId": "a" }, { "elementInstanceKey": "77" }]));
        assert_eq!(
            body["moveInstructions"][0]["sourceElementInstruction"],
            json!({ "sourceType": "byKey", "sourceElementInstanceKey": "88" })
        );
        assert_eq!(body["moveInstructions"][1]["ancestorScopeInstruction"]["ancestorElementInstanceKey"], "9");
    }

    #[test]
    fn what_would_change_nothing_is_refused() {
        for line in [
            "5 --terminate a",
            "5 --activate a --move b=c --terminate d --in 9",
            "5 --activate b --variables {\"x\":1} --scope s",
        ] {
            assert!(body(line).is_ok(), "{line}");
        }
        for line in [
            "5",
            "5 --variables {\"x\":1}",
            "5 --terminate a --variables {\"x\":1}",
            "5 --terminate a --in 9",
            "5 --activate b --scope s",
        ] {
            assert!(body(line).is_err(), "{line}");
        }
    }

    #[test]
    fn variables_go_to_their_scope() {
        let with = body(r#"5 --activate b --variables {"x":1} --scope sub"#).unwrap();
        assert_eq!(
            with["activateInstructions"][0]["variableInstructions"],
            json!([{ "variables": { "x": 1 }, "scopeId": "sub" }])
        );
        let without = body("5 --activate b").unwrap();
        assert_eq!(without["activateInstructions"][0]["variableInstructions"], json!([]));
        assert!(body("5 --move b").unwrap_err().starts_with("--move takes two"));
    }
}
