//! What an edge (REST, gRPC, the command line's own server) may ask of the host.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use engine::{Document, PartitionId};
use store::log::{ActivatedJob, Answer, Created, Rejection, Released, Request};
use store::{PartitionStatus, Store, format};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use crate::dispatch::{Sink, Waiter, Wish};
use crate::drive::PARTITION;
use crate::follow::Follower;
use crate::handed::{ActivatedJobs, Asked, JobStream};
use crate::metrics::Metrics;
use crate::partition::{End, Input, Parts, Reply, released};
use crate::{Limits, await_end, await_jobs};

/// Why an edge did not get what it asked for. One place maps this to HTTP and gRPC.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The command was understood and refused.
    #[error("{}", .0.reason)]
    Rejected(Rejection),
    /// A bound was reached; try again later. Names the bound.
    #[error("{what} is full: try again later")]
    Exhausted { what: &'static str },
    /// The store or the partition's owner cannot be reached; try again.
    #[error("not available: {reason}")]
    Unavailable { reason: String },
    /// No answer in time; the command may still be processed.
    #[error("no answer in time")]
    Timeout,
    /// A fault of ours.
    #[error("internal error: {reason}")]
    Internal { reason: String },
}

/// A worker asks for jobs.
#[derive(Debug, Clone)]
pub struct Poll {
    pub job_type: Arc<str>,
    pub worker: Arc<str>,
    /// How long the worker may keep a job, in milliseconds.
    pub timeout: i64,
    pub max: u32,
    pub tenants: Vec<Arc<str>>,
    /// Names of the variables wanted; empty for all.
    pub fetch: Vec<Arc<str>>,
    /// How long to wait for a job if there is none; `None` not to wait.
    pub wait: Option<Duration>,
}

/// A worker wants jobs pushed as they come.
#[derive(Debug, Clone)]
pub struct Subscription {
    pub job_type: Arc<str>,
    pub worker: Arc<str>,
    pub timeout: i64,
    pub tenants: Vec<Arc<str>>,
    pub fetch: Vec<Arc<str>>,
}

/// The instance a caller waited for has ended.
#[derive(Debug, Clone)]
pub struct Awaited {
    pub created: Created,
    pub completed: bool,
    /// Variables of the process when it ended, those asked for.
    pub variables: Document,
}

/// What became of a command in the log.
#[derive(Debug, Clone)]
pub struct CommandOutcome {
    pub position: u64,
    pub kind: String,
    pub at: store::Millis,
    pub processed: bool,
    /// What its caller was or would have been told, where it was kept.
    pub answer: Option<Answer>,
}

#[derive(Debug, Clone)]
pub struct Topology {
    /// This server's name.
    pub node: Arc<str>,
    pub partitions: Vec<PartitionStatus>,
}

/// What edges hold. Cheap to clone.
#[derive(Clone)]
pub struct Host {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) limits: Arc<Limits>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) node: Arc<str>,
    pub(crate) follower: Follower,
    route: RwLock<Route>,
    polls: Arc<Semaphore>,
    streams: Arc<Semaphore>,
    awaiting: Arc<Semaphore>,
}

/// Where commands go.
#[derive(Clone)]
pub(crate) enum Route {
    /// This server owns the partition.
    Own(mpsc::Sender<Input>),
    /// Another server does, or none: commands go into the log.
    Follow,
    /// This server owns the partition but its store is away: what callers are told.
    Away(Error),
}

impl Host {
    pub(crate) fn new(parts: &Parts, node: Arc<str>, partition: PartitionId) -> Self {
        let limits = &parts.limits;
        let inner = Inner {
            follower: Follower::new(parts.store.clone(), partition, limits.poll_every),
            route: RwLock::new(Route::Follow),
            polls: Arc::new(Semaphore::new(limits.polls_parked_max)),
            streams: Arc::new(Semaphore::new(limits.streams_max)),
            awaiting: Arc::new(Semaphore::new(limits.awaiting_max)),
            store: parts.store.clone(),
            limits: limits.clone(),
            metrics: parts.metrics.clone(),
            node,
        };
        Self { inner: Arc::new(inner) }
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.inner
    }

