//! The operations, path by path.

use serde_json::{Map, Value, json};

use super::schema::{Schemas, key, reference};
use super::{rules, searches, words};
use crate::rest::operation::{self, Input, Operation, Output};
use crate::rest::shape::Shape;
use crate::rest::workflows;

/// What every operation may answer when it does not do what it was asked.
const FAILURES_ALWAYS: [u16; 4] = [400, 403, 406, 503];
/// What one that takes a body may answer besides.
const FAILURES_BODY: [u16; 3] = [408, 413, 415];

pub(super) fn paths(schemas: &mut Schemas) -> Value {
    let mut paths = Map::new();
    for operation in operation::all() {
        let methods = paths.entry(operation.path).or_insert_with(|| json!({}));
        methods[operation.method.as_str().to_lowercase()] = describe(schemas, operation);
    }
    Value::Object(paths)
}

fn describe(schemas: &mut Schemas, operation: &Operation) -> Value {
    let mut described = json!({
        "operationId": operation.id,
        "summary": operation.summary,
        "tags": [tag(operation.path)],
        "parameters": parameters(schemas, operation),
        "responses": responses(schemas, operation),
    });
    if let Some(body) = body(schemas, operation) {
        described["requestBody"] = body;
    }
    words::add_to_operation(operation.id, &mut described);
    described
}

/// Operations are grouped by the first name in their path.
fn tag(path: &str) -> &str {
    path.split('/').nth(2).unwrap_or_default()
}

fn parameters(schemas: &mut Schemas, operation: &Operation) -> Value {
    let mut parameters = Vec::new();
    for (_, name) in operation.parameters() {
        // The one key that is two numbers: which evaluation, and which of its decisions.
        let schema = match name {
            "decisionEvaluationInstanceKey" => {
                json!({ "type": "string", "pattern": "^[0-9]+-[0-9]+$", "minLength": 3, "maxLength": 30 })
            }
            _ if workflows::owns(operation.path) => workflows::parameter(name),
            "action" => json!({ "type": "string", "minLength": 1 }),
            "policyRef" => json!({ "type": "string", "pattern": "^[^:/\\u0000-\\u001F\\u007F-\\u009F]+$", "maxLength": 64 }),
            _ => key(),
        };
        parameters.push(json!({ "name": name, "in": "path", "required": true, "schema": schema }));
    }
    for field in operation.query {
        let mut schema = schemas.kind(field.kind, true);
        rules::parameter(operation.id, field.name, &mut schema);
        let mut parameter = json!({ "name": field.name, "in": "query", "schema": schema });
        if !field.about.is_empty() {
            parameter["description"] = json!(field.about);
        }
        if field.required {
            parameter["required"] = json!(true);
        }
        parameters.push(parameter);
    }
    if operation.takes_idempotency_key() {
        parameters.push(json!({
            "name": "Idempotency-Key", "in": "header",
            "description": "A second request with the same key gets the first answer again and has no second effect",
            "schema": { "type": "string", "minLength": 1, "maxLength": 256, "pattern": "^[!-~]+$" },
        }));
    }
    if operation.is_command() {
        parameters.push(json!({
            "name": "Prefer", "in": "header",
            "description": "`respond-async`: answer 202 as soon as the command is durable; other preferences have no effect",
            "schema": { "type": "string" }, "example": "respond-async",
        }));
    }
    Value::Array(parameters)
}

fn body(schemas: &mut Schemas, operation: &Operation) -> Option<Value> {
    let (required, schema) = match operation.input {
        Input::None => return None,
        Input::Files => return Some(files()),
        Input::Upload(metadata) => return Some(upload(schemas, operation, metadata)),
        Input::Json(about, required) => {
            let schema = json!({ "type": "object", "additionalProperties": true, "description": about });
            (required, if required { schema } else { or_null(schema) })
        }
        Input::Ignored => (false, json!({ "description": "Nothing is read of it" })),
        // Where a body may be left out it may be null.
        Input::Optional(shape) => (false, or_null(schemas.object(shape, true))),
        Input::Required(shape) => (true, schemas.object(shape, true)),
        Input::Search(table) => (false, or_null(searches::request(schemas, table))),
        Input::Filter(table) => (false, or_null(searches::filter_request(schemas, table))),
    };
    Some(json!({ "required": required, "content": { "application/json": { "schema": schema } } }))
}

fn or_null(schema: Value) -> Value {
    json!({ "anyOf": [schema, { "type": "null" }] })
}

fn files() -> Value {
    json!({
        "required": true,
        "content": { "multipart/form-data": { "schema": {
            "type": "object",
            "required": ["resources"],
            "properties": {
                "resources": {
                    "type": "array", "minItems": 1,
                    "items": { "type": "string", "contentMediaType": "application/octet-stream" },
                    "description": "The files; the name of a part is the name of the resource",
                },
                "tenantId": { "type": "string", "description": "The tenant" },
            },
        } } },
    })
}

