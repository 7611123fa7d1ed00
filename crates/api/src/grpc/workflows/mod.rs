//! `workflow.v1.WorkflowEngine`: JSON workflows over gRPC. Every call, and what it is on the wire; what it means is `crate::workflow`.

mod definition;
mod value;

use std::sync::Arc;
use std::time::Duration;

use engine::Document;
use host::{ActivatedJobs, Subscription, Timed};
use store::Millis;
use store::log::{ActivatedJob, Failed, Said, Thrown};
use tonic::{Request, Response, Status};

use super::call::Call;
use super::gateway::Gateway;
use super::pushing::Pushed;
use super::workflow_wire::{self as wire, workflow_engine_server};
use crate::drain;
use crate::error::Failure;
use crate::workflow::{
    self, Execution, Holder, Instance, LeaseStatus, ListDefinitions, ListInstances, Listed, OneReport, PAGE_SIZE_DEFAULT,
    PAGE_SIZE_MAX, PollJobs, Standing, Start, Status as InstanceStatus, Told, Workflows,
};

/// How long a poll may wait.
const POLL_WAIT_MAX: Duration = Duration::from_secs(600);
/// Steps of a history that one answer holds.
const HISTORY_MAX: u32 = 10_000;

pub(super) struct Engine(pub(super) Gateway);

type Answer<T> = Result<Response<T>, Status>;

impl Engine {
    fn open<M>(&self, request: Request<M>) -> (Workflows, M) {
        let (call, message) = Call::open(&self.0, request);
        let bytes_max = self.0.config.message_bytes_max;
        let timed = Some(Timed::new(&self.0.host.metrics().workflows.grpc_seconds));
        (Workflows { host: self.0.host.clone(), caller: call.caller, bytes_max, idempotency_key: None, _timed: timed }, message)
    }

    fn document(&self, given: Option<prost_types::Struct>) -> Result<Document, Status> {
        let Some(given) = given else { return Ok(Document::new()) };
        let document = crate::document::parse(&value::to_json(&given), self.0.host.limits());
        document.map_err(|error| Failure::from(error).into())
    }

    fn alive(&self, request: wire::HeartbeatRequest) -> Result<OneReport, Status> {
        let lease = workflow::lease_for(Some(request.lease_seconds.into()).filter(|seconds| *seconds != 0))?;
        let says_something = request.percent.is_some() || request.message.is_some() || request.data.is_some();
        let data = self.document(request.data)?;
        let progress = match says_something {
            true => Some(workflow::progress(request.percent.map(Into::into), request.message.as_deref(), &data)?),
            false => None,
        };
        let holder = holder(request.worker_id, request.lease);
        Ok(OneReport { job: request.job_id, holder, said: Said::Alive { lease, progress } })
    }

    async fn tell(&self, workflows: Workflows, instance: &str, told: Told) -> Result<(), Status> {
        Ok(workflows.tell(instance, told).await?)
    }
}

#[tonic::async_trait]
impl workflow_engine_server::WorkflowEngine for Engine {
    type StreamJobsStream = Pushed<wire::Job>;

    async fn upload_definition(&self, request: Request<wire::UploadDefinitionRequest>) -> Answer<wire::UploadDefinitionResponse> {
        let (workflows, request) = self.open(request);
        let definition = request.definition.ok_or_else(|| Status::invalid_argument("definition is needed"))?;
        let uploaded = workflows.upload(definition::to_json(definition)?.as_bytes()).await?;
        let uploaded_at = Some(time(uploaded.uploaded));
        Ok(Response::new(wire::UploadDefinitionResponse { id: uploaded.id, version: uploaded.version, uploaded_at }))
    }

    async fn get_definition(&self, request: Request<wire::GetDefinitionRequest>) -> Answer<wire::GetDefinitionResponse> {
        let (workflows, request) = self.open(request);
        let version = Some(request.version).filter(|version| *version != 0);
        let found = workflows.definition(&request.id, version).await?;
        Ok(Response::new(wire::GetDefinitionResponse { definition: Some(definition::from_json(&found)) }))
    }

    async fn list_definitions(&self, request: Request<wire::ListDefinitionsRequest>) -> Answer<wire::ListDefinitionsResponse> {
        let (workflows, request) = self.open(request);
        let (page, page_size) = page(request.page, request.page_size)?;
        let list = ListDefinitions { keyword: Some(request.keyword), page, page_size };
        let Listed { items, total } = workflows.definitions(&list).await?;
        let mut definitions = Vec::with_capacity(items.len());
        for item in items {
            definitions.push(definition::from_json(&workflows.definition(&item.id, Some(item.version)).await?));
        }
        Ok(Response::new(wire::ListDefinitionsResponse { definitions, total: count(total) }))
    }