    /// For reads: searches, definitions, resources.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.inner.store
    }

    pub fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.inner.metrics
    }

    /// Whether commands are processed by this server.
    pub fn owns(&self) -> bool {
        matches!(self.route(), Route::Own(_))
    }

    /// Does the command and gives its answer, which is never a rejection: that is an error.
    pub async fn submit(&self, request: Request) -> Result<Answer, Error> {
        let timeout = self.inner.limits.answer_timeout;
        let answer = match self.route() {
            Route::Follow => self.inner.follower.submit(&request, timeout).await?,
            Route::Away(error) => return Err(error),
            Route::Own(inbox) => {
                let (sender, receiver) = oneshot::channel();
                self.put(&inbox, Input::Request { request, reply: Reply::Answer(sender) })?;
                answered(receiver, timeout).await?
            }
        };
        accept(answer)
    }

    /// Makes the command durable and gives its position; what becomes of it is told by [`Host::command`].
    pub async fn submit_durably(&self, request: Request) -> Result<u64, Error> {
        let position = self.inner.follower.append(&request).await?;
        self.inner.metrics.count(request.command.kind(), "appended");
        self.tell(Input::Appended);
        Ok(position)
    }

    /// Creates an instance and waits for its end. A time-out leaves the instance running.
    pub async fn create_and_await(&self, request: Request, fetch: Vec<Arc<str>>, timeout: Duration) -> Result<Awaited, Error> {
        let _permit = self.permit(&self.inner.awaiting, "the number of callers waiting for results")?;
        let inbox = match self.route() {
            Route::Own(inbox) => inbox,
            Route::Away(error) => return Err(error),
            Route::Follow => {
                let answer = accept(self.inner.follower.submit(&request, timeout).await?)?;
                return await_end::from_store(self, created(answer)?, &fetch, timeout).await;
            }
        };
        let (sender, receiver) = oneshot::channel();
        let reply = Reply::End { fetch: fetch.clone(), sender };
        self.put(&inbox, Input::Request { request, reply })?;
        match answered(receiver, timeout).await? {
            End::Ended { created, completed, variables } => Ok(Awaited { created, completed, variables }),
            End::Before { created } => await_end::from_store(self, created, &fetch, timeout).await,
            End::NotCreated(answer) => Err(match accept(answer) {
                Err(error) => error,
                Ok(_) => Error::Internal { reason: "only creating an instance can be awaited".to_owned() },
            }),
        }
    }

    /// Leases jobs to a worker, waiting for one if it wants to.
    pub async fn activate(&self, poll: Poll) -> Result<ActivatedJobs, Error> {
        let _permit = self.permit(&self.inner.polls, "the number of waiting polls")?;
        let jobs = match self.route() {
            Route::Own(inbox) => self.poll_here(&inbox, &poll).await?,
            Route::Away(error) => return Err(error),
            Route::Follow => await_jobs::from_log(self, &poll).await?,
        };
        Ok(ActivatedJobs { jobs, host: self.clone() })
    }

    async fn poll_here(&self, inbox: &mpsc::Sender<Input>, poll: &Poll) -> Result<Vec<ActivatedJob>, Error> {
        let (answer, receiver) = oneshot::channel();
        let mut asked = Asked { receiver, host: self };
        let wish = Wish {
            job_type: poll.job_type.clone(),
            tenants: poll.tenants.clone(),
            worker: poll.worker.clone(),
            timeout: poll.timeout,
            fetch: poll.fetch.clone(),
        };
        let sink = Sink::Poll { max: poll.max as usize, patient: poll.wait.is_some(), answer };
        self.put(inbox, Input::Wait(Waiter { wish, sink }))?;
        let patience = poll.wait.unwrap_or(self.inner.limits.answer_timeout);
        match tokio::time::timeout(patience, &mut asked.receiver).await {
            Ok(Ok(jobs)) => Ok(jobs),
            Ok(Err(_)) => Err(moved()),
            Err(_) => {
                // Jobs may have been sent in the very moment the patience ended.
                asked.receiver.close();
                Ok(asked.receiver.try_recv().unwrap_or_default())
            }
        }
    }

    /// Jobs pushed to a worker as they come.
    pub fn stream(&self, subscription: Subscription) -> Result<JobStream, Error> {
        let permit = self.permit(&self.inner.streams, "the number of job streams")?;
        let (sender, jobs) = mpsc::channel(self.inner.limits.stream_buffer_max);
        let starved = Arc::new(AtomicBool::new(false));
        let Subscription { job_type, worker, timeout, tenants, fetch } = subscription;
        match self.route() {
            Route::Own(inbox) => {
                let wish = Wish { job_type: job_type.clone(), tenants: tenants.clone(), worker, timeout, fetch };
                let sink = Sink::Stream { jobs: sender, starved: starved.clone() };
                self.put(&inbox, Input::Wait(Waiter { wish, sink }))?;
            }
            Route::Away(error) => return Err(error),
            Route::Follow => {
                let poll =
                    Poll { job_type: job_type.clone(), worker, timeout, max: 1, tenants: tenants.clone(), fetch, wait: None };
                tokio::spawn(await_jobs::push(self.clone(), poll, sender));
            }
        }
        Ok(JobStream { jobs, starved, job_type, tenants, host: self.clone(), _permit: permit })
    }

    /// What became of a command in the log.
    pub async fn command(&self, position: u64) -> Result<Option<CommandOutcome>, Error> {
        let statuses = self.inner.store.statuses(PARTITION, &[position]).await?;
        let Some(status) = statuses.into_iter().next() else { return Ok(None) };
        let answer = status.answer.as_deref().map(format::decode_answer).transpose()?;
        Ok(Some(CommandOutcome { position, kind: status.kind, at: status.at, processed: status.processed, answer }))
    }

    pub async fn topology(&self) -> Result<Topology, Error> {
        let partitions = self.inner.store.partitions().await?;
        Ok(Topology { node: self.inner.node.clone(), partitions })
    }

    pub(crate) fn route(&self) -> Route {
        self.inner.route.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_route(&self, route: Route) {
        *self.inner.route.write().unwrap_or_else(PoisonError::into_inner) = route;
    }

    /// Leases of jobs nobody took go back in the background.
    pub(crate) fn give_back(&self, jobs: &[ActivatedJob]) {
        self.release(released(jobs));
    }

    /// Gives leases back, each if it is still the one that ends at its deadline.
    pub fn release(&self, jobs: Vec<Released>) {
        if !jobs.is_empty() {
            self.tell(Input::Release { jobs });
        }
    }

    /// Tells the owner something that needs no answer, in the background if its inbox is full.
    pub(crate) fn tell(&self, input: Input) {
        let input = match self.route() {
            Route::Own(inbox) => match inbox.try_send(input) {
                Ok(()) => return,
                Err(mpsc::error::TrySendError::Full(input) | mpsc::error::TrySendError::Closed(input)) => input,
            },
            Route::Follow | Route::Away(_) => input,
        };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let host = self.clone();
        runtime.spawn(async move {
            match (host.route(), input) {
                (Route::Own(inbox), input) => {
                    let _stopping_is_fine = inbox.send(input).await;
                }
                (Route::Follow | Route::Away(_), Input::Release { jobs }) => {
                    host.inner.follower.release(jobs).await;
                }
                (Route::Follow | Route::Away(_), _) => {}
            }
        });
    }

    fn put(&self, inbox: &mpsc::Sender<Input>, input: Input) -> Result<(), Error> {
        inbox.try_send(input).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => Error::Exhausted { what: "the inbox" },
            mpsc::error::TrySendError::Closed(_) => moved(),
        })
    }

    fn permit(&self, of: &Arc<Semaphore>, what: &'static str) -> Result<OwnedSemaphorePermit, Error> {
        of.clone().try_acquire_owned().map_err(|_| Error::Exhausted { what })
    }
}

