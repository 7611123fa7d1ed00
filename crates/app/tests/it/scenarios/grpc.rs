//! gRPC; what comes back is put into the words of REST, so that one scenario serves both.

use std::collections::BTreeMap;

use api::grpc::workflow_wire as wire;
use prost_types::{ListValue, Struct, value::Kind};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Response, Status};
use wire::workflow_engine_client::WorkflowEngineClient;

use super::server::Server;
use super::{Reply, Surface};

pub(crate) struct Grpc {
    runtime: Runtime,
    endpoint: Endpoint,
}

impl Grpc {
    pub(crate) fn new(server: &Server) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let endpoint = Endpoint::try_from(format!("http://{}", server.grpc)).unwrap();
        Self { runtime, endpoint }
    }

    fn call<M>(
        &self,
        done: u16,
        call: impl AsyncFnOnce(WorkflowEngineClient<Channel>) -> Result<Response<M>, Status>,
        shown: impl FnOnce(M) -> Value,
    ) -> Reply {
        // A connection of its own: the server may be another one since the last call.
        let answer = self.runtime.block_on(async {
            let channel = self.endpoint.connect().await.unwrap();
            call(WorkflowEngineClient::new(channel)).await
        });
        match answer {
            Ok(answer) => (done, shown(answer.into_inner())),
            Err(status) => (as_http(status.code()), json!({"message": status.message()})),
        }
    }
}

fn as_http(code: Code) -> u16 {
    match code {
        Code::InvalidArgument => 400,
        Code::NotFound => 404,
        Code::FailedPrecondition | Code::AlreadyExists => 409,
        _ => 500,
    }
}

impl Surface for Grpc {
    fn upload(&self, document: &Value) -> Reply {
        let request = wire::UploadDefinitionRequest { definition: Some(definition(document)) };
        self.call(201, async |mut client| client.upload_definition(request).await, |reply| json!({"version": reply.version}))
    }

    fn start(&self, body: &Value) -> Reply {
        let request = wire::StartInstanceRequest {
            definition_id: text(&body["definitionId"]),
            definition_version: body["definitionVersion"].as_i64().unwrap_or_default() as i32,
            variables: Some(structure(&body["variables"])),
            business_key: text(&body["businessKey"]),
        };
        self.call(201, async |mut client| client.start_instance(request).await, |reply| instance(&reply.instance.unwrap()))
    }

    fn instance(&self, id: &str) -> Reply {
        let request = wire::GetInstanceRequest { id: id.to_owned() };
        self.call(200, async |mut client| client.get_instance(request).await, |reply| instance(&reply.instance.unwrap()))
    }

    fn history(&self, id: &str) -> Reply {
        let request = wire::GetInstanceHistoryRequest { id: id.to_owned() };
        let shown = |reply: wire::GetInstanceHistoryResponse| {
            let items = reply.executions.iter().map(|one| {
                let status = one.status().as_str_name().trim_start_matches("STEP_EXECUTION_STATUS_").to_owned();
                json!({"stepId": one.step_id, "attemptNumber": one.attempt_number, "status": status})
            });
            json!({"items": items.collect::<Vec<_>>()})
        };
        self.call(200, async |mut client| client.get_instance_history(request).await, shown)
    }

    fn list(&self, filters: &[(&str, &str)]) -> Reply {
        let filter = |name: &str| filters.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let status = filter("status").and_then(|word| wire::InstanceStatus::from_str_name(&format!("INSTANCE_STATUS_{word}")));
        let request = wire::ListInstancesRequest {
            definition_id: filter("definitionId").unwrap_or_default(),
            status: status.unwrap_or_default().into(),
            business_key: filter("businessKey").unwrap_or_default(),
            ..Default::default()
        };
        let shown = |reply: wire::ListInstancesResponse| json!({"items": reply.instances.iter().map(instance).collect::<Vec<_>>(), "total": reply.total});
        self.call(200, async |mut client| client.list_instances(request).await, shown)
    }

    fn poll(&self, worker: &str, job_types: &[&str]) -> Reply {
        let job_types = job_types.iter().map(|job_type| (*job_type).to_owned()).collect();
        let request = wire::PollJobsRequest { worker_id: worker.to_owned(), job_types, ..Default::default() };
        let shown = |reply: wire::PollJobsResponse| {
            let jobs = reply.jobs.iter().map(|job| json!({"id": job.id, "stepId": job.step_id}));
            json!({"jobs": jobs.collect::<Vec<_>>()})
        };
        self.call(200, async |mut client| client.poll_jobs(request).await, shown)
    }

    fn complete(&self, job: &str, worker: &str, variables: &Value) -> Reply {
        let request = wire::CompleteJobRequest {
            job_id: job.to_owned(),
            worker_id: worker.to_owned(),
            variables_to_set: Some(structure(variables)),
            ..Default::default()
        };
        self.call(204, async |mut client| client.complete_job(request).await, nothing)
    }

    fn fail(&self, job: &str, worker: &str, retryable: bool, message: &str) -> Reply {
        let (job_id, worker_id, error_message) = (job.to_owned(), worker.to_owned(), message.to_owned());
        let request = wire::FailJobRequest { job_id, worker_id, retryable, error_message, ..Default::default() };
        self.call(204, async |mut client| client.fail_job(request).await, nothing)
    }

