//! The words for every property and parameter, from one table, so that the same thing is said once and alike.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Map, Value, json};

const TABLE: &str = include_str!("words.txt");

/// What tells the schemas of one entity apart. The longest that fits counts.
const SUFFIXES: [&str; 7] = ["GetQueryResult", "SearchResult", "QueryResult", "FilterFields", "Filter", "Response", "Result"];

struct Words {
    what: &'static str,
    /// What null means in an answer.
    null: Option<&'static str>,
}

static WORDS: LazyLock<BTreeMap<&'static str, Words>> = LazyLock::new(|| lines().collect());

fn lines() -> impl Iterator<Item = (&'static str, Words)> {
    TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")).filter_map(|line| {
        let mut parts = line.split(" | ");
        Some((parts.next()?, Words { what: parts.next()?, null: parts.next() }))
    })
}

/// By the schema or operation that has it, by the entity of the schema, by the name alone.
fn find(owner: &str, name: &str) -> Option<(&'static str, &'static Words)> {
    let entity = SUFFIXES.iter().find_map(|suffix| owner.strip_suffix(suffix)).unwrap_or(owner);
    let (own, common) = (format!("{owner}.{name}"), format!("{entity}.{name}"));
    [own.as_str(), &common, name].iter().find_map(|key| WORDS.get_key_value::<str>(key)).map(|(key, words)| (*key, words))
}

/// To all properties of these schemas that have none.
pub(super) fn add_to_schemas(schemas: &mut Map<String, Value>) {
    for (name, schema) in schemas {
        add(name, schema);
    }
}

/// To the parameters of an operation, and to what it reads and writes, where they have none.
pub(super) fn add_to_operation(id: &str, operation: &mut Value) {
    for parameter in operation["parameters"].as_array_mut().into_iter().flatten() {
        let words = parameter["name"].as_str().and_then(|name| find(id, name));
        if let (Some((_, words)), true) = (words, parameter["description"].is_null()) {
            parameter["description"] = json!(words.what);
        }
    }
    for part in ["requestBody", "responses"] {
        if let Some(part) = operation.get_mut(part) {
            add(id, part);
        }
    }
}

/// To whatever is inside, too.
fn add(owner: &str, value: &mut Value) {
    let may_be_null = is_answer(value);
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::Object(properties) if name == "properties" => {
                        for (name, property) in properties {
                            add(owner, property);
                            describe(owner, name, property, may_be_null);
                        }
                    }
                    member => add(owner, member),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| add(owner, item)),
        _ => {}
    }
}

fn describe(owner: &str, name: &str, property: &mut Value, may_be_null: bool) {
    if property.get("description").is_some() {
        return;
    }
    let Some((_, words)) = find(owner, name) else { return };
    property["description"] = match words.null.filter(|_| may_be_null && is_nullable(property)) {
        Some(how_often @ ("always" | "never")) => json!(format!("{}; {how_often} null", words.what)),
        Some(when) => json!(format!("{}; null {when}", words.what)),
        None => json!(words.what),
    };
}

/// Only requests refuse properties they do not know.
fn is_answer(object: &Value) -> bool {
    object.get("additionalProperties").is_none()
}

fn is_nullable(schema: &Value) -> bool {
    let is_null = |schema: &Value| schema["type"] == "null";
    schema["type"].as_array().is_some_and(|kinds| kinds.contains(&json!("null")))
        || schema["anyOf"].as_array().is_some_and(|choices| choices.iter().any(is_null))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::rest::Config;

    /// Every property and parameter of the description, with where it is.
    fn named(description: &Value) -> Vec<(String, String, Value, bool)> {
        let mut found = Vec::new();
        for (name, schema) in description["components"]["schemas"].as_object().unwrap() {
            properties(name, schema, &mut found);
        }
        for operation in description["paths"].as_object().unwrap().values().flat_map(|path| path.as_object().unwrap().values()) {
            let id = operation["operationId"].as_str().unwrap();
            for parameter in operation["parameters"].as_array().unwrap() {
                found.push((id.to_owned(), parameter["name"].as_str().unwrap().to_owned(), parameter.clone(), false));
            }
            properties(id, operation, &mut found);
        }
        found
    }

    fn properties(owner: &str, value: &Value, found: &mut Vec<(String, String, Value, bool)>) {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    match member {
                        Value::Object(inner) if name == "properties" => {
                            for (name, property) in inner {
                                found.push((owner.to_owned(), name.clone(), property.clone(), is_answer(value)));
                                properties(owner, property, found);
                            }
                        }
                        member => properties(owner, member, found),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| properties(owner, item, found)),
            _ => {}
        }
    }

    #[test]
    fn everything_has_words() {
        let description = super::super::description(&Config::default());
        let missing: BTreeSet<String> = named(&description)
            .into_iter()
            .filter(|(_, _, value, _)| value["description"].as_str().is_none_or(str::is_empty))
            .map(|(owner, name, ..)| format!("{owner}.{name}"))
            .collect();
        assert!(missing.is_empty(), "a field says what it is, or words.txt has a line for it: {missing:#?}");
        for operation in crate::rest::operation::all() {
            assert!(!operation.summary.is_empty(), "{} has no summary", operation.id);
        }
    }

    #[test]
    fn every_null_has_a_meaning() {
        let description = super::super::description(&Config::default());
        let silent: BTreeSet<String> = named(&description)
            .into_iter()
            .filter(|(_, _, value, is_answer)| *is_answer && is_nullable(value))
            .filter(|(owner, name, value, _)| {
                // What a field says of itself is its own affair.
                find(owner, name).is_some_and(|(_, words)| value["description"] == words.what)
            })
            .map(|(owner, name, ..)| format!("{owner}.{name}"))
            .collect();
        assert!(silent.is_empty(), "words.txt does not say what null means: {silent:#?}");
    }

    #[test]
    fn every_line_is_read_and_needed() {
        let written = TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")).count();
        assert_eq!(written, WORDS.len(), "a line without words, or two for one name");
        let description = super::super::description(&Config::default());
        let used: BTreeSet<&str> = named(&description)
            .iter()
            .filter_map(|(owner, name, value, _)| {
                let (key, words) = find(owner, name)?;
                value["description"].as_str()?.starts_with(words.what).then_some(key)
            })
            .collect();
        let unused: Vec<_> = WORDS.keys().filter(|key| !used.contains(**key)).collect();
        assert!(unused.is_empty(), "nothing is described by {unused:?}");
    }
}
