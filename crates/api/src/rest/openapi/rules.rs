//! What a request must keep to beyond the types of its properties, so that clients made from the description are not refused for what they
//! could have known. The operations themselves refuse; a run of generated requests finds where the two differ.

use serde_json::{Value, json};

use super::schema::Schemas;
use crate::rest::global_listeners::EVENTS as LISTENED;

enum Rule {
    Least(i64),
    Between(i64, i64),
    /// A text of one character or more.
    NotEmpty,
    /// A text of so many characters.
    Chars(u32, u32),
    /// A list of so many.
    Items(u32, u32),
    /// A list of so many texts, none of them empty.
    Texts(u32, u32),
    /// An object with something in it.
    Filled,
    /// A duration after ISO 8601.
    Duration,
    /// A text that looks like this.
    Pattern(&'static str),
    /// A list of some of these, one at least.
    Words(&'static [&'static str]),
}

/// By schema and property, or by operation and parameter of the query.
const RULES: &[(&str, &str, Rule)] = &[
    ("JobActivationRequest", "type", Rule::NotEmpty),
    ("JobActivationRequest", "timeout", Rule::Least(1)),
    ("JobActivationRequest", "maxJobsToActivate", Rule::Least(1)),
    ("JobErrorRequest", "errorCode", Rule::NotEmpty),
    ("JobChangeset", "retries", Rule::Least(1)),
    ("MessagePublicationRequest", "name", Rule::NotEmpty),
    ("MessageCorrelationRequest", "name", Rule::NotEmpty),
    ("ExpressionEvaluationRequest", "expression", Rule::NotEmpty),
    ("UserTaskAssignmentRequest", "assignee", Rule::NotEmpty),
    ("Changeset", "priority", Rule::Between(0, 100)),
    ("ProcessInstanceCreationInstruction", "operationReference", Rule::Least(1)),
    ("ProcessInstanceCreationInstruction", "businessId", Rule::Chars(0, 256)),
    ("ProcessInstanceCreationInstruction", "tags", Rule::Items(0, 10)),
    ("ProcessInstanceCreationStartInstruction", "elementId", Rule::NotEmpty),
    ("ProcessInstanceCreationRuntimeInstruction", "afterElementId", Rule::NotEmpty),
    ("CancelProcessInstanceRequest", "operationReference", Rule::Least(1)),
    ("DeleteProcessInstanceRequest", "operationReference", Rule::Least(1)),
    ("SuspendProcessInstanceRequest", "operationReference", Rule::Least(1)),
    ("ResumeProcessInstanceRequest", "operationReference", Rule::Least(1)),
    ("ProcessInstanceCancellationBatchOperationRequest", "filter", Rule::Filled),
    ("ProcessInstanceCancellationBatchOperationRequest", "operationReference", Rule::Least(1)),
    ("ProcessInstanceDeletionBatchOperationRequest", "filter", Rule::Filled),
    ("ProcessInstanceDeletionBatchOperationRequest", "operationReference", Rule::Least(1)),
    ("ProcessInstanceSuspensionBatchOperationRequest", "filter", Rule::Filled),
    ("ProcessInstanceSuspensionBatchOperationRequest", "operationReference", Rule::Least(1)),
    ("ProcessInstanceResumptionBatchOperationRequest", "filter", Rule::Filled),
    ("ProcessInstanceResumptionBatchOperationRequest", "operationReference", Rule::Least(1)),
    ("ProcessInstanceIncidentResolutionBatchOperationRequest", "filter", Rule::Filled),
    ("ProcessInstanceIncidentResolutionBatchOperationRequest", "operationReference", Rule::Least(1)),
    ("DecisionInstanceDeletionBatchOperationRequest", "filter", Rule::Filled),
    ("DecisionInstanceDeletionBatchOperationRequest", "operationReference", Rule::Least(1)),
    ("ProcessInstanceMigrationBatchOperationRequest", "filter", Rule::Filled),
    ("ProcessInstanceMigrationBatchOperationRequest", "operationReference", Rule::Least(1)),
    ("ProcessInstanceModificationBatchOperationRequest", "filter", Rule::Filled),
    ("ProcessInstanceModificationBatchOperationRequest", "operationReference", Rule::Least(1)),
    ("ProcessInstanceMigrationBatchOperationPlan", "mappingInstructions", Rule::Items(1, u32::MAX)),
    ("ProcessInstanceModificationBatchOperationRequest", "moveInstructions", Rule::Items(1, u32::MAX)),
    ("CreateGlobalTaskListenerRequest", "id", Rule::Chars(1, 256)),
    ("CreateGlobalTaskListenerRequest", "type", Rule::Pattern(r"\S")),
    ("CreateGlobalTaskListenerRequest", "id", Rule::Pattern("^[A-Za-z0-9_~@.+-]+$")),
    ("CreateGlobalTaskListenerRequest", "eventTypes", Rule::Words(LISTENED)),
    ("CreateGlobalTaskListenerRequest", "retries", Rule::Least(1)),
    ("UpdateGlobalTaskListenerRequest", "type", Rule::Pattern(r"\S")),
    ("UpdateGlobalTaskListenerRequest", "eventTypes", Rule::Words(LISTENED)),
    ("UpdateGlobalTaskListenerRequest", "retries", Rule::Least(1)),
    ("ProcessInstanceModificationInstruction", "operationReference", Rule::Least(1)),
    ("ProcessInstanceMigrationInstruction", "operationReference", Rule::Least(1)),
    ("ProcessInstanceMigrationInstruction", "mappingInstructions", Rule::Items(1, u32::MAX)),
    ("SetVariableRequest", "operationReference", Rule::Least(1)),
    ("SetVariableRequest", "variables", Rule::Filled),
    ("ConditionalEvaluationInstruction", "variables", Rule::Filled),
    ("DeleteResourceRequest", "operationReference", Rule::Least(1)),
    ("AdHocSubProcessActivateActivitiesInstruction", "elements", Rule::Items(1, u32::MAX)),
    ("OffsetPagination", "from", Rule::Least(0)),
    ("OffsetPagination", "limit", Rule::Least(0)),
    ("AnyPagination", "from", Rule::Least(0)),
    ("AnyPagination", "limit", Rule::Least(0)),
    ("ClockPinRequest", "timestamp", Rule::Least(0)),
    ("ClockAdvanceRequest", "duration", Rule::Duration),
    ("PolicyConcurrency", "limit", Rule::Least(1)),
    ("PolicyQueue", "maxLength", Rule::Least(1)),
    ("ExecutionSubmission", "priority", Rule::Between(0, 100)),
    ("ExecutionSubmission", "retries", Rule::Between(1, 1_000)),
    ("ExecutionRetryRequest", "retries", Rule::Least(1)),
    ("ExecutionsSubmission", "executions", Rule::Items(1, 1_000)),
    ("JobsCompletionRequest", "jobs", Rule::Items(1, 1_000)),
    ("WorkflowStart", "definitionId", Rule::Chars(1, 256)),
    ("WorkflowStart", "definitionVersion", Rule::Least(0)),
    ("WorkflowStart", "businessKey", Rule::Chars(0, 256)),
    ("WorkflowJobPoll", "workerId", Rule::NotEmpty),
    ("WorkflowJobPoll", "jobTypes", Rule::Texts(1, 100)),
    ("WorkflowJobPoll", "maxJobs", Rule::Between(1, 100)),
    ("WorkflowJobPoll", "leaseSeconds", Rule::Between(5, 3_600)),
    ("WorkflowJobPoll", "waitSeconds", Rule::Least(0)),
    ("WorkflowJobCompletion", "workerId", Rule::NotEmpty),
    ("WorkflowJobFailure", "workerId", Rule::NotEmpty),
    ("listWorkflows", "page", Rule::Least(0)),
    ("listWorkflows", "pageSize", Rule::Between(1, 200)),
    ("listWorkflowInstances", "page", Rule::Least(0)),
    ("listWorkflowInstances", "pageSize", Rule::Between(1, 200)),
    ("getWorkflowInstanceHistory", "page", Rule::Least(0)),
    ("getWorkflowInstanceHistory", "pageSize", Rule::Between(1, 10_000)),
    ("listTimers", "limit", Rule::Least(0)),
    ("listTimers", "from", Rule::Least(0)),
    ("listAudit", "limit", Rule::Least(0)),
    ("listAudit", "from", Rule::Least(0)),
];