    async fn start_instance(&self, request: Request<wire::StartInstanceRequest>) -> Answer<wire::StartInstanceResponse> {
        let (workflows, request) = self.open(request);
        if request.definition_id.is_empty() {
            return Err(Status::invalid_argument("definition_id is needed"));
        }
        let start = Start {
            definition_id: request.definition_id.into(),
            version: Some(request.definition_version).filter(|version| *version != 0),
            variables: self.document(request.variables)?,
            business_key: given(request.business_key),
        };
        let instance = workflows.start(start).await?;
        Ok(Response::new(wire::StartInstanceResponse { instance: Some(instance.into()) }))
    }

    async fn get_instance(&self, request: Request<wire::GetInstanceRequest>) -> Answer<wire::GetInstanceResponse> {
        let (workflows, request) = self.open(request);
        let instance = workflows.instance(&request.id).await?;
        Ok(Response::new(wire::GetInstanceResponse { instance: Some(instance.into()) }))
    }

    async fn get_instance_history(
        &self,
        request: Request<wire::GetInstanceHistoryRequest>,
    ) -> Answer<wire::GetInstanceHistoryResponse> {
        let (workflows, request) = self.open(request);
        let history = workflows.history(&request.id, 0, HISTORY_MAX).await?;
        let executions = history.items.into_iter().map(Into::into).collect();
        Ok(Response::new(wire::GetInstanceHistoryResponse { executions }))
    }

    async fn cancel_instance(&self, request: Request<wire::CancelInstanceRequest>) -> Answer<wire::CancelInstanceResponse> {
        let (workflows, request) = self.open(request);
        let instance = workflows.cancel(&request.id).await?;
        Ok(Response::new(wire::CancelInstanceResponse { instance: Some(instance.into()) }))
    }

    async fn list_instances(&self, request: Request<wire::ListInstancesRequest>) -> Answer<wire::ListInstancesResponse> {
        let (workflows, request) = self.open(request);
        let (page, page_size) = page(request.page, request.page_size)?;
        let list = ListInstances {
            status: status(request.status())?,
            definition_id: Some(request.definition_id).filter(|id| !id.is_empty()),
            business_key: Some(request.business_key).filter(|key| !key.is_empty()),
            page,
            page_size,
        };
        let Listed { items, total } = workflows.instances(&list).await?;
        let instances = items.into_iter().map(Into::into).collect();
        Ok(Response::new(wire::ListInstancesResponse { instances, total: count(total) }))
    }

    async fn poll_jobs(&self, request: Request<wire::PollJobsRequest>) -> Answer<wire::PollJobsResponse> {
        let (workflows, request) = self.open(request);
        let wait = u64::try_from(request.wait_seconds).ok().filter(|seconds| 0 < *seconds).map(Duration::from_secs);
        let poll = PollJobs {
            worker: request.worker_id.into(),
            job_types: request.job_types.into_iter().map(Arc::from).collect(),
            max: Some(request.max_jobs.into()).filter(|max| *max != 0),
            lease_seconds: Some(request.lease_seconds.into()).filter(|seconds| *seconds != 0),
            wait: wait.map(|wait| wait.min(POLL_WAIT_MAX)),
        };
        let polled = tokio::select! {
            biased;
            polled = workflows.poll(&poll) => polled?,
            () = drain::drained(self.0.draining.clone()) => return Err(drain::ended()),
        };
        let jobs = polled.into_iter().flat_map(ActivatedJobs::take).map(Into::into).collect();
        Ok(Response::new(wire::PollJobsResponse { jobs }))
    }

    async fn complete_job(&self, request: Request<wire::CompleteJobRequest>) -> Answer<wire::CompleteJobResponse> {
        let (workflows, request) = self.open(request);
        let variables = self.document(request.variables_to_set)?;
        let holder = holder(request.worker_id, request.lease);
        workflows.complete(&request.job_id, holder, variables).await?;
        Ok(Response::new(wire::CompleteJobResponse {}))
    }

