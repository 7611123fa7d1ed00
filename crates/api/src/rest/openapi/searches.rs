//! Schemas of searches, from their tables.

use serde_json::{Map, Value, json};

use super::schema::{Schemas, key, reference};
use crate::rest::search::{By, Filterable, Operators, Table, Value as Filtered};

/// A reference to the request of a search.
pub(super) fn request(schemas: &mut Schemas, table: &Table) -> Value {
    let name = format!("{}SearchQuery", table.name);
    if schemas.has(&name) {
        return reference(&name);
    }
    let filter = filter(schemas, table);
    let fields: Vec<&str> = table.sorts.iter().map(|sortable| sortable.name).collect();
    let sort = schemas.add(
        &format!("{}SearchQuerySortRequest", table.name),
        json!({
            "type": "object",
            "required": ["field"],
            "additionalProperties": false,
            "properties": {
                "field": { "type": "string", "enum": fields },
                "order": { "type": ["string", "null"], "enum": ["ASC", "DESC", null], "default": "ASC" },
            },
        }),
    );
    let schema = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "filter": { "anyOf": [filter, { "type": "null" }] },
            "sort": { "type": "array", "items": sort, "maxItems": 20 },
            "page": { "anyOf": [reference("SearchQueryPageRequest"), { "type": "null" }] },
        },
    });
    schemas.add(&name, schema)
}

/// What to count: the filter of a search alone, and how far to count on.
pub(super) fn filter_request(schemas: &mut Schemas, table: &Table) -> Value {
    let filter = filter(schemas, table);
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "filter": { "anyOf": [filter, { "type": "null" }] },
            "page": { "anyOf": [reference("SearchQueryPageRequest"), { "type": "null" }] },
        },
    })
}

/// A reference to the page a search answers with.
pub(super) fn result(schemas: &mut Schemas, item: Value, item_name: &str) -> Value {
    let name = format!("{item_name}Page");
    let mut page = reference("SearchQueryPageResponse");
    page["description"] = json!("Where these items stand among all that was found");
    let schema = json!({
        "type": "object",
        "required": ["page", "items"],
        "properties": { "page": page, "items": { "type": "array", "items": item } },
    });
    schemas.add(&name, schema)
}

pub(super) fn filter(schemas: &mut Schemas, table: &Table) -> Value {
    let name = format!("{}Filter", table.name);
    let (any, plain): (Vec<&Filterable>, Vec<&Filterable>) =
        table.filters.iter().partition(|filterable| matches!(filterable.by, By::Any));
    let mut properties: Map<String, Value> =
        plain.iter().map(|filterable| (filterable.name.to_owned(), property(schemas, filterable))).collect();
    for filterable in any {
        let fields = json!({ "type": "object", "additionalProperties": false, "properties": properties.clone() });
        let fields = schemas.add(&format!("{name}Fields"), fields);
        properties.insert(filterable.name.to_owned(), json!({ "type": ["array", "null"], "items": fields }));
    }
    schemas.add(&name, json!({ "type": "object", "additionalProperties": false, "properties": properties }))
}

fn property(schemas: &mut Schemas, filterable: &Filterable) -> Value {
    match filterable.by {
        By::Tags | By::TagsOfInstance => json!({ "type": ["array", "null"], "items": value(filterable.value) }),
        By::Variables | By::VariablesOfInstance => {
            let item = json!({
                "type": "object",
                "required": ["name", "value"],
                "additionalProperties": false,
                "properties": {
                    "name": { "type": "string" },
                    "value": condition(schemas, filterable.value, filterable.operators),
                },
            });
            json!({ "type": ["array", "null"], "items": schemas.add("VariableNameAndValue", item) })
        }
        By::Field(_) | By::Related(..) | By::Fixed(_) | By::Candidate(_) | By::LatestVersion | By::Any => {
            json!({ "anyOf": [condition(schemas, filterable.value, filterable.operators), { "type": "null" }] })
        }
    }
}

/// A value to be equal to, or operators. Of words each property has its own, the others are the same wherever they are.
pub(super) fn condition(schemas: &mut Schemas, wanted: Filtered, operators: Operators) -> Value {
    let value = value(wanted);
    let suffix = match operators {
        Operators::None => return value,
        Operators::Basic => "",
        Operators::Like => "Like",
        Operators::Ordered => "Ordered",
    };
    let schema = with_operators(&value, operators);
    match wanted {
        Filtered::Text => schemas.add(&format!("Text{suffix}Condition"), schema),
        Filtered::Key => schemas.add(&format!("Key{suffix}Condition"), schema),
        Filtered::Int32 => schemas.add(&format!("Number{suffix}Condition"), schema),
        Filtered::Boolean => schemas.add(&format!("Boolean{suffix}Condition"), schema),
        Filtered::Time => schemas.add(&format!("Time{suffix}Condition"), schema),
        Filtered::Word(_) => schema,
    }
}

fn with_operators(value: &Value, operators: Operators) -> Value {
    let operator = |name: &&str| {
        let schema = match *name {
            "$exists" => json!({ "type": "boolean" }),
            "$like" => json!({ "type": "string" }),
            "$in" | "$notIn" => json!({ "type": "array", "items": value }),
            _ => value.clone(),
        };
        ((*name).to_owned(), schema)
    };
    let properties: Map<String, Value> = operators.names().iter().map(operator).collect();
    json!({ "anyOf": [value, { "type": "object", "additionalProperties": false, "properties": properties }] })
}

fn value(value: Filtered) -> Value {
    match value {
        Filtered::Text => json!({ "type": "string" }),
        Filtered::Key => key(),
        Filtered::Int32 => json!({ "type": "integer", "format": "int32", "minimum": i32::MIN, "maximum": i32::MAX }),
        Filtered::Boolean => json!({ "type": "boolean" }),
        Filtered::Time => json!({ "type": "string", "format": "date-time" }),
        Filtered::Word(words) => json!({ "type": "string", "enum": words }),
    }
}

pub(super) fn page_request() -> Value {
    let limit = json!({ "type": ["integer", "null"], "format": "int32", "minimum": 0, "maximum": i32::MAX, "default": 100 });
    let cursor = |about: &str| json!({ "type": ["string", "null"], "pattern": "^[A-Za-z0-9+/=]+$", "description": about });
    let style = |name: &str, schema: Value, required: &[&str]| {
        let mut properties = Map::from_iter([("limit".to_owned(), limit.clone())]);
        properties.insert(name.to_owned(), schema);
        json!({ "type": "object", "required": required, "additionalProperties": false, "properties": properties })
    };
    json!({
        "anyOf": [
            style("limit", limit.clone(), &["limit"]),
            style("from", json!({ "type": "integer", "format": "int32", "minimum": 0, "maximum": i32::MAX }), &["from"]),
            style("after", cursor("The `endCursor` of a page"), &["after"]),
            style("before", cursor("The `startCursor` of a page"), &["before"]),
        ],
    })
}

pub(super) fn page_response() -> Value {
    json!({
        "type": "object",
        "required": ["totalItems", "hasMoreTotalItems", "startCursor", "endCursor"],
        "properties": {
            "totalItems": { "type": "integer", "format": "int64" },
            "hasMoreTotalItems": { "type": "boolean", "description": "Whether there are more than `totalItems`" },
            "startCursor": { "type": ["string", "null"], "description": "What `before` takes to give the page before this one; null if there is none to give" },
            "endCursor": { "type": ["string", "null"], "description": "What `after` takes to give the page after this one; null if there is none to give" },
        },
    })
}
