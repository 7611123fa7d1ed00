use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::http::{Http, Options, read, send};
use crate::{Beat, EngineClient, Error, Job, Poll, Progress, Raw, Standing};

const JOBS_PER_REQUEST_MAX: usize = 1_000;
/// What a poll may take beyond its wait.
const POLL_EXTRA: Duration = Duration::from_secs(15);

/// The transport over `/v1`. The usual one is that of the server at `http://127.0.0.1:8080`.
#[derive(Debug, Clone, Default)]
pub struct Rest {
    http: Http,
}

impl Rest {
    /// By an address; an empty one is `http://127.0.0.1:8080`.
    pub fn new(address: &str) -> Result<Rest, Error> {
        Rest::with(address, Options::default())
    }

    /// With a token, or an HTTP client of your own.
    pub fn with(address: &str, options: Options) -> Result<Rest, Error> {
        Ok(Rest { http: Http::new(address, options)? })
    }

    async fn say(&self, job: &Job, what: &str, body: &impl Serialize) -> Result<(), Error> {
        send(self.http.post(&format!("/v1/jobs/{}/{what}", job.id), body)).await.map(drop)
    }
}

/// Who has a job, by which lease, and what is said of it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Said<'a, T> {
    worker_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    lease: Option<u32>,
    #[serde(flatten)]
    rest: T,
}

fn said<'a, T>(worker_id: &'a str, job: &Job, rest: T) -> Said<'a, T> {
    Said { worker_id, lease: lease(job), rest }
}

fn lease(job: &Job) -> Option<u32> {
    Some(job.lease).filter(|lease| *lease != 0)
}

// Not by way of `json!`: it would read numbers, and lose digits.
#[derive(Serialize)]
struct Completion<'a> {
    variables: &'a Raw,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Thrown<'a> {
    error_code: &'a str,
    error_message: &'a str,
    variables: &'a Raw,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BeatOfOne<'a> {
    job_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    lease: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<&'a Progress>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Beats<'a> {
    worker_id: &'a str,
    lease_seconds: u64,
    jobs: Vec<BeatOfOne<'a>>,
}

#[async_trait]
impl EngineClient for Rest {
    async fn poll(&self, poll: Poll<'_>) -> Result<Vec<Job>, Error> {
        #[derive(Deserialize)]
        struct Polled {
            jobs: Vec<Job>,
        }
        let body = json!({
            "workerId": poll.worker, "jobTypes": poll.job_types, "maxJobs": poll.max,
            "leaseSeconds": poll.lease.as_secs(), "waitSeconds": poll.wait.as_secs(),
        });
        let request = self.http.post("/v1/jobs/poll", &body).timeout(poll.wait + POLL_EXTRA);
        Ok(read::<Polled>(request).await?.jobs)
    }

    async fn complete(&self, worker: &str, job: &Job, variables: &Raw) -> Result<(), Error> {
        self.say(job, "complete", &said(worker, job, Completion { variables })).await
    }

    async fn fail(&self, worker: &str, job: &Job, message: &str, retryable: bool, after: Option<Duration>) -> Result<(), Error> {
        let mut rest = json!({ "retryable": retryable, "errorMessage": message });
        if let Some(after) = after {
            rest["retryAfter"] = duration(after).into();
        }
        self.say(job, "fail", &said(worker, job, rest)).await
    }

    async fn throw_error(&self, worker: &str, job: &Job, code: &str, message: &str, variables: &Raw) -> Result<(), Error> {
        let thrown = Thrown { error_code: code, error_message: message, variables };
        self.say(job, "error", &said(worker, job, thrown)).await
    }

    async fn heartbeat(&self, worker: &str, lease_for: Duration, beats: &[Beat<'_>]) -> Result<Vec<Standing>, Error> {
        #[derive(Deserialize)]
        struct One {
            status: Standing,
        }
        #[derive(Deserialize)]
        struct Standings {
            jobs: Vec<One>,
        }
        let mut standings = Vec::with_capacity(beats.len());
        for some in beats.chunks(JOBS_PER_REQUEST_MAX) {
            let jobs = some
                .iter()
                .map(|Beat { job, progress }| BeatOfOne { job_id: &job.id, lease: lease(job), progress: *progress })
                .collect();
            let body = Beats { worker_id: worker, lease_seconds: lease_for.as_secs(), jobs };
            let answer: Standings = read(self.http.post("/v1/jobs/heartbeat", &body)).await?;
            standings.extend(answer.jobs.iter().map(|one| one.status));
        }
        Ok(standings)
    }

    async fn release(&self, worker: &str, job: &Job, delay: Option<Duration>) -> Result<(), Error> {
        match delay {
            None => self.say(job, "release", &said(worker, job, json!({}))).await,
            Some(delay) => self.say(job, "snooze", &said(worker, job, json!({ "duration": duration(delay) }))).await,
        }
    }
}

pub(crate) fn duration(duration: Duration) -> String {
    format!("PT{:.3}S", duration.as_secs_f64())
}