/// Of these properties exactly one is given.
const EITHER: &[(&str, [&str; 2])] = &[
    ("ProcessInstanceCreationInstruction", ["processDefinitionId", "processDefinitionKey"]),
    ("DecisionEvaluationInstruction", ["decisionDefinitionId", "decisionDefinitionKey"]),
    ("ProcessInstanceModificationTerminateInstruction", ["elementId", "elementInstanceKey"]),
];

/// Of these properties at least one is given.
const SOME: &[(&str, &[&str])] = &[("JobChangeset", &["retries", "timeout"])];

/// Writes down what holds for schemas.
pub(super) fn apply(schemas: &mut Schemas) {
    for (name, property, rule) in RULES {
        if let Some(schema) = schemas.get_mut(name) {
            rule.write(&mut schema["properties"][property]);
        }
    }
    for (name, [one, other]) in EITHER {
        if let Some(schema) = schemas.get_mut(name) {
            let words = |name: &str| schema["properties"][name]["description"].clone();
            // Nothing is as good as null.
            let only = |one: &str, other: &str| {
                let given = json!({ "type": "string", "minLength": 1, "description": words(one) });
                let not = json!({ "enum": [null, ""], "description": words(other) });
                json!({ "required": [one], "properties": { one: given, other: not } })
            };
            schema["oneOf"] = json!([only(one, other), only(other, one)]);
        }
    }
    for (name, properties) in SOME {
        if let Some(schema) = schemas.get_mut(name) {
            let given = |name: &&str| {
                let not_null = json!({ "not": { "type": "null" }, "description": schema["properties"][name]["description"] });
                json!({ "required": [name], "properties": { *name: not_null } })
            };
            schema["anyOf"] = Value::Array(properties.iter().map(given).collect());
        }
    }
}

