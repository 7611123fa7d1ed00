//! One thing that happened, as JSON; `spec/kafka/event.schema.json` says what is in it.

use engine::{IncidentKey, JobKey, Outcome};
use host::{Happened, Variable, What};
use serde::Serialize;
use serde_json::value::RawValue;
use store::query::ElementView;
use store::words::incident_kind_word;

/// The version of the document's shape: another where a field goes or means something else, not where one is added.
const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    schema_version: u32,
    id: String,
    partition: u32,
    position: u64,
    index: u32,
    timestamp: i64,
    event: &'static str,
    process_instance_key: String,
    root_process_instance_key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_process_instance_key: Option<String>,
    process_definition_key: String,
    process_definition_id: &'a str,
    process_definition_version: i32,
    tenant_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    business_id: Option<&'a str>,
    #[serde(flatten)]
    details: Details<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Details<'a> {
    None {},
    Element(Element<'a>),
    Variable(VariableDetails<'a>),
    Incident(Incident<'a>),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Element<'a> {
    element_instance_key: String,
    element_id: &'a str,
    element_type: &'a str,
    scope_key: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct VariableDetails<'a> {
    variable_key: String,
    scope_key: String,
    name: &'a str,
    /// Absent where it is too large.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a RawValue>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Incident<'a> {
    incident_key: String,
    #[serde(skip_serializing_if = "Option::is_none", flatten)]
    element: Option<Element<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    job_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_message: Option<&'a str>,
}

pub(crate) fn document(happened: &Happened) -> Vec<u8> {
    let Happened { partition, position, index, at, instance, what } = happened;
    let (event, details) = details(what);
    let document = Document {
        schema_version: SCHEMA_VERSION,
        id: format!("{}-{position}-{index}", partition.0),
        partition: u32::from(partition.0),
        position: *position,
        index: *index,
        timestamp: *at,
        event,
        process_instance_key: instance.key.to_string(),
        root_process_instance_key: instance.root.to_string(),
        parent_process_instance_key: instance.parent_instance.map(|key| key.to_string()),
        process_definition_key: instance.definition.to_string(),
        process_definition_id: &instance.process_id,
        process_definition_version: instance.version,
        tenant_id: &instance.tenant,
        business_id: instance.business_id.as_deref(),
        details,
    };
    serde_json::to_vec(&document).expect("its keys are texts")
}

fn details(what: &What) -> (&'static str, Details<'_>) {
    match what {
        What::Started => ("INSTANCE_STARTED", Details::None {}),
        What::Ended(Outcome::Completed) => ("INSTANCE_COMPLETED", Details::None {}),
        What::Ended(Outcome::Terminated) => ("INSTANCE_TERMINATED", Details::None {}),
        What::Suspended => ("INSTANCE_SUSPENDED", Details::None {}),
        What::Resumed => ("INSTANCE_RESUMED", Details::None {}),
        What::Migrated => ("INSTANCE_MIGRATED", Details::None {}),
        What::Entered(on) => ("ELEMENT_ENTERED", Details::Element(element(on))),
        What::Left(on) => ("ELEMENT_COMPLETED", Details::Element(element(on))),
        What::Dropped(on) => ("ELEMENT_TERMINATED", Details::Element(element(on))),
        What::VariableCreated(of) => ("VARIABLE_CREATED", Details::Variable(variable(of))),
        What::VariableUpdated(of) => ("VARIABLE_UPDATED", Details::Variable(variable(of))),
        What::IncidentRaised { key, on, job, kind, message } => {
            let told = (Some(incident_kind_word(*kind)), Some(&**message));
            ("INCIDENT_RAISED", Details::Incident(incident(*key, on.as_deref(), *job, told)))
        }
        What::IncidentResolved { key, on } => {
            ("INCIDENT_RESOLVED", Details::Incident(incident(*key, on.as_deref(), None, (None, None))))
        }
    }
}

fn element(on: &ElementView) -> Element<'_> {
    Element {
        element_instance_key: on.key.to_string(),
        element_id: &on.element_id,
        element_type: &on.kind,
        scope_key: on.scope.to_string(),
    }
}

fn variable(of: &Variable) -> VariableDetails<'_> {
    VariableDetails {
        variable_key: of.key.to_string(),
        scope_key: of.scope.to_string(),
        name: &of.name,
        value: of.value.as_deref().and_then(|value| serde_json::from_str(value).ok()),
    }
}

fn incident<'a>(
    key: IncidentKey,
    on: Option<&'a ElementView>,
    job: Option<JobKey>,
    (error_type, error_message): (Option<&'a str>, Option<&'a str>),
) -> Incident<'a> {
    Incident {
        incident_key: key.to_string(),
        element: on.map(element),
        job_key: job.map(|job| job.to_string()),
        error_type,
        error_message,
    }
}

#[cfg(test)]
mod tests;
