use std::collections::HashMap;
use std::convert::Infallible;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use crate::backoff::{Backoff, retry};
use crate::telemetry::Telemetry;
use crate::{Beat, EngineClient, Error, Job, JobContext, Loss, Outcome, Poll, Progress, Registry, Standing};

const JOBS_PER_POLL_MAX: usize = 100;
/// What giving back all jobs that were not finished may take.
const GIVE_BACK_MAX: Duration = Duration::from_secs(5);
/// Of a failure's message that the server did not take.
const MESSAGE_CHARS_MAX: usize = 10_000;

/// Works on the jobs of a registry's types.
#[derive(Clone)]
pub struct Runner {
    registry: Registry,
    engine: Arc<dyn EngineClient>,
    worker: String,
    max_parallel: usize,
    lease: Duration,
    poll_wait: Duration,
    grace: Duration,
}

impl Runner {
    /// Over a transport such as [`crate::Rest`].
    pub fn new(registry: Registry, engine: impl EngineClient + 'static) -> Runner {
        let worker = format!("rust-{}-{:08x}", std::process::id(), fastrand::u32(..));
        Runner {
            registry,
            engine: Arc::new(engine),
            worker,
            max_parallel: 10,
            lease: Duration::from_secs(60),
            poll_wait: Duration::from_secs(20),
            grace: Duration::from_secs(30),
        }
    }

    /// The worker's name, as the server shows it.
    #[must_use]
    pub fn worker_id(self, worker: impl Into<String>) -> Runner {
        Runner { worker: worker.into(), ..self }
    }

    /// How many handlers run at once; 10, and at least 1.
    #[must_use]
    pub fn max_parallel(self, max_parallel: usize) -> Runner {
        Runner { max_parallel: max_parallel.max(1), ..self }
    }

    /// For how long a job is leased; a minute, at least 5 seconds. Extended while its handler runs.
    #[must_use]
    pub fn lease(self, lease: Duration) -> Runner {
        Runner { lease, ..self }
    }

    /// How long a poll waits for a job; 20 seconds. With none it does not, and the runner asks less and less often.
    #[must_use]
    pub fn poll_wait(self, poll_wait: Duration) -> Runner {
        Runner { poll_wait, ..self }
    }

    /// How long handlers may take to finish when the runner is stopped; 30 seconds.
    #[must_use]
    pub fn grace(self, grace: Duration) -> Runner {
        Runner { grace, ..self }
    }

    /// Works until `shutdown` is ready, such as [`shutdown_signal`]; then takes no more jobs, lets handlers finish within the grace, tells those that have not, and
    /// gives their jobs back, for 5 seconds at most. An error only if the server will never give it jobs.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<(), Error> {
        let slots = Arc::new(Semaphore::new(self.max_parallel));
        let work = Arc::new(Work {
            registry: self.registry,
            engine: self.engine,
            worker: self.worker,
            lease: self.lease,
            running: Mutex::default(),
            given_up: CancellationToken::new(),
            telemetry: Telemetry::new(),
        });
        // Ends with this, however that ends.
        let mut leases = JoinSet::new();
        leases.spawn(work.clone().keep_leases());
        let ended = tokio::select! {
            () = shutdown => Ok(()),
            ended = take_jobs(&work, &slots, self.poll_wait) => ended,
        };
        tracing::info!("stopping");
        let all = u32::try_from(self.max_parallel).unwrap_or(u32::MAX);
        if timeout(self.grace, slots.acquire_many(all)).await.is_err() {
            work.give_up().await;
        }
        ended
    }
}

impl std::fmt::Debug for Runner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runner").field("worker", &self.worker).field("registry", &self.registry).finish_non_exhaustive()
    }
}

/// Ready on SIGTERM or Ctrl-C.
pub async fn shutdown_signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(mut terminate) = signal(SignalKind::terminate()) else { return std::future::pending().await };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await.ok();
}

async fn take_jobs(work: &Arc<Work>, slots: &Arc<Semaphore>, wait: Duration) -> Result<(), Error> {
    let job_types = work.registry.job_types();
    let mut backoff = Backoff::default();
    loop {
        drop(slots.acquire().await);
        let max = slots.available_permits().min(JOBS_PER_POLL_MAX);
        let asked = Instant::now();
        // Dropped in the middle when the runner is stopped: the server gives to others what it would have answered.
        let polled = work.engine.poll(Poll { worker: &work.worker, job_types: &job_types, max, lease: work.lease, wait }).await;
        match polled {
            Err(error) if error.is_unavailable() => {
                let pause = backoff.next(error.retry_after());
                tracing::warn!(%error, ?pause, "no jobs");
                sleep(pause).await;
            }
            Err(error) => return Err(error),
            // A server that is stopping answers at once, and one that is not asked to wait.
            Ok(jobs) if jobs.is_empty() && (wait.is_zero() || asked.elapsed() < wait.min(Duration::from_secs(1))) => {
                sleep(backoff.next(None)).await;
            }
            Ok(jobs) => {
                backoff = Backoff::default();
                for job in jobs {
                    // There is room for all that were asked for. To wait here could be to be dropped here, and what was not begun would be nobody's.
                    let (work, slot) = (work.clone(), slots.clone().try_acquire_owned());
                    tokio::spawn(async move {
                        work.perform(job).await;
                        drop(slot);
                    });
                }
            }
        }
    }
}