async fn answered<T>(receiver: oneshot::Receiver<T>, timeout: Duration) -> Result<T, Error> {
    match tokio::time::timeout(timeout, receiver).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(_)) => Err(moved()),
        Err(_) => Err(Error::Timeout),
    }
}

fn accept(answer: Answer) -> Result<Answer, Error> {
    match answer {
        Answer::Rejected(rejection) => Err(Error::Rejected(rejection)),
        answer => Ok(answer),
    }
}

fn created(answer: Answer) -> Result<Created, Error> {
    match answer {
        Answer::Created(created) => Ok(created),
        _ => Err(Error::Internal { reason: "only creating an instance can be awaited".to_owned() }),
    }
}

/// What callers are told while the store is away. Where it is and why it cannot be reached is for the operator's eyes.
pub(crate) fn away(error: store::Error) -> Error {
    match error {
        store::Error::Full { .. } | store::Error::ReadOnly { .. } => error.into(),
        _ => Error::Unavailable { reason: "the store is away; the server is trying to reach it".to_owned() },
    }
}

fn moved() -> Error {
    Error::Unavailable {
        reason: "the store went away or the partition changes its owner; the command may still be processed".to_owned(),
    }
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::Unavailable { reason } => Self::Unavailable { reason },
            store::Error::Full { .. } => Self::Exhausted { what: "the disk of the store" },
            store::Error::ReadOnly { .. } => Self::Unavailable { reason: "the store is read-only".to_owned() },
            other => Self::Internal { reason: other.to_string() },
        }
    }
}