    async fn fail_job(&self, request: Request<wire::FailJobRequest>) -> Answer<wire::FailJobResponse> {
        let (workflows, request) = self.open(request);
        let failed = Failed {
            retryable: request.retryable,
            message: request.error_message.into(),
            backoff: request.retry_after_millis.map(|millis| workflow::delay(millis, "retry_after_millis")).transpose()?,
            variables: self.document(request.variables)?,
        };
        let holder = holder(request.worker_id, request.lease);
        workflows.fail(&request.job_id, holder, failed).await?;
        Ok(Response::new(wire::FailJobResponse {}))
    }

    async fn throw_error(&self, request: Request<wire::ThrowErrorRequest>) -> Answer<wire::ThrowErrorResponse> {
        let (workflows, request) = self.open(request);
        let thrown = Thrown {
            code: request.error_code.into(),
            message: request.error_message.into(),
            variables: self.document(request.variables)?,
        };
        workflows.throw(&request.job_id, holder(request.worker_id, request.lease), thrown).await?;
        Ok(Response::new(wire::ThrowErrorResponse {}))
    }

    async fn complete_user_task(
        &self,
        request: Request<wire::CompleteUserTaskRequest>,
    ) -> Answer<wire::CompleteUserTaskResponse> {
        let (workflows, request) = self.open(request);
        let told = Told {
            step: request.user_task_step_id.into(),
            is_task: true,
            by: given(request.completed_by),
            variables: self.document(request.result)?,
            buffer: request.buffer,
        };
        self.tell(workflows, &request.instance_id, told).await?;
        Ok(Response::new(wire::CompleteUserTaskResponse {}))
    }

    async fn signal_wait(&self, request: Request<wire::SignalWaitRequest>) -> Answer<wire::SignalWaitResponse> {
        let (workflows, request) = self.open(request);
        let variables = self.document(request.variables)?;
        let told = Told { step: request.wait_step_id.into(), is_task: false, by: None, variables, buffer: request.buffer };
        self.tell(workflows, &request.instance_id, told).await?;
        Ok(Response::new(wire::SignalWaitResponse {}))
    }

    async fn retry_instance(&self, request: Request<wire::RetryInstanceRequest>) -> Answer<wire::RetryInstanceResponse> {
        let (workflows, request) = self.open(request);
        let instance = workflows.retry(&request.id).await?;
        Ok(Response::new(wire::RetryInstanceResponse { instance: Some(instance.into()) }))
    }

    async fn stream_jobs(&self, request: Request<wire::StreamJobsRequest>) -> Answer<Pushed<wire::Job>> {
        let (workflows, request) = self.open(request);
        let poll = PollJobs {
            worker: request.worker_id.into(),
            job_types: request.job_types.into_iter().map(Arc::from).collect(),
            max: None,
            lease_seconds: Some(request.lease_seconds.into()).filter(|seconds| *seconds != 0),
            wait: None,
        };
        let (_, lease) = poll.check()?;
        let mut streams = Vec::with_capacity(poll.job_types.len());
        for job_type in poll.job_types {
            let subscription = Subscription {
                job_type,
                worker: poll.worker.clone(),
                timeout: lease * 1_000,
                tenants: vec![workflows.caller.home()],
                fetch: Vec::new(),
            };
            let stream = workflows.host.stream(subscription);
            streams.push(stream.map_err(|error| Status::from(Failure::of_command("request", error)))?);
        }
        Ok(Response::new(Pushed::of(&self.0, streams)))
    }

    async fn heartbeat(&self, request: Request<wire::HeartbeatRequest>) -> Answer<wire::HeartbeatResponse> {
        let (workflows, request) = self.open(request);
        let OneReport { job, holder, said } = self.alive(request)?;
        let became = workflows.report(&job, holder, said).await?;
        let standing = workflows.standing(job, became, LeaseStatus::Held).await;
        match standing.status == LeaseStatus::Unknown {
            true => Err(Status::not_found(format!("There is no job '{}'", standing.job))),
            false => Ok(Response::new(standing.into())),
        }
    }

    async fn heartbeats(&self, request: Request<wire::HeartbeatsRequest>) -> Answer<wire::HeartbeatsResponse> {
        let (workflows, request) = self.open(request);
        let reports = request.jobs.into_iter().map(|one| self.alive(one)).collect::<Result<Vec<_>, _>>()?;
        let standings = workflows.report_many(reports, LeaseStatus::Held).await?;
        Ok(Response::new(wire::HeartbeatsResponse { jobs: standings.into_iter().map(Into::into).collect() }))
    }

