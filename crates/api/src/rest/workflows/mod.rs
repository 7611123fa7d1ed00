//! JSON workflows under `/v1`, as their contract has it: its own shapes, ids and errors. What they mean is `crate::workflow`.

mod definitions;
mod instances;
mod jobs;
pub(super) mod leases;

use axum::http::Method;
use serde_json::{Value, json};

use super::answer;
use super::call::Call;
use super::describe::Kind;
use super::operation::{Input, Operation, Output};
use super::shape::{Field, field};
use crate::error::Failure;
use crate::workflow::{PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX, Workflows};

const PAGE: Field = field("page", Kind::Int32, "Which page, from 0");
const PAGE_SIZE: Field = field("pageSize", Kind::Int32, "Items on a page, 1 to 200; 20 if left out");
const BUFFER: Field =
    field("buffer", Kind::Boolean, "Whether to keep it if the step is not reached yet, instead of 409; false if left out");

/// Whether a path belongs to JSON workflows.
pub(super) fn owns(path: &str) -> bool {
    ["/v1/definitions", "/v1/instances", "/v1/jobs"]
        .iter()
        .any(|prefix| path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

/// What may stand in the path in place of a parameter.
pub(super) fn parameter(name: &str) -> Value {
    match name {
        "version" => json!({ "type": "integer", "format": "int32", "minimum": 1, "maximum": i32::MAX }),
        _ => json!({ "type": "string", "minLength": 1, "maxLength": 256 }),
    }
}

pub(super) static OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::GET,
        path: "/healthz",
        id: "healthz",
        summary: "Whether the server answers",
        input: Input::None,
        query: &[],
        output: Output::Text("text/plain"),
        failures: &[],
        run: |_| Box::pin(async { Ok(answer::content("text/plain", "ok\n")) }),
    },
    Operation {
        method: Method::POST,
        path: "/v1/definitions",
        id: "uploadWorkflow",
        summary: "Upload a workflow: a new version of its id, also where nothing changed",
        input: Input::Json("The workflow: `id`, `name`, `steps` and more, see docs/json-workflows.md", true),
        query: &[],
        output: Output::Created(&definitions::LAYOUT),
        failures: &[504],
        run: |call| Box::pin(definitions::upload(call)),
    },
    Operation {
        method: Method::GET,
        path: "/v1/definitions",
        id: "listWorkflows",
        summary: "The latest version of each workflow, by id",
        input: Input::None,
        query: &[field("keyword", Kind::Text, "Part of the id or of the name"), PAGE, PAGE_SIZE],
        output: Output::Object(&definitions::LISTED),
        failures: &[],
        run: |call| Box::pin(definitions::list(call)),
    },
    Operation {
        method: Method::GET,
        path: "/v1/definitions/{definitionId}",
        id: "getWorkflow",
        summary: "The latest version of a workflow as it was uploaded, with its number",
        input: Input::None,
        query: &[],
        output: Output::Object(&definitions::DOCUMENT),
        failures: &[404],
        run: |call| Box::pin(definitions::get(call)),
    },
    Operation {
        method: Method::GET,
        path: "/v1/definitions/{definitionId}/versions/{version}",
        id: "getWorkflowVersion",
        summary: "One version of a workflow as it was uploaded",
        input: Input::None,
        query: &[],
        output: Output::Object(&definitions::DOCUMENT),
        failures: &[404],
        run: |call| Box::pin(definitions::get_version(call)),
    },
    Operation {
        method: Method::GET,
        path: "/v1/definitions/{definitionId}/bpmn",
        id: "getWorkflowBpmn",
        summary: "The latest version of a workflow as BPMN 2.0 XML with a drawing; deployed, it is the same workflow",
        input: Input::None,
        query: &[],
        output: Output::Text("text/xml"),
        failures: &[404, 409],
        run: |call| Box::pin(definitions::drawn(call)),
    },
    Operation {
        method: Method::GET,
        path: "/v1/definitions/{definitionId}/versions/{version}/bpmn",
        id: "getWorkflowVersionBpmn",
        summary: "One version of a workflow as BPMN 2.0 XML with a drawing",
        input: Input::None,
        query: &[],
        output: Output::Text("text/xml"),
        failures: &[404, 409],
        run: |call| Box::pin(definitions::drawn_version(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v1/instances",
        id: "startWorkflow",
        summary: "Start an instance of a workflow",
        input: Input::Required(&instances::START),
        query: &[],
        output: Output::Created(&instances::LAYOUT),
        failures: &[404, 504],
        run: |call| Box::pin(instances::start(call)),
    },
    Operation {
        method: Method::GET,
        path: "/v1/instances",
        id: "listWorkflowInstances",
        summary: "Instances, the newest first",
        input: Input::None,
        query: &[
            field("definitionId", Kind::Text, "Of this workflow"),
            field("status", Kind::Word(instances::STATUSES), "With this status"),
            field("businessKey", Kind::Text, "With this business key"),
            PAGE,
            PAGE_SIZE,
        ],
        output: Output::Object(&instances::LISTED),
        failures: &[],
        run: |call| Box::pin(instances::list(call)),
    },
    Operation {
        method: Method::GET,
        path: "/v1/instances/{instanceId}",
        id: "getWorkflowInstance",
        summary: "An instance with its variables",
        input: Input::None,
        query: &[],
        output: Output::Object(&instances::LAYOUT),
        failures: &[404],
        run: |call| Box::pin(instances::get(call)),
    },
    Operation {
        method: Method::GET,
        path: "/v1/instances/{instanceId}/history",
        id: "getWorkflowInstanceHistory",
        summary: "What happened at each step, attempt by attempt, in order of start",
        input: Input::None,
        query: &[PAGE, field("pageSize", Kind::Int32, "Steps on a page, 1 to 10000; 1000 if left out")],
        output: Output::Object(&instances::HISTORY),
        failures: &[404],
        run: |call| Box::pin(instances::history(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v1/instances/{instanceId}/cancel",
        id: "cancelWorkflowInstance",
        summary: "Cancel an instance",
        input: Input::None,
        query: &[],
        output: Output::Object(&instances::LAYOUT),
        failures: &[404, 409, 504],
        run: |call| Box::pin(instances::cancel(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v1/instances/{instanceId}/retry",
        id: "retryWorkflowInstance",
        summary: "Let a failed instance go on from the steps that failed",
        input: Input::None,
        query: &[],
        output: Output::Object(&instances::LAYOUT),
        failures: &[404, 409, 504],
        run: |call| Box::pin(instances::retry(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v1/instances/{instanceId}/user-tasks/{stepId}/complete",
        id: "completeWorkflowUserTask",
        summary: "A task for a person is done; saying so again is no error",
        input: Input::Optional(&instances::COMPLETION),
        query: &[BUFFER],
        output: Output::NoContent,
        failures: &[404, 409, 504],
        run: |call| Box::pin(instances::complete_user_task(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v1/instances/{instanceId}/signals/{stepId}",
        id: "signalWorkflowStep",
        summary: "A step that waits goes on; the body is merged into the variables",
        input: Input::Json("Variables", false),
        query: &[BUFFER],
        output: Output::NoContent,
        failures: &[404, 409, 504],
        run: |call| Box::pin(instances::signal(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v1/jobs/poll",
        id: "pollWorkflowJobs",
        summary: "Lease jobs of some types to a worker",
        input: Input::Required(&jobs::POLL),
        query: &[],
        output: Output::Object(&jobs::POLLED),
        failures: &[410, 504],
        run: |call| Box::pin(jobs::poll(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v1/jobs/{jobId}/complete",
        id: "completeWorkflowJob",
        summary: "A job is done; saying so again is no error",
        input: Input::Required(&jobs::COMPLETION),
        query: &[],
        output: Output::NoContent,
        failures: &[404, 409, 504],
        run: |call| Box::pin(jobs::complete(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v1/jobs/{jobId}/fail",
        id: "failWorkflowJob",
        summary: "A job could not be done: it is tried again while retries are left, if it may be",
        input: Input::Required(&jobs::FAILURE),
        query: &[],
        output: Output::NoContent,
        failures: &[404, 409, 504],
        run: |call| Box::pin(jobs::fail(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v1/jobs/{jobId}/error",
        id: "throwWorkflowJobError",
        summary: "A BPMN error: an error event of the process catches it; saying so again is no error",
        input: Input::Required(&jobs::ERROR),
        query: &[],
        output: Output::NoContent,
        failures: &[404, 409, 504],
        run: |call| Box::pin(jobs::throw(call)),
    },
];

fn workflows(call: &Call) -> Workflows {
    let bytes_max = call.config().page_bytes_max;
    Workflows { host: call.host().clone(), caller: call.caller.clone(), bytes_max, idempotency_key: None, _timed: None }
}

/// For what changes something.
fn commanding(call: &Call) -> Result<Workflows, Failure> {
    Ok(Workflows { idempotency_key: call.idempotency_key()?, ..workflows(call) })
}

/// Where a page begins and how long it is, of those after the question mark.
fn page(parameters: &[(String, String)], size_default: u32, size_max: u32) -> Result<(u32, u32), Failure> {
    let number = |name: &str, default: u32, range: std::ops::RangeInclusive<u32>| {
        let Some((_, text)) = parameters.iter().find(|(known, _)| known == name) else { return Ok(default) };
        let number = text.parse().ok().filter(|number| range.contains(number));
        let (least, most) = (range.start(), range.end());
        number.ok_or_else(|| Failure::invalid(format!("{name} is '{text}', but must be a whole number from {least} to {most}")))
    };
    Ok((number("page", 0, 0..=i32::MAX as u32)?, number("pageSize", size_default, 1..=size_max)?))
}

fn usual_page(parameters: &[(String, String)]) -> Result<(u32, u32), Failure> {
    page(parameters, PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX)
}

fn given<'p>(parameters: &'p [(String, String)], name: &str) -> Option<&'p str> {
    parameters.iter().find(|(known, value)| known == name && !value.is_empty()).map(|(_, value)| value.as_str())
}