/// Writes down what holds for a parameter of the query.
pub(super) fn parameter(operation: &str, name: &str, schema: &mut Value) {
    for (_, _, rule) in RULES.iter().filter(|(of, property, _)| *of == operation && *property == name) {
        rule.write(schema);
    }
}

impl Rule {
    fn write(&self, schema: &mut Value) {
        match self {
            Self::Least(least) => schema["minimum"] = json!(least),
            Self::Between(least, most) => {
                schema["minimum"] = json!(least);
                schema["maximum"] = json!(most);
            }
            Self::NotEmpty => schema["minLength"] = json!(1),
            Self::Chars(least, most) => {
                schema["minLength"] = json!(least);
                schema["maxLength"] = json!(most);
            }
            Self::Items(least, most) => {
                schema["minItems"] = json!(least);
                if *most < u32::MAX {
                    schema["maxItems"] = json!(most);
                }
            }
            Self::Texts(least, most) => {
                Self::Items(*least, *most).write(schema);
                schema["items"]["minLength"] = json!(1);
            }
            Self::Filled => schema["minProperties"] = json!(1),
            Self::Duration => schema["format"] = json!("duration"),
            Self::Pattern(pattern) => schema["pattern"] = json!(pattern),
            Self::Words(words) => {
                Self::Items(1, u32::MAX).write(schema);
                schema["items"]["enum"] = json!(words);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rest::Config;
    use crate::rest::operation;

    #[test]
    fn every_rule_is_about_something_that_is_there() {
        let description = super::super::description(&Config::default());
        let schemas = &description["components"]["schemas"];
        for (name, property, _) in RULES {
            let parameters = operation::all().filter(|operation| operation.id == *name).flat_map(|operation| operation.query);
            let is_parameter = parameters.into_iter().any(|field| field.name == *property);
            assert!(is_parameter || schemas[name]["properties"][property].is_object(), "{name}.{property}");
        }
        let some = SOME.iter().map(|(name, properties)| (name, *properties));
        for (name, properties) in EITHER.iter().map(|(name, properties)| (name, &properties[..])).chain(some) {
            for property in properties {
                assert!(schemas[name]["properties"][property].is_object(), "{name}.{property}");
            }
        }
    }
}
