//! The gRPC transport. Its few messages are written out here, so that building this crate needs no compiler of theirs.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use prost_types::value::Kind;
use prost_types::{ListValue, Struct, Timestamp, Value};
use serde_json::value::RawValue;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::metadata::{AsciiMetadataKey, AsciiMetadataValue, MetadataMap};
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};

use crate::http::{away, shown};
use crate::{Beat, EngineClient, Error, Job, Poll, Progress, Raw, Standing};

const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// More than any server takes.
const REQUEST_BYTES_MAX: usize = 1024 * 1024 * 1024;
const JOBS_PER_REQUEST_MAX: usize = 1_000;
const CALL_MAX: Duration = Duration::from_secs(30);
const CONNECT_MAX: Duration = Duration::from_secs(5);
/// A connection that is silent for so long is asked whether it is still there.
const SILENCE_MAX: Duration = Duration::from_secs(30);
/// How long it may take to say so.
const SIGN_OF_LIFE_MAX: Duration = Duration::from_secs(10);
/// What a poll may take beyond its wait.
const POLL_EXTRA: Duration = Duration::from_secs(15);

/// The transport over `workflow.v1.WorkflowEngine`. Numbers are doubles there: integers beyond 2^53 come as floats, and results with one that no double holds are refused.
#[derive(Debug, Clone)]
pub struct Grpc {
    channel: Channel,
    /// Sent with every request.
    headers: MetadataMap,
}

impl Grpc {
    /// By an address such as `grpc://127.0.0.1:9090`, or `grpcs://` for TLS, which the feature `rustls` has. It connects when it is first needed.
    pub fn new(address: &str) -> Result<Grpc, Error> {
        let endpoint = match address.split_once("://") {
            Some(("grpc", place)) => endpoint(format!("http://{place}"))?,
            Some(("grpcs", place)) => secured(endpoint(format!("https://{place}"))?)?,
            _ => return Err(Error::unusable(format!("`{}` must begin with grpc:// or grpcs://", shown(address)))),
        };
        Ok(Grpc::over(endpoint.connect_lazy()))
    }

    /// Over a channel of your own: with authorities and certificates, another balance, and the like.
    pub fn over(channel: Channel) -> Grpc {
        Grpc { channel, headers: MetadataMap::new() }
    }

    /// Sends a bearer token.
    pub fn token(self, token: &str) -> Result<Grpc, Error> {
        self.header("authorization", &format!("Bearer {token}"))
    }

    /// Sends a header with every request, such as an API key.
    pub fn header(mut self, name: &str, value: &str) -> Result<Grpc, Error> {
        let key = name.to_lowercase().parse::<AsciiMetadataKey>();
        let key = key.map_err(|_| Error::unusable(format!("`{name}` is no name of a header")))?;
        // The value may be a secret.
        let value = value.parse::<AsciiMetadataValue>();
        let mut value = value.map_err(|_| Error::unusable(format!("the value of the header `{name}` has odd letters")))?;
        value.set_sensitive(true);
        self.headers.insert(key, value);
        Ok(self)
    }

    async fn call<Request, Answer>(&self, path: &'static str, message: Request, within: Duration) -> Result<Answer, Error>
    where
        Request: prost::Message + Send + Sync + 'static,
        Answer: prost::Message + Default + Send + Sync + 'static,
    {
        fits(message.encoded_len())?;
        let mut client = tonic::client::Grpc::new(self.channel.clone()).max_decoding_message_size(ANSWER_BYTES_MAX);
        let mut request = tonic::Request::from_parts(self.headers.clone(), tonic::Extensions::default(), message);
        request.set_timeout(within);
        let codec = tonic_prost::ProstCodec::<Request, Answer>::default();
        let called = async {
            client.ready().await.map_err(|error| away(error.to_string()))?;
            let answer = client.unary(request, PathAndQuery::from_static(path), codec).await;
            answer.map(tonic::Response::into_inner).map_err(failure)
        };
        // Connecting counts too.
        let answered = tokio::time::timeout(within, called).await;
        answered.unwrap_or_else(|_| Err(away(format!("{path}: no answer within {within:?}"))))
    }
}

#[async_trait]
impl EngineClient for Grpc {
    async fn poll(&self, poll: Poll<'_>) -> Result<Vec<Job>, Error> {
        let request = PollJobsRequest {
            worker_id: poll.worker.to_owned(),
            job_types: poll.job_types.to_vec(),
            max_jobs: i32::try_from(poll.max).unwrap_or(i32::MAX),
            lease_seconds: seconds(poll.lease),
            wait_seconds: seconds(poll.wait),
        };
        let answer: PollJobsResponse = self.call("/workflow.v1.WorkflowEngine/PollJobs", request, poll.wait + POLL_EXTRA).await?;
        answer.jobs.into_iter().map(WireJob::read).collect()
    }

