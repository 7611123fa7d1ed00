//! What an edge (REST, gRPC, the command line's own server) may ask of the host.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use engine::{Document, PartitionId};
use store::log::{ActivatedJob, Answer, Code, Command, Created, Rejection, Released, Request};
use store::{Fence, PartitionStatus, Store, format};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};

use crate::announce::Announcing;
use crate::await_end::Going;
use crate::await_jobs::StreamEnd;
use crate::clock::{ClockMove, Moving};
use crate::drive::PARTITION;
use crate::export::Following;
use crate::follow::Follower;
use crate::handed::{ActivatedJobs, Asked, JobStream};
use crate::metrics::Metrics;
use crate::partition::{Begun, End, Input, Parts, Reply, Told};
use crate::purge::Purging;
use crate::sinks::{Sink, StreamFlow, Waiter, released};
use crate::under_way::UnderWay;
use crate::{Limits, await_end, await_jobs, await_listeners, traced};

/// Between a server's name and what makes it unique.
const UNIQUE_MARK: char = '#';
/// What stands between a server's name and its address: no name of a person's choosing has it by accident.
const ADDRESS_MARK: &str = "\u{1f}";

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

/// What became of a command that nobody waited for.
#[derive(Debug, Clone)]
pub struct CommandOutcome {
    pub position: u64,
    pub kind: String,
    pub at: store::Millis,
    /// What its caller would have been told, once it is processed.
    pub answer: Option<Answer>,
}

#[derive(Debug, Clone)]
pub struct Topology {
    /// This server's name.
    pub node: Arc<str>,
    pub partitions: Vec<PartitionStatus>,
    /// Where clients reach those that said so.
    pub addresses: Vec<(Arc<str>, Address)>,
}

impl Topology {
    pub fn address(&self, node: &str) -> Option<&Address> {
        self.addresses.iter().find(|(known, _)| **known == *node).map(|(_, address)| address)
    }
}

/// Where clients reach a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    pub host: String,
    pub port: u16,
}

/// What edges hold. Cheap to clone.
#[derive(Clone)]
pub struct Host {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    announcing: Option<Arc<Announcing>>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) limits: Arc<Limits>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) node: Arc<str>,
    pub(crate) follower: Follower,
    pub(crate) moving: Moving,
    pub(crate) purging: Arc<Purging>,
    /// Where what happens is told to somebody outside.
    pub(crate) following: Option<Arc<Following>>,
    /// While this server owns the partition.
    fence: Mutex<Option<Fence>>,
    route: watch::Sender<Route>,
    /// Those who follow it hear of it in the order in which they began to: so workers keep their places when the partition comes here.
    followed: Mutex<Vec<watch::Sender<Route>>>,
    /// What the store said to the last write, if it did not take it.
    unwritten: Mutex<Option<Error>>,
    waiter_next: AtomicU64,
    under_way: UnderWay,
    polls: Arc<Semaphore>,
    streams: Arc<Semaphore>,
    pub(crate) awaiting: Arc<Semaphore>,
}

/// Where commands go.
#[derive(Debug, Clone)]
pub(crate) enum Route {
    /// This server owns the partition.
    Own(mpsc::Sender<Input>),
    /// Another server does, or none: commands go into the inbox.
    Follow,
    /// This server owns the partition but its store is away: what callers are told.
    Away(Error),
}

