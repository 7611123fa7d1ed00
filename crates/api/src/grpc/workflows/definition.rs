//! Definitions between messages and the documents they are stored as.

use serde_json::{Map, Value as Json, json};
use tonic::Status;

use super::value;
use super::wire;
use crate::workflow::Definition;

/// The document. What says nothing is left out, as its author would have.
pub(super) fn to_json(definition: wire::WorkflowDefinition) -> Result<String, Status> {
    let mut document = Map::new();
    text(&mut document, "id", definition.id);
    text(&mut document, "name", definition.name);
    text(&mut document, "description", definition.description);
    if definition.auto_start_next_workflow {
        document.insert("autoStartNextWorkflow".to_owned(), Json::Bool(true));
    }
    text(&mut document, "nextWorkflowId", definition.next_workflow_id);
    let steps = definition.steps.into_iter().map(step).collect::<Result<Vec<_>, _>>()?;
    document.insert("steps".to_owned(), Json::Array(steps));
    if let Some(metadata) = &definition.metadata {
        document.insert("metadata".to_owned(), value::json_of_struct(metadata));
    }
    Ok(Json::Object(document).to_string())
}

fn step(step: wire::WorkflowStep) -> Result<Json, Status> {
    let mut fields = Map::new();
    let kind = step.r#type();
    if kind != wire::StepType::Unspecified {
        text(&mut fields, "type", kind.as_str_name().trim_start_matches("STEP_TYPE_").to_owned());
    }
    text(&mut fields, "id", step.id);
    text(&mut fields, "name", step.name);
    text(&mut fields, "description", step.description);
    text(&mut fields, "nextStep", step.next_step);
    text(&mut fields, "joinStep", step.join_step);
    text(&mut fields, "jobType", step.job_type);
    text(&mut fields, "delegateClass", step.delegate_class);
    text(&mut fields, "processId", step.process_id);
    text(&mut fields, "retryBackoff", step.retry_backoff);
    if !step.parallel_next_steps.is_empty() {
        fields.insert("parallelNextSteps".to_owned(), json!(step.parallel_next_steps));
    }
    if !step.conditional_next_steps.is_empty() {
        fields.insert("conditionalNextSteps".to_owned(), json!(step.conditional_next_steps));
    }
    if !step.transformations.is_empty() {
        let entries = step.transformations.iter().map(|(name, given)| (name.clone(), value::json_of(given)));
        fields.insert("transformations".to_owned(), Json::Object(entries.collect()));
    }
    if step.retry_count != 0 {
        fields.insert("retryCount".to_owned(), json!(step.retry_count));
    }
    if !step.boundary_events.is_empty() {
        let events: Vec<Json> = step.boundary_events.into_iter().map(boundary).collect();
        fields.insert("boundaryEvents".to_owned(), Json::Array(events));
    }
    Ok(Json::Object(fields))
}

fn boundary(event: wire::BoundaryEvent) -> Json {
    let mut fields = Map::new();
    if event.r#type() == wire::BoundaryEventType::Timer {
        text(&mut fields, "type", "TIMER".to_owned());
    }
    text(&mut fields, "duration", event.duration);
    text(&mut fields, "targetStepId", event.target_step_id);
    fields.insert("interrupting".to_owned(), Json::Bool(event.interrupting));
    Json::Object(fields)
}

fn text(fields: &mut Map<String, Json>, name: &str, text: String) {
    if !text.is_empty() {
        fields.insert(name.to_owned(), Json::String(text));
    }
}

/// A definition as it was uploaded, whichever way.
pub(super) fn from_json(definition: &Definition) -> wire::WorkflowDefinition {
    let document: Json = definition.document.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let metadata = Some(&document["metadata"]).filter(|metadata| metadata.is_object());
    wire::WorkflowDefinition {
        id: definition.id.clone(),
        version: definition.version,
        name: definition.name.clone(),
        description: definition.description.clone().unwrap_or_default(),
        auto_start_next_workflow: document["autoStartNextWorkflow"].as_bool().unwrap_or_default(),
        next_workflow_id: string(&document["nextWorkflowId"]),
        steps: document["steps"].as_array().into_iter().flatten().map(step_of).collect(),
        metadata: metadata.map(value::struct_of),
    }
}

fn step_of(step: &Json) -> wire::WorkflowStep {
    let kind = wire::StepType::from_str_name(&format!("STEP_TYPE_{}", string(&step["type"])));
    let pairs = |name: &str| step[name].as_object().into_iter().flatten();
    wire::WorkflowStep {
        id: string(&step["id"]),
        name: string(&step["name"]),
        r#type: kind.unwrap_or_default().into(),
        description: string(&step["description"]),
        next_step: string(&step["nextStep"]),
        parallel_next_steps: step["parallelNextSteps"].as_array().into_iter().flatten().map(string).collect(),
        join_step: string(&step["joinStep"]),
        conditional_next_steps: pairs("conditionalNextSteps").map(|(name, to)| (name.clone(), string(to))).collect(),
        transformations: pairs("transformations").map(|(name, given)| (name.clone(), value::of_json(given))).collect(),
        job_type: string(&step["jobType"]),
        delegate_class: string(&step["delegateClass"]),
        retry_count: step["retryCount"].as_i64().and_then(|count| i32::try_from(count).ok()).unwrap_or_default(),
        boundary_events: step["boundaryEvents"].as_array().into_iter().flatten().map(boundary_of).collect(),
        process_id: string(&step["processId"]),
        retry_backoff: string(&step["retryBackoff"]),
    }
}

fn boundary_of(event: &Json) -> wire::BoundaryEvent {
    wire::BoundaryEvent {
        r#type: wire::BoundaryEventType::Timer.into(),
        duration: string(&event["duration"]),
        interrupting: event["interrupting"].as_bool().unwrap_or_default(),
        target_step_id: string(&event["targetStepId"]),
    }
}

fn string(json: &Json) -> String {
    json.as_str().unwrap_or_default().to_owned()
}