/// A file with what is to be known of it, or several.
fn upload(schemas: &mut Schemas, operation: &Operation, metadata: &'static Shape) -> Value {
    let file = json!({ "type": "string", "contentMediaType": "application/octet-stream" });
    let about = schemas.object(metadata, true);
    // Parts of a form have no type of their own: this one is JSON.
    let is_json = json!({ "contentType": "application/json" });
    let (required, properties, encoding) = match operation.output {
        Output::CreatedInPart(_) => {
            let files = json!({ "type": "array", "minItems": 1, "items": file });
            let properties = json!({ "files": files, "metadataList": { "type": "array", "items": about } });
            ("files", properties, json!({ "metadataList": is_json }))
        }
        _ => ("file", json!({ "file": file, "metadata": about }), json!({ "metadata": is_json })),
    };
    let schema = json!({ "type": "object", "required": [required], "properties": properties });
    json!({ "required": true, "content": { "multipart/form-data": { "schema": schema, "encoding": encoding } } })
}

fn responses(schemas: &mut Schemas, operation: &Operation) -> Value {
    let mut responses = Map::new();
    let (status, success) = success(schemas, operation);
    responses.insert(status.to_owned(), success);
    if let Output::CreatedOrThere(_) = operation.output {
        let there = responses[status].clone();
        responses.insert("200".to_owned(), there);
    }
    if let Output::CreatedInPart(_) = operation.output {
        let in_part = responses[status].clone();
        responses.insert("207".to_owned(), in_part);
    }
    if matches!(operation.output, Output::ObjectOrNothing(_)) {
        responses.insert("204".to_owned(), json!({ "description": "There is none" }));
    }
    if operation.is_command() {
        let schema = reference("CommandAccepted");
        responses.insert(
            "202".to_owned(),
            json!({ "description": "The command is durable", "content": { "application/json": { "schema": schema } } }),
        );
    }
    let has_body = !matches!(operation.input, Input::None);
    let bodily = FAILURES_BODY.iter().filter(|_| has_body);
    for failure in FAILURES_ALWAYS.iter().chain(operation.failures).chain(bodily) {
        responses.insert(failure.to_string(), problem(operation, *failure));
    }
    Value::Object(responses)
}

fn success(schemas: &mut Schemas, operation: &Operation) -> (&'static str, Value) {
    let json = |schema: Value| json!({ "description": "Done", "content": { "application/json": { "schema": schema } } });
    match operation.output {
        Output::Created(described) | Output::CreatedOrThere(described) | Output::CreatedInPart(described) => {
            ("201", json(schemas.object(described, false)))
        }
        Output::Object(described) | Output::ObjectOrNothing(described) => ("200", json(schemas.object(described, false))),
        Output::Page(described) => {
            let item = schemas.object(described, false);
            ("200", json(searches::result(schemas, item, described.name())))
        }
        Output::List(described) => {
            let item = schemas.object(described, false);
            ("200", json(json!({ "type": "array", "items": item })))
        }
        Output::Items(described) => {
            let items = json!({ "type": "array", "items": schemas.object(described, false) });
            ("200", json(json!({ "type": "object", "properties": { "items": items }, "required": ["items"] })))
        }
        Output::NoContent => ("204", json!({ "description": "Done" })),
        Output::File => {
            let file = json!({ "application/octet-stream": { "schema": { "type": "string", "format": "binary" } } });
            ("200", json!({ "description": "The file", "content": file }))
        }
        Output::Text(media) => {
            ("200", json!({ "description": "Done", "content": { media: { "schema": { "type": "string" } } } }))
        }
    }
}

fn problem(operation: &Operation, status: u16) -> Value {
    let why = match status {
        400 => "The request cannot be read, or asks for something that cannot be",
        403 => "The server does not go by this name, or the page that asks may not",
        404 => "What the request names is not there",
        406 => "The caller takes nothing this server can answer with",
        408 => "The body did not arrive in time",
        409 => "What the request names is in the wrong state",
        413 => "The body is too long",
        415 => "The body is of the wrong media type",
        429 => "A limit of the queue was reached: try again later",
        503 => "A bound was reached, or the store cannot be reached: try again",
        504 => "No answer in time; the command may still be done",
        _ => "Not done",
    };
    let (media, schema) = match workflows::owns(operation.path) {
        true => ("application/json", "WorkflowError"),
        false => ("application/problem+json", "ProblemDetail"),
    };
    json!({ "description": why, "content": { media: { "schema": reference(schema) } } })
}
