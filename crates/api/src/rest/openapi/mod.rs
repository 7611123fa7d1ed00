//! `/openapi.json`, built from the tables that read requests and write answers, and `/docs`, a page that shows it.

mod operations;
#[cfg(test)]
mod page;
mod rules;
mod schema;
mod searches;
mod words;

use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::response::Redirect;
use axum::routing::get;
use bytes::Bytes;
use serde_json::{Value, json};

use super::{Config, answer};

const DOCS: &str = include_str!("docs.html");

pub(super) fn router(config: &Config) -> Router {
    // Few ask for it, and making it would take a good part of a server's start.
    let (config, made) = (config.clone(), Arc::new(OnceLock::new()));
    let description = async move || {
        let description = made.get_or_init(|| Bytes::from(description(&config).to_string()));
        answer::content("application/json", description.clone())
    };
    Router::new()
        // Whoever types the address alone wants to know what is here. No leading slash: a proxy may have put us below a path.
        .route("/", get(async || Redirect::temporary("docs")))
        .route("/openapi.json", get(description))
        .route("/docs", get(async || answer::content("text/html; charset=utf-8", DOCS)))
}

fn description(config: &Config) -> Value {
    let mut schemas = schema::Schemas::default();
    let paths = operations::paths(&mut schemas);
    schemas.add("ProblemDetail", problem());
    schemas.add("WorkflowError", workflow_error());
    schemas.add("SearchQueryPageResponse", searches::page_response());
    schemas.add("SearchQueryPageRequest", searches::page_request());
    schemas.add("CommandAccepted", accepted());
    schemas.add("Key", schema::key_schema());
    schemas.add_words();
    rules::apply(&mut schemas);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Caudal",
            "summary": "A durable workflow engine: what REST serves",
            "version": env!("CARGO_PKG_VERSION"),
            "description": format!(
                "Compatible with the Orchestration Cluster API of Camunda {}. Errors are `application/problem+json`. Every command \
                 honours `Idempotency-Key` and `Prefer: respond-async`. A search sees what the caller has been told. What is about JSON \
                 workflows (`/v1/definitions`, `/v1/instances`, `/v1/jobs`) follows their own contract, errors included.",
                config.version
            ),
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "paths": paths,
        "components": { "schemas": schemas.into_value() },
    })
}

fn problem() -> Value {
    json!({
        "type": "object",
        "description": "Why a request was not done, after RFC 9457.",
        "required": ["type", "title", "status", "detail", "instance"],
        "properties": {
            "type": { "type": "string" },
            "title": { "type": "string", "description": "The word to branch on: NOT_FOUND, INVALID_STATE, RESOURCE_EXHAUSTED, …" },
            "status": { "type": "integer" },
            "detail": { "type": "string", "description": "For people." },
            "instance": { "type": "string", "description": "The path of the request." },
        },
    })
}

fn workflow_error() -> Value {
    json!({
        "type": "object",
        "description": "Why a request about JSON workflows was not done.",
        "required": ["error", "message", "reason"],
        "properties": {
            "error": { "type": "string", "description": "The word to branch on: BAD_REQUEST, NOT_FOUND, CONFLICT, …" },
            "message": { "type": "string", "description": "For people. Of a workflow, every problem on a line of its own." },
            "reason": { "type": "string", "description": "The message again." },
        },
    })
}

fn accepted() -> Value {
    json!({
        "type": "object",
        "required": ["commandPosition"],
        "properties": { "commandPosition": { "type": "string", "description": "For `GET /v1/commands/{commandPosition}`." } },
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::rest::operation;

    fn references(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(map) => {
                if let Some(Value::String(reference)) = map.get("$ref") {
                    found.insert(reference.trim_start_matches("#/components/schemas/").to_owned());
                }
                map.values().for_each(|value| references(value, found));
            }
            Value::Array(list) => list.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }

    /// What other programs are made from does not change unnoticed.
    #[test]
    fn the_description_is_the_one_checked_in() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");
        let now = format!("{:#}\n", description(&Config::default()));
        if std::env::var_os("UPDATE_OPENAPI").is_some() {
            std::fs::write(file, &now).unwrap();
        }
        let checked_in = std::fs::read_to_string(file).unwrap_or_default();
        assert!(now == checked_in, "docs/openapi.json is not what /openapi.json says: UPDATE_OPENAPI=1 writes it anew");
    }

    #[test]
    fn every_operation_is_described_once() {
        let description = description(&Config::default());
        let mut ids = BTreeSet::new();
        for operation in operation::all() {
            let described = &description["paths"][operation.path][operation.method.as_str().to_lowercase()];
            assert_eq!(described["operationId"], operation.id);
            assert!(ids.insert(operation.id), "{} is there twice", operation.id);
        }
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let description = description(&Config::default());
        let mut found = BTreeSet::new();
        references(&description, &mut found);
        assert!(!found.is_empty());
        for reference in found {
            assert!(description["components"]["schemas"][&reference].is_object(), "{reference}");
        }
    }

    #[test]
    fn the_page_needs_nothing_from_outside() {
        for outside in ["http://", "https://", "src=", "@import", "url("] {
            assert!(!DOCS.contains(outside), "{outside}");
        }
    }
}
