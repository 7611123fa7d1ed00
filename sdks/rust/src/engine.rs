use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Deserializer, Serialize};

use crate::{Error, Raw};

/// How far a handler has come. `data` is for whoever goes on from there.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Progress {
    /// 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<i32>,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// An object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Raw>,
}

/// Work that is leased to this worker.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Its id.
    pub id: String,
    /// Which handler does it.
    pub job_type: String,
    /// The instance it belongs to.
    pub instance_id: String,
    /// The step of that instance.
    pub step_id: String,
    /// The attempt at that step.
    pub step_execution_id: String,
    /// How often it may be tried again after this.
    pub retries_remaining: i32,
    /// An object.
    pub variables: Raw,
    /// The number of the lease. What is said for an older one is refused.
    #[serde(default)]
    pub lease: u32,
    /// What an earlier attempt said last.
    #[serde(default)]
    pub progress: Option<Progress>,
    /// `traceparent` and `tracestate` of whoever started it.
    #[serde(default, deserialize_with = "or_none")]
    pub trace_context: BTreeMap<String, String>,
}

/// A job that was not traced has null there.
fn or_none<'de, D: Deserializer<'de>>(given: D) -> Result<BTreeMap<String, String>, D::Error> {
    Ok(Option::deserialize(given)?.unwrap_or_default())
}

/// What became of a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Standing {
    /// It is still ours.
    Held,
    /// It was lost; somebody else may have the job.
    Lost,
    /// The job was cancelled.
    Cancelled,
    /// The job is done.
    Completed,
    /// There is no such job.
    Unknown,
}

/// A sign of life for one job.
#[derive(Debug, Clone, Copy)]
pub struct Beat<'a> {
    /// The job.
    pub job: &'a Job,
    /// How far it has come, if that is to be said.
    pub progress: Option<&'a Progress>,
}

/// A question for jobs.
#[derive(Debug, Clone, Copy)]
pub struct Poll<'a> {
    /// Who asks.
    pub worker: &'a str,
    /// For which jobs, those of the first type first.
    pub job_types: &'a [String],
    /// How many at most.
    pub max: usize,
    /// For how long.
    pub lease: Duration,
    /// How long to wait for the first.
    pub wait: Duration,
}

/// What a runner asks of a server; transports stand behind it.
///
/// Every method gives [`Error::Unavailable`] when the same call may work later. All but `poll` may be repeated.
#[async_trait]
pub trait EngineClient: Send + Sync {
    /// Leases jobs. A poll that is dropped gives back what it would have got.
    async fn poll(&self, poll: Poll<'_>) -> Result<Vec<Job>, Error>;
    /// The job is done.
    async fn complete(&self, worker: &str, job: &Job, variables: &Raw) -> Result<(), Error>;
    /// The job could not be done.
    async fn fail(&self, worker: &str, job: &Job, message: &str, retryable: bool, after: Option<Duration>) -> Result<(), Error>;
    /// An error in the job's BPMN process.
    async fn throw_error(&self, worker: &str, job: &Job, code: &str, message: &str, variables: &Raw) -> Result<(), Error>;
    /// Extends leases from now; what became of each, in the same order.
    async fn heartbeat(&self, worker: &str, lease: Duration, beats: &[Beat<'_>]) -> Result<Vec<Standing>, Error>;
    /// Gives a job back, or puts it off. No retry is used up.
    async fn release(&self, worker: &str, job: &Job, delay: Option<Duration>) -> Result<(), Error>;
}