    async fn complete(&self, worker: &str, job: &Job, variables: &Raw) -> Result<(), Error> {
        let variables_to_set = Some(to_struct(variables)?);
        let request =
            CompleteJobRequest { job_id: job.id.clone(), worker_id: worker.to_owned(), variables_to_set, lease: job.lease };
        self.call::<_, Empty>("/workflow.v1.WorkflowEngine/CompleteJob", request, CALL_MAX).await.map(drop)
    }

    async fn fail(&self, worker: &str, job: &Job, message: &str, retryable: bool, after: Option<Duration>) -> Result<(), Error> {
        let request = FailJobRequest {
            job_id: job.id.clone(),
            worker_id: worker.to_owned(),
            retryable,
            error_message: message.to_owned(),
            lease: job.lease,
            retry_after_millis: after.map(millis),
        };
        self.call::<_, Empty>("/workflow.v1.WorkflowEngine/FailJob", request, CALL_MAX).await.map(drop)
    }

    async fn throw_error(&self, worker: &str, job: &Job, code: &str, message: &str, variables: &Raw) -> Result<(), Error> {
        let request = ThrowErrorRequest {
            job_id: job.id.clone(),
            worker_id: worker.to_owned(),
            lease: job.lease,
            error_code: code.to_owned(),
            error_message: message.to_owned(),
            variables: Some(to_struct(variables)?),
        };
        self.call::<_, Empty>("/workflow.v1.WorkflowEngine/ThrowError", request, CALL_MAX).await.map(drop)
    }

