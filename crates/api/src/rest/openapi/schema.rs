//! Schemas of what is read and written, gathered by name.

use serde_json::{Map, Value, json};

use super::{searches, words};
use crate::rest::describe::{Described, Kind, Property};

#[derive(Default)]
pub(super) struct Schemas(Map<String, Value>);

impl Schemas {
    pub(super) fn into_value(self) -> Value {
        Value::Object(self.0)
    }

    pub(super) fn add_words(&mut self) {
        words::add_to_schemas(&mut self.0);
    }

    pub(super) fn add(&mut self, name: &str, schema: Value) -> Value {
        self.0.insert(name.to_owned(), schema);
        reference(name)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        self.0.get_mut(name)
    }

    /// A reference to an object; what it consists of is added too. Requests refuse properties they do not know.
    pub(super) fn object(&mut self, described: &dyn Described, is_request: bool) -> Value {
        let name = described.name();
        if self.has(name) {
            return reference(name);
        }
        let properties = described.properties();
        let required: Vec<&str> = properties.iter().filter(|property| property.required).map(|property| property.name).collect();
        let described: Map<String, Value> =
            properties.iter().map(|property| (property.name.to_owned(), self.property(property, is_request))).collect();
        let mut schema = json!({ "type": "object", "properties": described });
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        if is_request {
            schema["additionalProperties"] = json!(false);
        }
        self.add(name, schema)
    }

    fn property(&mut self, property: &Property, is_request: bool) -> Value {
        let schema = self.kind(property.kind, is_request);
        let mut schema = if property.nullable { nullable(schema) } else { schema };
        if !property.about.is_empty() {
            schema["description"] = json!(property.about);
        }
        schema
    }

    pub(super) fn kind(&mut self, kind: Kind, is_request: bool) -> Value {
        match kind {
            Kind::Text => json!({ "type": "string" }),
            Kind::Key if is_request => key(),
            Kind::Key => json!({ "type": "string", "pattern": "^-?[0-9]+$" }),
            Kind::Int32 => json!({ "type": "integer", "format": "int32", "minimum": i32::MIN, "maximum": i32::MAX }),
            Kind::Int64 => json!({ "type": "integer", "format": "int64", "minimum": i64::MIN, "maximum": i64::MAX }),
            Kind::Boolean => json!({ "type": "boolean" }),
            Kind::Time => json!({ "type": "string", "format": "date-time" }),
            Kind::Word(words) => json!({ "type": "string", "enum": words }),
            Kind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            Kind::Object => json!({ "type": "object", "additionalProperties": true }),
            Kind::Any => json!({}),
            Kind::Fields(shape) => self.object(shape, is_request),
            Kind::FieldsList(shape) => json!({ "type": "array", "items": self.object(shape, is_request) }),
            Kind::Filter(table) => searches::filter(self, table),
            Kind::Condition(value, operators) => searches::condition(self, value, operators),
            Kind::ConditionList(value, operators) => {
                json!({ "type": "array", "items": searches::condition(self, value, operators) })
            }
            Kind::Nested(described) => self.object(described, is_request),
            Kind::NestedList(described) => json!({ "type": "array", "items": self.object(described, is_request) }),
        }
    }
}

pub(super) fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

pub(super) fn key() -> Value {
    reference("Key")
}

/// Whole numbers of 64 bits, digit by digit: below the greatest in its first place, or its second, and so on.
pub(super) fn key_schema() -> Value {
    const MOST: &str = "9223372036854775807";
    let mut choices = vec!["[0-9]{1,18}".to_owned()];
    for (place, digit) in MOST.char_indices().filter(|(_, digit)| *digit != '0') {
        let below = char::from_digit(digit.to_digit(10).unwrap_or(1) - 1, 10).unwrap_or('0');
        let rest = MOST.len() - place - 1;
        let rest = if rest == 0 { String::new() } else { format!("[0-9]{{{rest}}}") };
        choices.push(format!("{}[0-{below}]{rest}", &MOST[..place]));
    }
    choices.push(MOST.to_owned());
    let pattern = format!("^-?({})$", choices.join("|"));
    json!({ "type": "string", "pattern": pattern, "description": "A whole number of 64 bits in a text" })
}

fn nullable(mut schema: Value) -> Value {
    let Some(Value::String(name)) = schema.get("type").cloned() else {
        return json!({ "anyOf": [schema, { "type": "null" }] });
    };
    schema["type"] = json!([name, "null"]);
    if let Some(Value::Array(words)) = schema.get_mut("enum") {
        words.push(Value::Null);
    }
    schema
}
