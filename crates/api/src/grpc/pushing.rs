//! StreamActivatedJobs: jobs as they become ready, until the worker or the server ends it.

use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::stream::{self, BoxStream};
use futures_util::{Stream, StreamExt};
use host::{JobStream, Subscription};
use store::log::ActivatedJob;
use tokio::sync::watch;
use tonic::{Response, Status};

use super::call::Call;
use super::delivery::InFlight;
use super::gateway::Gateway;
use super::{refusal, wire, worker};
use crate::drain;

/// Jobs taken in a row before the connection must come back for more.
const IN_FLIGHT_MAX: usize = 32;

pub(super) fn open(call: Call<'_>, request: wire::StreamActivatedJobsRequest) -> Result<Response<Pushed>, Status> {
    worker::check(&request.r#type, request.timeout).map_err(Status::invalid_argument)?;
    let subscription = Subscription {
        tenants: call.tenants("StreamActivatedJobs", &request.tenant_ids)?,
        job_type: request.r#type.into(),
        worker: request.worker.into(),
        timeout: request.timeout,
        fetch: worker::names(request.fetch_variable),
    };
    let jobs = call.host().stream(subscription).map_err(|error| refusal::failed("ACTIVATE", error))?;
    Ok(Response::new(Pushed::of(call.gateway, vec![jobs])))
}

/// The jobs; then, when the server drains or can push no more, an error that sends the worker elsewhere.
fn until_drained(jobs: JobStream, draining: watch::Receiver<bool>) -> BoxStream<'static, Result<ActivatedJob, Status>> {
    let jobs = stream::unfold(jobs, |mut jobs| async {
        let job = jobs.next().await?;
        Some((Ok(job), jobs))
    });
    let end = stream::once(async { Err(drain::ended()) });
    jobs.take_until(Box::pin(drain::drained(draining))).chain(end).boxed()
}

/// The answer, job by job.
pub(super) struct Pushed<T = wire::ActivatedJob> {
    jobs: BoxStream<'static, Result<ActivatedJob, Status>>,
    in_flight: InFlight,
    /// Whether the stream has stopped after the jobs in flight, to see whether it is asked for more.
    stopped: bool,
    /// What a job is called on the wire.
    wire: PhantomData<fn() -> T>,
}

impl<T: From<ActivatedJob>> Stream for Pushed<T> {
    type Item = Result<T, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.stopped {
            let arrived = self.in_flight.len();
            self.in_flight.arrived(arrived);
            self.stopped = false;
        }
        if self.in_flight.len() < IN_FLIGHT_MAX
            && let Poll::Ready(next) = self.jobs.as_mut().poll_next(cx)
        {
            return Poll::Ready(next.map(|job| self.on_its_way(job?)));
        }
        if 0 < self.in_flight.len() {
            self.stopped = true;
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

impl<T: From<ActivatedJob>> Pushed<T> {
    /// Jobs of several types, each as it comes.
    pub(super) fn of(gateway: &Gateway, streams: Vec<JobStream>) -> Self {
        let streams = streams.into_iter().map(|jobs| until_drained(jobs, gateway.draining.clone()));
        Self { jobs: stream::select_all(streams).boxed(), in_flight: InFlight::new(gateway), stopped: false, wire: PhantomData }
    }

    fn on_its_way(&mut self, job: ActivatedJob) -> Result<T, Status> {
        self.in_flight.add(&job)?;
        Ok(job.into())
    }
}