    async fn heartbeat(&self, worker: &str, lease: Duration, beats: &[Beat<'_>]) -> Result<Vec<Standing>, Error> {
        let mut standings = Vec::with_capacity(beats.len());
        for some in beats.chunks(JOBS_PER_REQUEST_MAX) {
            let jobs = some.iter().map(|beat| HeartbeatRequest::of(worker, lease, beat)).collect::<Result<_, _>>()?;
            let request = HeartbeatsRequest { jobs };
            let answer: HeartbeatsResponse = self.call("/workflow.v1.WorkflowEngine/Heartbeats", request, CALL_MAX).await?;
            for one in answer.jobs {
                standings.push(serde_json::from_value(one.status.into())?);
            }
        }
        Ok(standings)
    }

    async fn release(&self, worker: &str, job: &Job, delay: Option<Duration>) -> Result<(), Error> {
        let delay_millis = delay.map_or(0, |delay| millis(delay).max(1));
        let request = ReleaseJobRequest { job_id: job.id.clone(), worker_id: worker.to_owned(), lease: job.lease, delay_millis };
        self.call::<_, Empty>("/workflow.v1.WorkflowEngine/ReleaseJob", request, CALL_MAX).await.map(drop)
    }
}

fn endpoint(address: String) -> Result<Endpoint, Error> {
    let endpoint = Endpoint::from_shared(address).map_err(|error| Error::unusable(error.to_string()))?;
    // How long to wait before connecting again is the caller's to say.
    let endpoint = endpoint.connect_timeout(CONNECT_MAX).http2_keep_alive_interval(SILENCE_MAX);
    Ok(endpoint.keep_alive_timeout(SIGN_OF_LIFE_MAX).keep_alive_while_idle(true))
}

#[cfg(feature = "rustls")]
fn secured(endpoint: Endpoint) -> Result<Endpoint, Error> {
    let trusted = tonic::transport::ClientTlsConfig::new().with_enabled_roots();
    endpoint.tls_config(trusted).map_err(|error| Error::unusable(error.to_string()))
}

#[cfg(not(feature = "rustls"))]
fn secured(_: Endpoint) -> Result<Endpoint, Error> {
    Err(Error::unusable("grpcs:// needs the feature `rustls`".to_owned()))
}

fn seconds(duration: Duration) -> i32 {
    i32::try_from(duration.as_secs()).unwrap_or(i32::MAX)
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// The library's own limit would look like a connection that broke.
fn fits(length: usize) -> Result<(), Error> {
    if length <= REQUEST_BYTES_MAX {
        return Ok(());
    }
    let message = format!("the request has {length} bytes, and no server takes more than {REQUEST_BYTES_MAX}");
    Err(Error::Refused { status: 413, code: format!("{:?}", Code::OutOfRange), message })
}

fn failure(status: Status) -> Error {
    let http = match status.code() {
        Code::Unavailable
        | Code::ResourceExhausted
        | Code::DeadlineExceeded
        | Code::Cancelled
        | Code::Internal
        | Code::Unknown
        | Code::DataLoss => return away(status.to_string()),
        Code::Unauthenticated => 401,
        Code::PermissionDenied => 403,
        Code::NotFound => 404,
        Code::FailedPrecondition | Code::Aborted | Code::AlreadyExists => 409,
        // Too large.
        Code::OutOfRange => 413,
        Code::Unimplemented => 501,
        Code::InvalidArgument | Code::Ok => 400,
    };
    Error::Refused { status: http, code: format!("{:?}", status.code()), message: status.message().to_owned() }
}

fn to_struct(text: &RawValue) -> Result<Struct, Error> {
    check(text.get())?;
    let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text.get())?;
    Ok(struct_of(object))
}

fn struct_of(object: serde_json::Map<String, serde_json::Value>) -> Struct {
    Struct { fields: object.into_iter().map(|(name, value)| (name, to_value(value))).collect() }
}

fn to_value(value: serde_json::Value) -> Value {
    let kind = match value {
        serde_json::Value::Null => Kind::NullValue(0),
        serde_json::Value::Bool(value) => Kind::BoolValue(value),
        serde_json::Value::Number(number) => Kind::NumberValue(number.as_f64().unwrap_or(f64::NAN)),
        serde_json::Value::String(text) => Kind::StringValue(text),
        serde_json::Value::Array(items) => Kind::ListValue(ListValue { values: items.into_iter().map(to_value).collect() }),
        serde_json::Value::Object(object) => Kind::StructValue(struct_of(object)),
    };
    Value { kind: Some(kind) }
}

/// Refuses integers that would arrive as others, in a text that is JSON.
fn check(text: &str) -> Result<(), Error> {
    let mut rest = text;
    while let Some(at) = rest.find(|one: char| one == '"' || one == '-' || one.is_ascii_digit()) {
        let (token, after) = rest[at..].split_at(token_length(&rest[at..]));
        let is_integer = token.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
        // The digits of a double, all of them.
        if is_integer && token.parse::<f64>().is_ok_and(|double| format!("{double:.0}") != token) {
            let message = format!("{token} is no double, as numbers are over gRPC: use REST, or write it as text");
            return Err(Error::Refused { status: 400, code: "InvalidArgument".to_owned(), message });
        }
        rest = after;
    }
    Ok(())
}

/// Of the string or the number that a text begins with.
fn token_length(text: &str) -> usize {
    if !text.starts_with('"') {
        return text.find(|one: char| !one.is_ascii_digit() && !"+-.eE".contains(one)).unwrap_or(text.len());
    }
    let mut is_escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |end| end + 2)
}

fn from_struct(given: Struct) -> serde_json::Value {
    given.fields.into_iter().map(|(name, value)| (name, from_value(value))).collect()
}

fn from_value(value: Value) -> serde_json::Value {
    match value.kind {
        None | Some(Kind::NullValue(_)) => serde_json::Value::Null,
        Some(Kind::BoolValue(value)) => value.into(),
        Some(Kind::NumberValue(number)) => from_number(number),
        Some(Kind::StringValue(text)) => text.into(),
        Some(Kind::ListValue(list)) => list.values.into_iter().map(from_value).collect(),
        Some(Kind::StructValue(inner)) => from_struct(inner),
    }
}

/// As REST has it: what was written without a point comes without one. From 2^53 on it may have been another integer, and fits none.
fn from_number(number: f64) -> serde_json::Value {
    const INTEGER_MAX: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() < INTEGER_MAX {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole, and small enough")]
        return (number as i64).into();
    }
    number.into()
}

#[derive(Clone, PartialEq, prost::Message)]
struct WireJob {
    #[prost(string, tag = "1")]
    id: String,
    #[prost(string, tag = "2")]
    job_type: String,
    #[prost(string, tag = "3")]
    instance_id: String,
    #[prost(string, tag = "4")]
    step_id: String,
    #[prost(string, tag = "5")]
    step_execution_id: String,
    #[prost(int32, tag = "6")]
    retries_remaining: i32,
    #[prost(message, optional, tag = "7")]
    variables: Option<Struct>,
    #[prost(message, optional, tag = "8")]
    lock_expires_at: Option<Timestamp>,
    #[prost(uint32, tag = "20")]
    lease: u32,
    #[prost(message, optional, tag = "21")]
    progress: Option<Struct>,
    #[prost(btree_map = "string, string", tag = "22")]
    trace_context: BTreeMap<String, String>,
}

impl WireJob {
    fn read(self) -> Result<Job, Error> {
        let progress = self.progress.map(|said| serde_json::from_str::<Progress>(&from_struct(said).to_string())).transpose()?;
        Ok(Job {
            id: self.id,
            job_type: self.job_type,
            instance_id: self.instance_id,
            step_id: self.step_id,
            step_execution_id: self.step_execution_id,
            retries_remaining: self.retries_remaining,
            variables: serde_json::value::to_raw_value(&from_struct(self.variables.unwrap_or_default()))?,
            lease: self.lease,
            progress,
            trace_context: self.trace_context,
        })
    }
}

#[derive(Clone, PartialEq, prost::Message)]
struct PollJobsRequest {
    #[prost(string, tag = "1")]
    worker_id: String,
    #[prost(string, repeated, tag = "2")]
    job_types: Vec<String>,
    #[prost(int32, tag = "3")]
    max_jobs: i32,
    #[prost(int32, tag = "4")]
    lease_seconds: i32,
    #[prost(int32, tag = "5")]
    wait_seconds: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
struct PollJobsResponse {
    #[prost(message, repeated, tag = "1")]
    jobs: Vec<WireJob>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct CompleteJobRequest {
    #[prost(string, tag = "1")]
    job_id: String,
    #[prost(string, tag = "2")]
    worker_id: String,
    #[prost(message, optional, tag = "3")]
    variables_to_set: Option<Struct>,
    #[prost(uint32, tag = "20")]
    lease: u32,
}

#[derive(Clone, PartialEq, prost::Message)]
struct FailJobRequest {
    #[prost(string, tag = "1")]
    job_id: String,
    #[prost(string, tag = "2")]
    worker_id: String,
    #[prost(bool, tag = "3")]
    retryable: bool,
    #[prost(string, tag = "4")]
    error_message: String,
    #[prost(uint32, tag = "20")]
    lease: u32,
    #[prost(int64, optional, tag = "21")]
    retry_after_millis: Option<i64>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct HeartbeatRequest {
    #[prost(string, tag = "1")]
    job_id: String,
    #[prost(string, tag = "2")]
    worker_id: String,
    #[prost(uint32, tag = "3")]
    lease: u32,
    #[prost(int32, tag = "4")]
    lease_seconds: i32,
    #[prost(int32, optional, tag = "5")]
    percent: Option<i32>,
    #[prost(string, optional, tag = "6")]
    message: Option<String>,
    #[prost(message, optional, tag = "7")]
    data: Option<Struct>,
}

impl HeartbeatRequest {
    fn of(worker: &str, lease: Duration, beat: &Beat<'_>) -> Result<HeartbeatRequest, Error> {
        let said = beat.progress;
        Ok(HeartbeatRequest {
            job_id: beat.job.id.clone(),
            worker_id: worker.to_owned(),
            lease: beat.job.lease,
            lease_seconds: seconds(lease),
            percent: said.and_then(|said| said.percent),
            message: said.and_then(|said| said.message.clone()),
            data: said.and_then(|said| said.data.as_deref()).map(to_struct).transpose()?,
        })
    }
}

#[derive(Clone, PartialEq, prost::Message)]
struct HeartbeatResponse {
    #[prost(string, tag = "1")]
    status: String,
}

#[derive(Clone, PartialEq, prost::Message)]
struct HeartbeatsRequest {
    #[prost(message, repeated, tag = "1")]
    jobs: Vec<HeartbeatRequest>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct HeartbeatsResponse {
    #[prost(message, repeated, tag = "1")]
    jobs: Vec<HeartbeatResponse>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ReleaseJobRequest {
    #[prost(string, tag = "1")]
    job_id: String,
    #[prost(string, tag = "2")]
    worker_id: String,
    #[prost(uint32, tag = "3")]
    lease: u32,
    #[prost(int64, tag = "4")]
    delay_millis: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ThrowErrorRequest {
    #[prost(string, tag = "1")]
    job_id: String,
    #[prost(string, tag = "2")]
    worker_id: String,
    #[prost(uint32, tag = "3")]
    lease: u32,
    #[prost(string, tag = "4")]
    error_code: String,
    #[prost(string, tag = "5")]
    error_message: String,
    #[prost(message, optional, tag = "6")]
    variables: Option<Struct>,
}

/// Whatever is in an answer that says nothing.
#[derive(Clone, PartialEq, prost::Message)]
struct Empty {}

#[cfg(test)]
mod tests;