/// Gives jobs back that nobody here goes on with, all at once.
pub(crate) async fn give_back(engine: &Arc<dyn EngineClient>, worker: &str, jobs: impl IntoIterator<Item = Job>) {
    let mut releasing = JoinSet::new();
    for job in jobs {
        let (engine, worker) = (engine.clone(), worker.to_owned());
        releasing.spawn(async move {
            if let Err(error) = retry(GIVE_BACK_MAX, || engine.release(&worker, &job, None)).await {
                tracing::warn!(job = job.id, %error, "it could not be given back: it is free when its lease ends");
            }
        });
    }
    let all = async { while releasing.join_next().await.is_some() {} };
    if timeout(GIVE_BACK_MAX, all).await.is_err() {
        tracing::warn!(count = releasing.len(), "some could not be given back in time: they are free when their leases end");
    }
}

/// A job whose handler runs, or whose end is being reported.
struct Held {
    context: JobContext,
    until: Instant,
}

/// Its lease is extended while this is there: also a panic ends that.
struct Holding<'a> {
    work: &'a Work,
    number: u64,
}

impl Drop for Holding<'_> {
    fn drop(&mut self) {
        self.work.running().remove(&self.number);
    }
}

/// What the tasks of a runner share.
struct Work {
    registry: Registry,
    engine: Arc<dyn EngineClient>,
    worker: String,
    lease: Duration,
    /// By a number of our own: a job may come again while an attempt that lost it still runs.
    running: Mutex<HashMap<u64, Held>>,
    given_up: CancellationToken,
    telemetry: Telemetry,
}