    async fn release_job(&self, request: Request<wire::ReleaseJobRequest>) -> Answer<wire::ReleaseJobResponse> {
        let (workflows, request) = self.open(request);
        let said = match request.delay_millis {
            0 => Said::Returned,
            delay => Said::Snoozed { delay: workflow::delay(delay, "delay_millis")? },
        };
        let became = workflows.report(&request.job_id, holder(request.worker_id, request.lease), said).await?;
        workflows.given_up(&request.job_id, became).await?;
        Ok(Response::new(wire::ReleaseJobResponse {}))
    }
}

impl From<Standing> for wire::HeartbeatResponse {
    fn from(standing: Standing) -> Self {
        Self { status: standing.status.word().to_owned(), lock_expires_at: standing.until.map(time) }
    }
}

fn holder(worker: String, lease: u32) -> Holder {
    Holder { worker: worker.into(), lease: Some(lease).filter(|lease| *lease != 0) }
}

fn given(text: String) -> Option<Arc<str>> {
    Some(text).filter(|text| !text.is_empty()).map(Into::into)
}

fn count(total: u64) -> i32 {
    i32::try_from(total).unwrap_or(i32::MAX)
}

fn page(page: i32, size: i32) -> Result<(u32, u32), Status> {
    let number = u32::try_from(page).map_err(|_| Status::invalid_argument(format!("page is {page}, but must be 0 or more")))?;
    let size = if size == 0 { PAGE_SIZE_DEFAULT as i32 } else { size };
    let size = u32::try_from(size).ok().filter(|size| (1..=PAGE_SIZE_MAX).contains(size));
    let size = size.ok_or_else(|| Status::invalid_argument(format!("page_size must be 1 to {PAGE_SIZE_MAX}")))?;
    Ok((number, size))
}

fn status(wanted: wire::InstanceStatus) -> Result<Option<InstanceStatus>, Status> {
    let word = wanted.as_str_name().trim_start_matches("INSTANCE_STATUS_");
    Ok(InstanceStatus::parse(word))
}

fn time(millis: Millis) -> prost_types::Timestamp {
    prost_types::Timestamp { seconds: millis.div_euclid(1_000), nanos: (millis.rem_euclid(1_000) * 1_000_000) as i32 }
}

impl From<Instance> for wire::WorkflowInstance {
    fn from(instance: Instance) -> Self {
        let status = wire::InstanceStatus::from_str_name(&format!("INSTANCE_STATUS_{}", instance.status.word()));
        Self {
            id: instance.key.to_string(),
            definition_id: instance.definition_id,
            definition_version: instance.version,
            status: status.unwrap_or_default().into(),
            current_step_ids: instance.current_steps,
            variables: Some(value::of_variables(&instance.variables)),
            started_at: Some(time(instance.started)),
            completed_at: instance.completed.map(time),
            failure_reason: instance.failure.unwrap_or_default(),
            business_key: instance.business_key.unwrap_or_default(),
            previous_instance_id: instance.previous.unwrap_or_default(),
        }
    }
}

impl From<Execution> for wire::StepExecution {
    fn from(execution: Execution) -> Self {
        let status = wire::StepExecutionStatus::from_str_name(&format!("STEP_EXECUTION_STATUS_{}", execution.status.word()));
        let step_type = wire::StepType::from_str_name(&format!("STEP_TYPE_{}", execution.step_type));
        Self {
            id: execution.id,
            instance_id: execution.instance.to_string(),
            step_id: execution.step,
            step_type: step_type.unwrap_or_default().into(),
            attempt_number: execution.attempt,
            status: status.unwrap_or_default().into(),
            started_at: Some(time(execution.started)),
            ended_at: execution.ended.map(time),
            failure_reason: execution.failure.unwrap_or_default(),
            worker_id: execution.worker.unwrap_or_default(),
        }
    }
}

impl From<ActivatedJob> for wire::Job {
    fn from(job: ActivatedJob) -> Self {
        Self {
            id: job.key.to_string(),
            job_type: job.job_type.to_string(),
            instance_id: job.instance.to_string(),
            step_id: job.element_id.to_string(),
            step_execution_id: job.element_instance.to_string(),
            retries_remaining: (job.retries - 1).max(0),
            variables: Some(value::of_text(&job.variables)),
            lock_expires_at: Some(time(job.deadline)),
            lease: job.lease,
            progress: job.progress.as_deref().map(value::of_text),
            trace_context: job.trace.as_deref().and_then(|trace| serde_json::from_str(trace).ok()).unwrap_or_default(),
        }
    }
}
