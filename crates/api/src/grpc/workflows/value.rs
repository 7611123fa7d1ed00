//! JSON between texts and `google.protobuf.Struct`, whose numbers are doubles.

use std::collections::BTreeMap;

use prost_types::value::Kind;
use prost_types::{ListValue, Struct, Value};
use serde_json::Value as Json;

/// Whole numbers up to here are the same as doubles.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

pub(super) fn to_json(given: &Struct) -> String {
    json_of_struct(given).to_string()
}

pub(super) fn json_of(value: &Value) -> Json {
    match &value.kind {
        None | Some(Kind::NullValue(_)) => Json::Null,
        Some(Kind::BoolValue(flag)) => Json::Bool(*flag),
        Some(Kind::NumberValue(number)) => number_of(*number),
        Some(Kind::StringValue(text)) => Json::String(text.clone()),
        Some(Kind::ListValue(list)) => Json::Array(list.values.iter().map(json_of).collect()),
        Some(Kind::StructValue(fields)) => json_of_struct(fields),
    }
}

pub(super) fn json_of_struct(fields: &Struct) -> Json {
    Json::Object(fields.fields.iter().map(|(name, value)| (name.clone(), json_of(value))).collect())
}

/// A whole number is written as one; what is no number in JSON is null.
fn number_of(number: f64) -> Json {
    if number.fract() == 0.0 && number.abs() <= WHOLE_MAX {
        return Json::from(number as i64);
    }
    serde_json::Number::from_f64(number).map_or(Json::Null, Json::Number)
}

pub(super) fn of_json(json: &Json) -> Value {
    let kind = match json {
        Json::Null => Kind::NullValue(0),
        Json::Bool(flag) => Kind::BoolValue(*flag),
        Json::Number(number) => Kind::NumberValue(number.as_f64().unwrap_or_default()),
        Json::String(text) => Kind::StringValue(text.clone()),
        Json::Array(items) => Kind::ListValue(ListValue { values: items.iter().map(of_json).collect() }),
        Json::Object(_) => Kind::StructValue(struct_of(json)),
    };
    Value { kind: Some(kind) }
}

/// Empty unless it is an object.
pub(super) fn struct_of(json: &Json) -> Struct {
    let fields = json.as_object().into_iter().flatten();
    Struct { fields: fields.map(|(name, value)| (name.clone(), of_json(value))).collect::<BTreeMap<_, _>>() }
}

/// What the engine keeps is JSON.
pub(super) fn of_text(text: &str) -> Struct {
    struct_of(&serde_json::from_str(text).unwrap_or_default())
}

pub(super) fn of_variables(variables: &[(String, String)]) -> Struct {
    let value = |text: &str| of_json(&serde_json::from_str(text).unwrap_or_default());
    Struct { fields: variables.iter().map(|(name, text)| (name.clone(), value(text))).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_comes_back() {
        let text = r#"{"a":[1,-2.5,null,true,"x",{}],"b":{"c":9007199254740992}}"#;
        assert_eq!(to_json(&of_text(text)), text);
    }

    #[test]
    fn what_is_no_number_is_null() {
        assert_eq!(number_of(f64::NAN), Json::Null);
        assert_eq!(number_of(1e300).to_string(), "1e+300");
    }
}
