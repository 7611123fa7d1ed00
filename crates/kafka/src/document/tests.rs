use std::sync::Arc;

use engine::{DefinitionKey, ElementKey, IncidentKind, InstanceKey, PartitionId, VariableKey};
use serde_json::{Value, json};
use store::query::InstanceView;
use store::row::InstanceState;

use super::*;

fn instance(is_called: bool) -> InstanceView {
    InstanceView {
        key: InstanceKey(11),
        definition: DefinitionKey(5),
        process_id: "order".to_owned(),
        name: None,
        version: 3,
        version_tag: None,
        tenant: "<default>".to_owned(),
        state: InstanceState::Active,
        started: 1,
        ended: None,
        has_incident: false,
        parent_instance: is_called.then_some(InstanceKey(10)),
        parent_element: is_called.then_some(ElementKey(12)),
        root: if is_called { InstanceKey(10) } else { InstanceKey(11) },
        tags: Vec::new(),
        business_id: is_called.then(|| "b-1".to_owned()),
        suspended: None,
    }
}

fn element() -> Arc<ElementView> {
    Arc::new(ElementView {
        key: ElementKey(13),
        instance: InstanceKey(11),
        root: InstanceKey(11),
        definition: DefinitionKey(5),
        process_id: "order".to_owned(),
        tenant: "<default>".to_owned(),
        element_id: "pack".to_owned(),
        element_name: None,
        kind: "SERVICE_TASK".to_owned(),
        scope: ElementKey(11),
        state: InstanceState::Active,
        started: 1,
        ended: None,
        has_incident: false,
        incident: None,
    })
}

/// Everything that can happen.
fn all() -> Vec<What> {
    let variable = |value: Option<&str>| Variable {
        key: VariableKey(14),
        scope: ElementKey(11),
        name: "total".into(),
        value: value.map(Into::into),
    };
    let (key, kind, message) = (IncidentKey(15), IncidentKind::JobNoRetries, "no paper".into());
    vec![
        What::Started,
        What::Ended(Outcome::Completed),
        What::Ended(Outcome::Terminated),
        What::Suspended,
        What::Resumed,
        What::Migrated,
        What::Entered(element()),
        What::Left(element()),
        What::Dropped(element()),
        What::VariableCreated(variable(Some(r#"{"net":12345678901234567890.5}"#))),
        What::VariableUpdated(variable(None)),
        What::IncidentRaised { key, on: Some(element()), job: Some(JobKey(16)), kind, message },
        What::IncidentResolved { key, on: None },
    ]
}

fn text(what: What, is_called: bool) -> String {
    let instance = Arc::new(instance(is_called));
    let happened = Happened { partition: PartitionId(1), position: 7, index: 2, at: 1_700_000_000_123, instance, what };
    String::from_utf8(document(&happened)).unwrap()
}

/// As much of JSON Schema as the file uses; anything else in it is a fault of this test.
fn fits(schema: &Value, value: &Value) -> Result<(), String> {
    for (word, says) in schema.as_object().ok_or("a schema is an object")? {
        let ok = match word.as_str() {
            "$schema" | "title" | "description" => true,
            "type" => match says.as_str() {
                Some("object") => value.is_object(),
                Some("string") => value.is_string(),
                Some("integer") => value.is_i64() || value.is_u64(),
                other => return Err(format!("unknown type {other:?}")),
            },
            "const" => says == value,
            "enum" => says.as_array().is_some_and(|all| all.contains(value)),
            "required" => says.as_array().into_iter().flatten().all(|name| value.get(name.as_str().unwrap()).is_some()),
            "properties" => {
                for (name, schema) in says.as_object().unwrap() {
                    if let Some(inner) = value.get(name) {
                        fits(schema, inner).map_err(|why| format!("{name}: {why}"))?;
                    }
                }
                true
            }
            "additionalProperties" => value.as_object().unwrap().keys().all(|name| schema["properties"].get(name).is_some()),
            "allOf" => {
                for schema in says.as_array().unwrap() {
                    fits(schema, value)?;
                }
                true
            }
            "if" => {
                if fits(says, value).is_ok() {
                    fits(&schema["then"], value)?;
                }
                true
            }
            "then" => true,
            other => return Err(format!("the test does not know '{other}'")),
        };
        if !ok {
            return Err(format!("{word} {says} does not hold for {value}"));
        }
    }
    Ok(())
}

#[test]
fn every_document_fits_the_schema() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/kafka/event.schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut events: Vec<String> = Vec::new();
    for what in all() {
        for is_called in [false, true] {
            let document: Value = serde_json::from_str(&text(what.clone(), is_called)).unwrap();
            assert_eq!(fits(&schema, &document), Ok(()), "{document}");
            events.push(document["event"].as_str().unwrap().to_owned());
        }
    }
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/kafka.md")).unwrap();
    let (_, example) = page.split_once("```json\n").unwrap();
    let example: Value = serde_json::from_str(example.split("```").next().unwrap()).unwrap();
    assert_eq!(fits(&schema, &example), Ok(()), "the example of docs/kafka.md");
    // Every word of the schema is said, and what is missing or unknown does not fit.
    events.dedup();
    let listed = schema["properties"]["event"]["enum"].as_array().unwrap();
    assert_eq!(events.iter().map(|event| json!(event)).collect::<Vec<_>>(), *listed);
    let whole: Value = serde_json::from_str(&text(What::Entered(element()), false)).unwrap();
    for name in ["elementId", "position"] {
        let mut less = whole.clone();
        less.as_object_mut().unwrap().remove(name);
        assert!(fits(&schema, &less).is_err());
    }
    let mut more = whole.clone();
    more["colour"] = json!("red");
    assert!(fits(&schema, &more).is_err());
}

#[test]
fn a_document_says_what_happened() {
    let expected = r#"{"schemaVersion":1,"id":"1-7-2","partition":1,"position":7,"index":2,"timestamp":1700000000123,"event":"VARIABLE_CREATED","processInstanceKey":"11","rootProcessInstanceKey":"10","parentProcessInstanceKey":"10","processDefinitionKey":"5","processDefinitionId":"order","processDefinitionVersion":3,"tenantId":"<default>","businessId":"b-1","variableKey":"14","scopeKey":"11","name":"total","value":{"net":12345678901234567890.5}}"#;
    assert_eq!(text(all().swap_remove(9), true), expected);
}