impl Host {
    pub(crate) fn new(parts: &Parts, node: Arc<str>, partition: PartitionId) -> Self {
        let limits = &parts.limits;
        let under_way = UnderWay::new(limits.inbox_bytes_max);
        let inner = Inner {
            follower: Follower::new(parts, partition, under_way.clone()),
            under_way,
            moving: Moving::default(),
            purging: Arc::default(),
            following: parts.exporting.clone().map(|exporting| Arc::new(Following::new(exporting))),
            fence: Mutex::default(),
            route: watch::Sender::new(Route::Follow),
            followed: Mutex::default(),
            unwritten: Mutex::default(),
            waiter_next: AtomicU64::new(0),
            polls: Arc::new(Semaphore::new(limits.polls_parked_max)),
            streams: Arc::new(Semaphore::new(limits.streams_max)),
            awaiting: Arc::new(Semaphore::new(limits.awaiting_max)),
            store: parts.store.clone(),
            announcing: parts.announcing.clone(),
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

    /// Why this server, which owns the partition, can write nothing at present.
    pub fn unwritten(&self) -> Option<Error> {
        self.inner.unwritten.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_unwritten(&self, error: Option<Error>) {
        *self.inner.unwritten.lock().unwrap_or_else(PoisonError::into_inner) = error;
    }

    pub(crate) fn set_fence(&self, fence: Option<Fence>) {
        *self.inner.fence.lock().unwrap_or_else(PoisonError::into_inner) = fence;
    }

    pub(crate) fn fence(&self) -> Option<Fence> {
        *self.inner.fence.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves the time of the engine, for tests. What has become due by that happens afterwards, by itself.
    pub fn move_clock(&self, to: ClockMove) -> Result<(), Error> {
        if !self.owns() {
            return Err(Error::Unavailable { reason: "another server owns the partition: move its clock".to_owned() });
        }
        self.inner.moving.apply(to);
        self.inner.purging.look();
        self.tell(Input::Look);
        Ok(())
    }

    /// The time of the engine, which is the database's unless a test has moved it.
    pub async fn now(&self) -> Result<store::Millis, store::Error> {
        Ok(self.inner.moving.time(self.store().now().await?))
    }

    /// Does the command and gives its answer, which is never a rejection: that is an error. What others listen to is answered when they
    /// were heard, or not in time; a large instance is cancelled, or deleted, when all of it has gone.
    pub async fn submit(&self, request: Request) -> Result<Answer, Error> {
        let timeout = self.inner.limits.answer_timeout;
        let going = if matches!(request.command, Command::DeleteInstance { .. }) { Going::Deleted } else { Going::Ended };
        match self.submit_alone(request, timeout).await? {
            Answer::Listening(listening) => {
                let _permit = self.permit(&self.inner.awaiting, "the number of callers waiting for results")?;
                await_listeners::outcome(self, listening, timeout).await
            }
            Answer::Going { instance } => {
                let _permit = self.permit(&self.inner.awaiting, "the number of callers waiting for results")?;
                await_end::gone(self, instance, going, timeout).await
            }
            answer => Ok(answer),
        }
    }

    async fn submit_alone(&self, request: Request, timeout: Duration) -> Result<Answer, Error> {
        let answer = match self.route() {
            Route::Follow => self.inner.follower.submit(&request, timeout).await?,
            Route::Away(error) => return Err(error),
            Route::Own(inbox) => {
                let (sender, receiver) = oneshot::channel();
                self.put_request(&inbox, request, Reply::Answer(sender))?;
                answered(receiver, timeout).await??
            }
        };
        accept(answer)
    }

    /// Makes the command durable and gives its position; what becomes of it is told by [`Host::command`].
    pub async fn submit_durably(&self, request: Request) -> Result<u64, Error> {
        let position = self.inner.follower.append(&request, None).await?;
        self.inner.metrics.count(request.command.kind(), "appended");
        self.tell(Input::Look);
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
        self.put_request(&inbox, request, reply)?;
        match answered(receiver, timeout).await? {
            End::Ended { created, completed, variables } => Ok(Awaited { created, completed, variables }),
            End::Before { created } => await_end::from_store(self, created, &fetch, timeout).await,
            End::NotCreated(told) => Err(match told.and_then(accept) {
                Err(error) => error,
                Ok(_) => Error::Internal { reason: "only creating an instance can be awaited".to_owned() },
            }),
        }
    }

    /// Creates an instance, and tells what it was like then, if that is known here: it runs, without an incident.
    pub async fn create_and_see(&self, request: Request) -> Result<(Created, Option<Box<Begun>>), Error> {
        let timeout = self.inner.limits.answer_timeout;
        let (answer, begun) = match self.route() {
            Route::Follow => (self.inner.follower.submit(&request, timeout).await?, None),
            Route::Away(error) => return Err(error),
            Route::Own(inbox) => {
                let (sender, receiver) = oneshot::channel();
                self.put_request(&inbox, request, Reply::Begun { begun: None, sender })?;
                let (told, begun) = answered(receiver, timeout).await?;
                (told?, begun)
            }
        };
        Ok((created(accept(answer)?)?, begun))
    }

    /// The answer to a submission, and who tells when its first execution has ended, if somebody does.
    pub(crate) async fn submit_awaited(&self, request: Request) -> Result<(Answer, Option<oneshot::Receiver<()>>), Error> {
        let timeout = self.inner.limits.answer_timeout;
        match self.route() {
            Route::Follow => Ok((accept(self.inner.follower.submit(&request, timeout).await?)?, None)),
            Route::Away(error) => Err(error),
            Route::Own(inbox) => {
                let (sender, receiver) = oneshot::channel();
                self.put_request(&inbox, request, Reply::Execution(sender))?;
                let (told, ended) = answered(receiver, timeout).await?;
                Ok((accept(told?)?, ended))
            }
        }
    }

    /// Whether workers are told of jobs of this type, instead of asking for them.
    pub fn announces(&self, job_type: &str) -> bool {
        self.inner.announcing.as_ref().is_some_and(|announcing| announcing.covers(job_type))
    }

    fn check_asking(&self, job_type: &str) -> Result<(), Error> {
        if !self.announces(job_type) {
            return Ok(());
        }
        let reason = format!("jobs of type '{job_type}' are announced on Kafka: hear of them there");
        Err(Error::Rejected(Rejection { code: Code::InvalidState, reason }))
    }

    /// Leases jobs to a worker, waiting for one if it wants to.
    pub async fn activate(&self, poll: Poll) -> Result<ActivatedJobs, Error> {
        self.check_asking(&poll.job_type)?;
        let _permit = self.permit(&self.inner.polls, "the number of waiting polls")?;
        let jobs = match self.route() {
            Route::Own(inbox) => self.poll_here(&inbox, &poll).await?,
            Route::Away(error) => return Err(error),
            Route::Follow => await_jobs::from_inbox(self, &poll).await?,
        };
        Ok(ActivatedJobs { jobs, host: self.clone() })
    }

    async fn poll_here(&self, inbox: &mpsc::Sender<Input>, poll: &Poll) -> Result<Vec<ActivatedJob>, Error> {
        let (answer, receiver) = oneshot::channel();
        let mut asked = Asked { receiver, host: self };
        let sink = Sink::Poll { max: poll.max as usize, patient: poll.wait.is_some(), answer };
        let waiter = Waiter { id: self.new_waiter(), wish: await_jobs::wish(poll), sink };
        put(inbox, Input::Wait(waiter))?;
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

    /// Jobs pushed to a worker as they come, also when the partition changes hands.
    pub fn stream(&self, subscription: Subscription) -> Result<JobStream, Error> {
        self.check_asking(&subscription.job_type)?;
        let permit = self.permit(&self.inner.streams, "the number of job streams")?;
        if let Route::Away(error) = self.route() {
            return Err(error);
        }
        let size = self.inner.limits.stream_buffer_max;
        let (sender, jobs) = mpsc::channel(size);
        let flow = Arc::new(StreamFlow { taken: AtomicU64::new(0), starved: AtomicBool::new(false), size: size as u64 });
        let Subscription { job_type, worker, timeout, tenants, fetch } = subscription;
        let poll = Poll { job_type, worker, timeout, max: size as u32, tenants, fetch, wait: None };
        let id = self.new_waiter();
        tokio::spawn(await_jobs::push(self.clone(), StreamEnd { id, poll, jobs: sender, flow: flow.clone() }));
        Ok(JobStream { jobs, flow, id, host: self.clone(), _permit: permit })
    }

    fn new_waiter(&self) -> queue::WaiterId {
        queue::WaiterId(self.inner.waiter_next.fetch_add(1, Ordering::Relaxed))
    }

    /// What became of a command that nobody waited for.
    pub async fn command(&self, position: u64) -> Result<Option<CommandOutcome>, Error> {
        let statuses = self.inner.store.statuses(PARTITION, &[position]).await?;
        let Some(status) = statuses.into_iter().next() else { return Ok(None) };
        let answer = status.answer.as_deref().map(format::decode_answer).transpose()?;
        Ok(Some(CommandOutcome { position, kind: status.kind, at: status.at, answer }))
    }

    pub async fn topology(&self) -> Result<Topology, Error> {
        let mut partitions = self.inner.store.partitions().await?;
        let owners = partitions.iter().filter_map(|partition| partition.owner.as_ref()).chain([&self.inner.node]);
        let addresses = owners.filter_map(|unique| Some((named(unique), addressed(unique)?))).collect();
        for partition in &mut partitions {
            partition.owner = partition.owner.take().map(|owner| named(&owner));
        }
        Ok(Topology { node: named(&self.inner.node), partitions, addresses })
    }

    pub(crate) fn route(&self) -> Route {
        self.inner.route.borrow().clone()
    }

    /// Changes whenever commands go somewhere else.
    pub(crate) fn routes(&self) -> watch::Receiver<Route> {
        let mut followed = self.inner.followed.lock().unwrap_or_else(PoisonError::into_inner);
        let (sender, receiver) = watch::channel(self.route());
        followed.retain(|sender| !sender.is_closed());
        followed.push(sender);
        receiver
    }

    pub(crate) fn set_route(&self, route: Route) {
        let followed = self.inner.followed.lock().unwrap_or_else(PoisonError::into_inner);
        self.inner.route.send_replace(route.clone());
        followed.iter().for_each(|sender| drop(sender.send_replace(route.clone())));
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

    fn put_request(&self, inbox: &mpsc::Sender<Input>, request: Request, reply: Reply) -> Result<(), Error> {
        let permit = self.inner.under_way.take(&request)?;
        put(inbox, Input::Request { request, reply, _permit: Some(permit), traced: traced::request() })
    }

    pub(crate) fn permit(&self, of: &Arc<Semaphore>, what: &'static str) -> Result<OwnedSemaphorePermit, Error> {
        of.clone().try_acquire_owned().map_err(|_| Error::Exhausted { what })
    }
}

fn put(inbox: &mpsc::Sender<Input>, input: Input) -> Result<(), Error> {
    inbox.try_send(input).map_err(|error| match error {
        mpsc::error::TrySendError::Full(_) => Error::Exhausted { what: "the inbox" },
        mpsc::error::TrySendError::Closed(_) => moved(),
    })
}

/// The name of a server with something that no other start of any server has: two servers given one name do not take each other's lease
/// for their own.
pub fn unique(node: &str) -> Arc<str> {
    let chance = RandomState::new().build_hasher().finish();
    format!("{node}{UNIQUE_MARK}{chance:016x}").into()
}

/// The same for a server that clients reach there: others, who see its name as that of the owner, can tell them.
pub fn reachable(node: &str, address: &Address) -> Arc<str> {
    unique(&format!("{node}{ADDRESS_MARK}{}:{}", address.host, address.port))
}

fn addressed(unique: &str) -> Option<Address> {
    let (_, told) = told(unique).rsplit_once(ADDRESS_MARK)?;
    let (host, port) = told.rsplit_once(':')?;
    Some(Address { host: host.to_owned(), port: port.parse().ok()? })
}

/// The name alone.
fn named(unique: &str) -> Arc<str> {
    let told = told(unique);
    told.rsplit_once(ADDRESS_MARK).map_or(told, |(node, _)| node).into()
}

fn told(unique: &str) -> &str {
    unique.rsplit_once(UNIQUE_MARK).map_or(unique, |(told, _)| told)
}

async fn answered<T>(receiver: oneshot::Receiver<T>, timeout: Duration) -> Result<T, Error> {
    match tokio::time::timeout(timeout, receiver).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(_)) => Err(moved()),
        Err(_) => Err(Error::Timeout),
    }
}

fn accept(answer: Answer) -> Told {
    match answer {
        // Not a word about the command: it may be sent again.
        Answer::Rejected(Rejection { code: Code::Expired, reason }) => Err(Error::Unavailable { reason }),
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
pub(crate) fn away(error: &store::Error) -> Error {
    match error {
        store::Error::Full { .. } | store::Error::ReadOnly { .. } => error.clone().into(),
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
            store::Error::Exhausted { what } => Self::Exhausted { what },
            store::Error::ReadOnly { .. } => Self::Unavailable { reason: "the store is read-only".to_owned() },
            store::Error::TooSlow { .. } => Self::Unavailable { reason: error.to_string() },
            other => Self::Internal { reason: other.to_string() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_carries_its_address_to_those_who_see_it() {
        let address = Address { host: "fe80::1".to_owned(), port: 26500 };
        let told = reachable("left#1@here", &address);
        assert_eq!((&*named(&told), addressed(&told)), ("left#1@here", Some(address.clone())));
        assert_ne!(told, reachable("left#1@here", &address), "no two starts have one name");
        assert_eq!((&*named(&unique("right")), addressed(&unique("right"))), ("right", None));
    }
}
