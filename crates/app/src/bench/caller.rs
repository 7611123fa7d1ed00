//! One client of the server: the few requests the bench makes, over gRPC or REST.

use std::time::Duration;

use api::grpc::wire::{
    ActivatedJob, CompleteJobRequest, CompleteJobResponse, CreateProcessInstanceRequest, CreateProcessInstanceResponse,
    PublishMessageRequest, PublishMessageResponse, StreamActivatedJobsRequest,
};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::grpc::{Answers, Channel};
use super::http::Connection;
use super::subject::Subject;

/// How long a request may take before it counts as failed.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a poll waits for jobs.
const POLL: Duration = Duration::from_secs(10);
/// How long a worker may take for a job.
const LEASE: Duration = Duration::from_secs(60);
/// How long a message is kept for an instance that does not wait for it yet.
const MESSAGE: Duration = Duration::from_secs(3600);

/// Where the server is and how it is spoken to.
#[derive(Debug, Clone)]
pub(super) struct Endpoints {
    /// HOST:PORT
    pub(super) rest: String,
    /// HOST:PORT
    pub(super) grpc: String,
    pub(super) speech: Speech,
}

/// What starters and workers speak.
#[derive(Debug, Clone, Copy)]
pub(super) enum Speech {
    Grpc,
    Rest,
    /// `/v1` over REST.
    Workflow(Polling),
}

/// How a worker of workflows asks for jobs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Polling {
    jobs_max: usize,
    wait: Duration,
    /// After a poll that brought nothing.
    sleep: Duration,
}

/// Jobs one worker works on at the same time; also what it asks for in one poll.
const JOBS_PER_WORKER: usize = 32;

impl Speech {
    pub(super) const WORKFLOW_CONTRACT: Self =
        Self::Workflow(Polling { jobs_max: 1, wait: Duration::ZERO, sleep: Duration::from_millis(500) });
    pub(super) const WORKFLOW_WAITING: Self =
        Self::Workflow(Polling { jobs_max: JOBS_PER_WORKER, wait: POLL, sleep: Duration::ZERO });

    pub(super) fn jobs_per_worker(self) -> usize {
        match self {
            Self::Grpc | Self::Rest => JOBS_PER_WORKER,
            Self::Workflow(polling) => polling.jobs_max,
        }
    }
}

impl Endpoints {
    pub(super) async fn deploy(&self, subject: &Subject) -> Result<(), String> {
        const BOUNDARY: &str = "caudal-bench-boundary";
        let mut body = Vec::new();
        for (name, content) in &subject.files {
            let disposition = format!("Content-Disposition: form-data; name=\"resources\"; filename=\"{name}\"");
            let head = format!("--{BOUNDARY}\r\n{disposition}\r\nContent-Type: application/octet-stream\r\n\r\n");
            body.extend_from_slice(head.as_bytes());
            body.extend_from_slice(content);
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
        let mut connection = Connection::to(&self.rest);
        let kind = format!("multipart/form-data; boundary={BOUNDARY}");
        let answer = connection.send("POST", "/v2/deployments", &kind, &body, PATIENCE).await?;
        answer.expect_success().map(drop)
    }

    /// What has become of an instance; nothing while it cannot be found yet.
    pub(super) async fn state(&self, instance: u64) -> Result<Option<String>, String> {
        let answer = Connection::to(&self.rest).get(&format!("/v2/process-instances/{instance}"), PATIENCE).await?;
        if answer.status == 404 {
            return Ok(None);
        }
        let answer: Value = serde_json::from_slice(&answer.expect_success()?).map_err(|error| error.to_string())?;
        let stuck = answer["hasIncident"].as_bool() == Some(true);
        Ok(if stuck { Some("STUCK".to_owned()) } else { answer["state"].as_str().map(str::to_owned) })
    }

    pub(super) async fn connect(&self) -> Result<Caller, String> {
        match self.speech {
            Speech::Rest => Ok(Caller::Rest(Connection::to(&self.rest))),
            Speech::Workflow(polling) => Ok(Caller::Workflow(Connection::to(&self.rest), polling)),
            Speech::Grpc => Channel::connect(&self.grpc).await.map(Caller::Grpc),
        }
    }
}

pub(super) enum Caller {
    Grpc(Channel),
    Rest(Connection),
    Workflow(Connection, Polling),
}

/// A job as a worker sees it.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) key: u64,
    /// JSON.
    pub(super) variables: String,
}