impl Work {
    fn running(&self) -> MutexGuard<'_, HashMap<u64, Held>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn perform(self: Arc<Self>, job: Job) {
        let (report, said) = mpsc::channel(1);
        let context = JobContext::new(job, report);
        let number = fastrand::u64(..);
        self.running().insert(number, Held { context: context.clone(), until: Instant::now() + self.lease });
        let _holding = Holding { work: &self, number };
        let outcome = tokio::select! {
            outcome = self.telemetry.observe(context.job(), self.run(&context, said)) => outcome,
            never = self.watch(number, &context) => match never {},
        };
        self.report(context.job(), outcome).await;
    }

    /// Tells the handler when its lease must be over by this clock, whatever the server says or does not.
    async fn watch(&self, number: u64, context: &JobContext) -> Infallible {
        loop {
            let until = self.running().get(&number).map(|held| held.until).filter(|until| Instant::now() < *until);
            match until {
                Some(until) => sleep_until(until).await,
                None => break,
            }
        }
        context.lose(Loss::LeaseLost);
        std::future::pending().await
    }

    /// Runs the handler, and says meanwhile what it says of its progress.
    async fn run(&self, context: &JobContext, mut said: mpsc::Receiver<Progress>) -> Outcome {
        let handler = self.registry.run(context);
        tokio::pin!(handler);
        let outcome = loop {
            tokio::select! {
                biased;
                Some(progress) = said.recv() => self.progress(context, &progress).await,
                outcome = &mut handler => break outcome,
            }
        };
        while let Ok(progress) = said.try_recv() {
            self.progress(context, &progress).await;
        }
        outcome
    }

    /// Said again until it is known to have been heard, or until it does not matter any more.
    async fn report(&self, job: &Job, mut outcome: Outcome) {
        let (mut backoff, mut is_last) = (Backoff::default(), false);
        while !self.given_up.is_cancelled() {
            match self.say(job, &outcome).await {
                Ok(()) => return,
                Err(error) if error.is_unavailable() => {
                    tracing::warn!(job = job.id, %error, "its end is not known yet");
                    let pause = sleep(backoff.next(error.retry_after()));
                    tokio::select! { () = pause => {}, () = self.given_up.cancelled() => {} }
                }
                Err(error) if error.is_not_found() || error.is_conflict() => {
                    tracing::warn!(job = job.id, %error, "it was no longer ours");
                    return;
                }
                // It would be refused again and again: let people see why instead.
                Err(error) if !is_last => {
                    is_last = matches!(outcome, Outcome::Failed { .. });
                    outcome = instead(outcome, &error);
                }
                Err(error) => {
                    tracing::error!(job = job.id, %error, "its end was refused");
                    return;
                }
            }
        }
    }

    async fn say(&self, job: &Job, outcome: &Outcome) -> Result<(), Error> {
        let (engine, worker) = (&self.engine, self.worker.as_str());
        match outcome {
            Outcome::Completed(variables) => engine.complete(worker, job, variables).await,
            Outcome::Failed { message, retryable, after } => {
                tracing::warn!(job = job.id, job_type = job.job_type, message, "it failed");
                engine.fail(worker, job, message, *retryable, *after).await
            }
            Outcome::Thrown { code, message, variables } => engine.throw_error(worker, job, code, message, variables).await,
            Outcome::Snoozed(delay) => engine.release(worker, job, Some(*delay)).await,
            Outcome::Abandoned(loss) => {
                tracing::info!(job = job.id, ?loss, "nobody waits for it any more");
                Ok(())
            }
        }
    }

    /// Extends all leases three times as often as needed; tells handlers whose lease is gone.
    async fn keep_leases(self: Arc<Self>) {
        loop {
            sleep(self.lease / 3).await;
            let held = self.held();
            // There is time for another try before they end.
            if !held.is_empty() && timeout(self.lease / 3, self.beat(&held)).await.is_err() {
                tracing::warn!("leases could not be extended: the server does not answer");
            }
        }
    }

    /// What runs and has not been lost.
    fn held(&self) -> Vec<(u64, JobContext)> {
        let running = self.running();
        let held = running.iter().filter(|(_, held)| held.context.loss().is_none());
        held.map(|(number, held)| (*number, held.context.clone())).collect()
    }

    async fn beat(&self, held: &[(u64, JobContext)]) {
        let asked = Instant::now();
        let beats: Vec<Beat<'_>> = held.iter().map(|(_, context)| Beat { job: context.job(), progress: None }).collect();
        match self.engine.heartbeat(&self.worker, self.lease, &beats).await {
            Ok(standings) => {
                for ((number, context), standing) in held.iter().zip(standings) {
                    match self.running().get_mut(number) {
                        Some(held) if standing == Standing::Held => held.until = asked + self.lease,
                        Some(_) => note(context, standing),
                        // Its end was reported meanwhile.
                        None => {}
                    }
                }
            }
            Err(error) => tracing::warn!(%error, "leases could not be extended"),
        }
    }

    async fn progress(&self, context: &JobContext, progress: &Progress) {
        let beat = Beat { job: context.job(), progress: Some(progress) };
        match self.engine.heartbeat(&self.worker, self.lease, &[beat]).await {
            Ok(standings) => standings.into_iter().for_each(|standing| note(context, standing)),
            Err(error) => tracing::warn!(job = context.job().id, %error, "progress could not be said"),
        }
    }

    /// Tells handlers that have not finished to stop, and gives their jobs back.
    async fn give_up(&self) {
        self.given_up.cancel();
        let left: Vec<JobContext> = self.running().values().map(|held| held.context.clone()).collect();
        tracing::warn!(count = left.len(), "handlers did not finish in time");
        left.iter().for_each(|context| context.lose(Loss::Shutdown));
        give_back(&self.engine, &self.worker, left.iter().map(|context| context.job().clone())).await;
    }
}

/// What to say of a job whose end was refused.
fn instead(outcome: Outcome, error: &Error) -> Outcome {
    let what = match outcome {
        Outcome::Completed(_) => "the result",
        Outcome::Thrown { .. } => "the BPMN error",
        Outcome::Snoozed(_) => "the snooze",
        Outcome::Failed { message, retryable, .. } => {
            // No server takes U+0000.
            let taken = |one| if one == '\0' { '\u{FFFD}' } else { one };
            return Outcome::Failed {
                message: message.chars().map(taken).take(MESSAGE_CHARS_MAX).collect(),
                retryable,
                after: None,
            };
        }
        Outcome::Abandoned(_) => return outcome,
    };
    Outcome::Failed { message: format!("{what} was refused: {error}"), retryable: false, after: None }
}

fn note(context: &JobContext, standing: Standing) {
    match standing {
        Standing::Held => {}
        Standing::Cancelled => context.lose(Loss::Cancelled),
        Standing::Lost | Standing::Completed | Standing::Unknown => context.lose(Loss::LeaseLost),
    }
}
