//! ActivateJobs: lease ready jobs, or wait for the first; answered in as many messages as their size asks for.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::Stream;
use host::ActivatedJobs;
use prost::Message;
use tonic::{Response, Status};

use super::call::Call;
use super::delivery::InFlight;
use super::gateway::Gateway;
use super::{refusal, wire, worker};
use crate::drain;
use crate::error::Failure;

/// Jobs one poll may get, whatever it asks for.
const JOBS_PER_POLL_MAX: u32 = 10_000;

/// A poll that asks for longer gets an empty answer after this and asks again.
const POLL_WAIT_MAX: Duration = Duration::from_secs(60 * 60);

/// What a job adds to a message besides its own bytes: a tag and its length.
const JOB_FRAME_BYTES: usize = 6;

pub(super) async fn activate(call: Call<'_>, request: wire::ActivateJobsRequest) -> Result<Response<Batches>, Status> {
    let Some(poll) = poll(&call, request)? else {
        return Ok(Response::new(Batches::none(call.gateway)));
    };
    let activated = tokio::select! {
        biased;
        activated = call.host().activate(poll) => activated,
        () = drain::drained(call.gateway.draining.clone()) => return Err(drain::ended()),
    };
    let activated = activated.map_err(|error| refusal::failed("ACTIVATE", error))?;
    Ok(Response::new(Batches::new(call.gateway, activated)?))
}

/// What the host is asked; nothing, when no job is wanted: then whatever else the request says is not looked at.
fn poll(call: &Call<'_>, request: wire::ActivateJobsRequest) -> Result<Option<host::Poll>, Status> {
    let tenants = call.tenants("ActivateJobs", &request.tenant_ids)?;
    let max = u32::try_from(request.max_jobs_to_activate).unwrap_or(0);
    if max == 0 {
        return Ok(None);
    }
    worker::check(&request.r#type, request.timeout).map_err(|reason| refusal::refused("ACTIVATE", reason))?;
    Ok(Some(host::Poll {
        job_type: request.r#type.into(),
        worker: request.worker.into(),
        timeout: request.timeout,
        max: max.min(JOBS_PER_POLL_MAX),
        tenants,
        fetch: worker::names(request.fetch_variable),
        wait: wait(request.request_timeout, call.gateway.config.poll_wait),
    }))
}

/// 0 for the default, negative not to wait.
fn wait(request_timeout: i64, default: Duration) -> Option<Duration> {
    match request_timeout {
        ..0 => None,
        0 => Some(default),
        1.. => Some(Duration::from_millis(request_timeout.unsigned_abs()).min(POLL_WAIT_MAX)),
    }
}

/// The answer, message by message.
pub(super) struct Batches {
    messages: std::vec::IntoIter<wire::ActivateJobsResponse>,
    in_flight: InFlight,
    /// Jobs in the message that was taken last.
    taken: usize,
    /// Whether the stream has stopped once after that message, to see whether it is asked for more.
    stopped: bool,
}

impl Batches {
    fn none(gateway: &Gateway) -> Self {
        Self { messages: Vec::new().into_iter(), in_flight: InFlight::new(gateway), taken: 0, stopped: false }
    }

    fn new(gateway: &Gateway, activated: ActivatedJobs) -> Result<Self, Failure> {
        let mut batches = Self::none(gateway);
        let jobs = activated.take();
        // All of them are given back if there is no room for one.
        if let Some(refused) = jobs.iter().filter_map(|job| batches.in_flight.add(job).err()).last() {
            return Err(refused);
        }
        let jobs = jobs.into_iter().map(wire::ActivatedJob::from);
        batches.messages = split(jobs, gateway.config.message_bytes_max).into_iter();
        Ok(batches)
    }
}

/// As few messages as fit under the limit. A job that is too large by itself is alone in its message.
fn split(jobs: impl Iterator<Item = wire::ActivatedJob>, bytes_max: usize) -> Vec<wire::ActivateJobsResponse> {
    let mut messages: Vec<wire::ActivateJobsResponse> = Vec::new();
    let mut bytes = 0;
    for job in jobs {
        let size = job.encoded_len() + JOB_FRAME_BYTES;
        match messages.last_mut() {
            Some(message) if bytes + size <= bytes_max => {
                bytes += size;
                message.jobs.push(job);
            }
            Some(_) | None => {
                bytes = size;
                messages.push(wire::ActivateJobsResponse { jobs: vec![job] });
            }
        }
    }
    messages
}

impl Stream for Batches {
    type Item = Result<wire::ActivateJobsResponse, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if 0 < self.taken && !self.stopped {
            self.stopped = true;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let arrived = std::mem::take(&mut self.taken);
        self.in_flight.arrived(arrived);
        self.stopped = false;
        let message = self.messages.next();
        self.taken = message.as_ref().map_or(0, |message| message.jobs.len());
        Poll::Ready(message.map(Ok))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULT: Duration = Duration::from_secs(10);

    #[test]
    fn a_poll_waits_as_long_as_it_says() {
        assert_eq!(wait(-1, DEFAULT), None);
        assert_eq!(wait(0, DEFAULT), Some(DEFAULT));
        assert_eq!(wait(300, DEFAULT), Some(Duration::from_millis(300)));
        assert_eq!(wait(i64::MAX, DEFAULT), Some(POLL_WAIT_MAX));
    }

    #[test]
    fn messages_stay_under_the_limit() {
        let sizes = [400, 400, 400, 5_000, 10, 900];
        let job = |size: &usize| wire::ActivatedJob { variables: "x".repeat(*size), ..Default::default() };
        let messages = split(sizes.iter().map(job), 1_000);
        let counts: Vec<usize> = messages.iter().map(|message| message.jobs.len()).collect();
        assert_eq!(counts, [2, 1, 1, 2]);
        let too_large = messages.iter().filter(|message| 1_000 < message.encoded_len());
        assert_eq!(too_large.count(), 1, "only the job that is too large by itself");
        assert_eq!(split(std::iter::empty(), 1_000), []);
    }
}