impl Caller {
    /// Another of the same: over gRPC on the same connection, over REST on one of its own, as HTTP/1 needs it.
    pub(super) fn another(&self) -> Self {
        match self {
            Self::Grpc(channel) => Self::Grpc(channel.clone()),
            Self::Rest(connection) => Self::Rest(connection.another()),
            Self::Workflow(connection, polling) => Self::Workflow(connection.another(), *polling),
        }
    }

    pub(super) async fn create(&mut self, process_id: &str, variables: String) -> Result<u64, String> {
        match self {
            Self::Grpc(channel) => {
                let request = CreateProcessInstanceRequest {
                    bpmn_process_id: process_id.to_owned(),
                    version: -1,
                    variables,
                    ..CreateProcessInstanceRequest::default()
                };
                let created: CreateProcessInstanceResponse = within(channel.call("CreateProcessInstance", &request)).await?;
                Ok(created.process_instance_key as u64)
            }
            Self::Rest(connection) => {
                let body = format!("{{\"processDefinitionId\":\"{process_id}\",\"variables\":{variables}}}");
                let answer = connection.post("/v2/process-instances", body.as_bytes(), PATIENCE).await?.expect_success()?;
                let created: Created<'_> = read(&answer)?;
                key(created.process_instance_key)
            }
            Self::Workflow(connection, _) => {
                let body = format!("{{\"definitionId\":\"{process_id}\",\"variables\":{variables}}}");
                let answer = connection.post("/v1/instances", body.as_bytes(), PATIENCE).await?.expect_success()?;
                let created: Started<'_> = read(&answer)?;
                key(created.id)
            }
        }
    }

    pub(super) async fn publish(&mut self, name: &str, correlation_key: String) -> Result<(), String> {
        let time_to_live = MESSAGE.as_millis() as i64;
        match self {
            Self::Grpc(channel) => {
                let name = name.to_owned();
                let request = PublishMessageRequest { name, correlation_key, time_to_live, ..PublishMessageRequest::default() };
                within(channel.call("PublishMessage", &request)).await.map(|_: PublishMessageResponse| ())
            }
            Self::Rest(connection) => {
                let body = serde_json::json!({ "name": name, "correlationKey": correlation_key, "timeToLive": time_to_live });
                let answer = connection.post("/v2/messages/publication", body.to_string().as_bytes(), PATIENCE).await?;
                answer.expect_success().map(drop)
            }
            Self::Workflow(..) => Err("a workflow waits for no message".to_owned()),
        }
    }