    fn user_task(&self, instance: &str, step: &str, body: &Value, buffer: bool) -> Reply {
        let request = wire::CompleteUserTaskRequest {
            completed_by: "anna".to_owned(),
            result: Some(structure(body)),
            instance_id: instance.to_owned(),
            user_task_step_id: step.to_owned(),
            buffer,
        };
        self.call(204, async |mut client| client.complete_user_task(request).await, nothing)
    }

    fn signal(&self, instance: &str, step: &str, variables: &Value, buffer: bool) -> Reply {
        let request = wire::SignalWaitRequest {
            instance_id: instance.to_owned(),
            wait_step_id: step.to_owned(),
            variables: Some(structure(variables)),
            buffer,
        };
        self.call(204, async |mut client| client.signal_wait(request).await, nothing)
    }

    fn cancel(&self, id: &str) -> Reply {
        let request = wire::CancelInstanceRequest { id: id.to_owned(), ..Default::default() };
        self.call(200, async |mut client| client.cancel_instance(request).await, nothing)
    }

    fn retry(&self, id: &str) -> Reply {
        let request = wire::RetryInstanceRequest { id: id.to_owned() };
        self.call(200, async |mut client| client.retry_instance(request).await, nothing)
    }
}

fn nothing<M>(_: M) -> Value {
    Value::Null
}

fn instance(shown: &wire::WorkflowInstance) -> Value {
    let variables = shown.variables.as_ref().map(|variables| json_of(&Kind::StructValue(variables.clone())));
    json!({
        "id": shown.id,
        "definitionId": shown.definition_id,
        "status": shown.status().as_str_name().trim_start_matches("INSTANCE_STATUS_"),
        "currentStepIds": shown.current_step_ids,
        "variables": variables,
        "failureReason": shown.failure_reason,
        "businessKey": shown.business_key,
        "previousInstanceId": shown.previous_instance_id,
    })
}

fn definition(document: &Value) -> wire::WorkflowDefinition {
    wire::WorkflowDefinition {
        id: text(&document["id"]),
        name: text(&document["name"]),
        description: text(&document["description"]),
        auto_start_next_workflow: document["autoStartNextWorkflow"].as_bool().unwrap_or_default(),
        next_workflow_id: text(&document["nextWorkflowId"]),
        steps: document["steps"].as_array().into_iter().flatten().map(step).collect(),
        ..Default::default()
    }
}

fn step(step: &Value) -> wire::WorkflowStep {
    let kind = wire::StepType::from_str_name(&format!("STEP_TYPE_{}", text(&step["type"])));
    let pairs = |name: &str| step[name].as_object().cloned().unwrap_or_default().into_iter();
    let value = |value: &Value| prost_types::Value { kind: Some(kind_of(value)) };
    wire::WorkflowStep {
        id: text(&step["id"]),
        name: text(&step["name"]),
        r#type: kind.unwrap_or_default().into(),
        next_step: text(&step["nextStep"]),
        parallel_next_steps: step["parallelNextSteps"].as_array().into_iter().flatten().map(text).collect(),
        join_step: text(&step["joinStep"]),
        conditional_next_steps: pairs("conditionalNextSteps").map(|(name, to)| (name, text(&to))).collect(),
        transformations: pairs("transformations").map(|(name, given)| (name, value(&given))).collect(),
        job_type: text(&step["jobType"]),
        retry_count: step["retryCount"].as_i64().unwrap_or_default() as i32,
        boundary_events: step["boundaryEvents"].as_array().into_iter().flatten().map(boundary).collect(),
        process_id: text(&step["processId"]),
        retry_backoff: text(&step["retryBackoff"]),
        ..Default::default()
    }
}

fn boundary(event: &Value) -> wire::BoundaryEvent {
    wire::BoundaryEvent {
        r#type: wire::BoundaryEventType::Timer.into(),
        duration: text(&event["duration"]),
        interrupting: event["interrupting"].as_bool().unwrap_or_default(),
        target_step_id: text(&event["targetStepId"]),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn structure(value: &Value) -> Struct {
    match kind_of(value) {
        Kind::StructValue(structure) => structure,
        _ => Struct::default(),
    }
}

fn kind_of(value: &Value) -> Kind {
    let wrapped = |value: &Value| prost_types::Value { kind: Some(kind_of(value)) };
    match value {
        Value::Null => Kind::NullValue(0),
        Value::Bool(flag) => Kind::BoolValue(*flag),
        Value::Number(number) => Kind::NumberValue(number.as_f64().unwrap()),
        Value::String(text) => Kind::StringValue(text.clone()),
        Value::Array(items) => Kind::ListValue(ListValue { values: items.iter().map(wrapped).collect() }),
        Value::Object(members) => {
            let fields: BTreeMap<_, _> = members.iter().map(|(name, value)| (name.clone(), wrapped(value))).collect();
            Kind::StructValue(Struct { fields })
        }
    }
}

fn json_of(kind: &Kind) -> Value {
    let inner = |value: &prost_types::Value| value.kind.as_ref().map_or(Value::Null, json_of);
    match kind {
        Kind::NullValue(_) => Value::Null,
        Kind::BoolValue(flag) => json!(flag),
        Kind::NumberValue(number) if number.fract() == 0.0 => json!(*number as i64),
        Kind::NumberValue(number) => json!(number),
        Kind::StringValue(text) => json!(text),
        Kind::ListValue(list) => Value::Array(list.values.iter().map(inner).collect()),
        Kind::StructValue(structure) => {
            Value::Object(structure.fields.iter().map(|(name, value)| (name.clone(), inner(value))).collect())
        }
    }
}