    pub(super) async fn complete(&mut self, job: u64) -> Result<(), String> {
        match self {
            Self::Grpc(channel) => {
                let request = CompleteJobRequest { job_key: job as i64, ..CompleteJobRequest::default() };
                within(channel.call("CompleteJob", &request)).await.map(|_: CompleteJobResponse| ())
            }
            Self::Rest(connection) => {
                connection.post(&format!("/v2/jobs/{job}/completion"), b"{}", PATIENCE).await?.expect_success().map(drop)
            }
            Self::Workflow(connection, _) => {
                let path = format!("/v1/jobs/{job}/complete");
                connection.post(&path, br#"{"workerId":"bench"}"#, PATIENCE).await?.expect_success().map(drop)
            }
        }
    }

    /// Jobs of a type, as they come.
    pub(super) async fn jobs<'a>(&'a mut self, job_type: &str, worker: &str) -> Result<Jobs<'a>, String> {
        match self {
            Self::Grpc(channel) => {
                let request = StreamActivatedJobsRequest {
                    r#type: job_type.to_owned(),
                    worker: worker.to_owned(),
                    timeout: LEASE.as_millis() as i64,
                    ..StreamActivatedJobsRequest::default()
                };
                within(channel.open("StreamActivatedJobs", &request)).await.map(Jobs::Stream)
            }
            Self::Rest(connection) => {
                let poll = serde_json::json!({
                    "type": job_type,
                    "worker": worker,
                    "timeout": LEASE.as_millis() as u64,
                    "maxJobsToActivate": JOBS_PER_WORKER,
                    "requestTimeout": POLL.as_millis() as u64,
                });
                Ok(Jobs::Poll { connection, poll: poll.to_string() })
            }
            Self::Workflow(connection, Polling { jobs_max, wait, sleep }) => {
                let mut poll = serde_json::json!({ "workerId": "bench", "jobTypes": [job_type], "maxJobs": jobs_max });
                if !wait.is_zero() {
                    poll["waitSeconds"] = wait.as_secs().into();
                }
                Ok(Jobs::PollWorkflow { connection, poll: poll.to_string(), sleep: *sleep })
            }
        }
    }
}

pub(super) enum Jobs<'a> {
    Stream(Answers),
    Poll { connection: &'a mut Connection, poll: String },
    PollWorkflow { connection: &'a mut Connection, poll: String, sleep: Duration },
}

impl Jobs<'_> {
    /// The next jobs; none if a poll waited in vain.
    pub(super) async fn next(&mut self) -> Result<Vec<Job>, String> {
        match self {
            Self::Stream(stream) => {
                let job = stream.next().await.map_err(|status| told(&status))?;
                let job: ActivatedJob = job.ok_or("the server ended the stream of jobs")?;
                Ok(vec![Job { key: job.key as u64, variables: job.variables }])
            }
            Self::Poll { connection, poll } => {
                let answer = connection.post("/v2/jobs/activation", poll.as_bytes(), POLL + PATIENCE).await?.expect_success()?;
                read::<Polled<'_>>(&answer)?.jobs.iter().map(PolledJob::job).collect()
            }
            Self::PollWorkflow { connection, poll, sleep } => {
                let answer = connection.post("/v1/jobs/poll", poll.as_bytes(), POLL + PATIENCE).await?.expect_success()?;
                let polled: Polled<'_> = read(&answer)?;
                if polled.jobs.is_empty() {
                    tokio::time::sleep(*sleep).await;
                }
                polled.jobs.iter().map(PolledJob::job).collect()
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Created<'a> {
    process_instance_key: &'a str,
}

#[derive(Deserialize)]
struct Started<'a> {
    id: &'a str,
}

#[derive(Deserialize)]
struct Polled<'a> {
    #[serde(borrow)]
    jobs: Vec<PolledJob<'a>>,
}

#[derive(Deserialize)]
struct PolledJob<'a> {
    #[serde(alias = "jobKey")]
    id: &'a str,
    #[serde(borrow)]
    variables: &'a RawValue,
}

impl PolledJob<'_> {
    fn job(&self) -> Result<Job, String> {
        Ok(Job { key: key(self.id)?, variables: self.variables.get().to_owned() })
    }
}

fn read<'a, T: Deserialize<'a>>(answer: &'a [u8]) -> Result<T, String> {
    serde_json::from_slice(answer).map_err(|error| format!("an answer is not understood: {error}"))
}

fn key(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("'{text}' is no key"))
}

async fn within<T>(call: impl Future<Output = Result<T, tonic::Status>>) -> Result<T, String> {
    match tokio::time::timeout(PATIENCE, call).await {
        Ok(answered) => answered.map_err(|status| told(&status)),
        Err(_) => Err(format!("no answer within {} s", PATIENCE.as_secs())),
    }
}

fn told(status: &tonic::Status) -> String {
    format!("{:?}: {}", status.code(), status.message())
}
