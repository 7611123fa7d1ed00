//! Jobs for workers whose server does not own the partition: asked for through the inbox. And streams, which outlive a change of owner.

use std::time::Duration;

use store::ReadyAfter;
use store::log::{Activate, ActivatedJob, Answer, Caller, Command, Request};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::drive::PARTITION;
use crate::handle::{Error, Host, Poll, Route};
use crate::partition::Input;
use crate::sinks::{Sink, StreamSink, Waiter, Wish};

/// Asks until there is a job or the patience ends. Between two asks it waits until the store shows a job: each ask is a command, and its
/// own answer wakes everybody again.
pub(crate) async fn from_inbox(host: &Host, poll: &Poll) -> Result<Vec<ActivatedJob>, Error> {
    let until = Instant::now() + poll.wait.unwrap_or(Duration::ZERO);
    let mut wakeups = host.store().wakeups();
    let mut asked = false;
    loop {
        let jobs = ask(host, poll).await?;
        if !jobs.is_empty() || until <= Instant::now() {
            return Ok(jobs);
        }
        // What looks ready and is not given may be of an instance that cannot be run: then asking at once would never end.
        if std::mem::replace(&mut asked, true) {
            tokio::time::sleep_until(until.min(Instant::now() + host.limits().poll_every)).await;
        }
        loop {
            wakeups.mark_unchanged();
            if any_ready(host, poll).await? {
                break;
            }
            tokio::select! {
                biased;
                () = tokio::time::sleep_until(until) => return Ok(Vec::new()),
                _ = wakeups.changed() => {}
                () = tokio::time::sleep(host.limits().poll_every) => {}
            }
        }
    }
}

async fn any_ready(host: &Host, poll: &Poll) -> Result<bool, Error> {
    for tenant in &poll.tenants {
        if !host.store().ready_jobs(PARTITION, &poll.job_type, tenant, ReadyAfter::START, 1).await?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Pushes jobs into a stream until nobody listens: straight from the tick while this server owns the partition, else through the inbox.
pub(crate) async fn push(host: Host, stream: StreamEnd) {
    let mut routes = host.routes();
    while !stream.jobs.is_closed() {
        let route = routes.borrow_and_update().clone();
        match route {
            Route::Own(inbox) => {
                let sink = Sink::Stream(StreamSink::new(stream.jobs.clone(), stream.flow.clone()));
                let waiter = Waiter { id: stream.id, wish: wish(&stream.poll), sink };
                if inbox.send(Input::Wait(waiter)).await.is_ok() {
                    // Until the partition changes hands; while the store is away the owner keeps its workers.
                    changed(&mut routes, &stream.jobs, |route| matches!(route, Route::Follow)).await;
                }
            }
            Route::Away(_) => changed(&mut routes, &stream.jobs, |_| true).await,
            Route::Follow => tokio::select! {
                biased;
                () = stream.jobs.closed() => return,
                _ = routes.changed() => {}
                () = pull(&host, &stream) => {}
            },
        }
    }
}

/// The end of a stream that jobs go into.
pub(crate) struct StreamEnd {
    pub(crate) id: queue::WaiterId,
    pub(crate) poll: Poll,
    pub(crate) jobs: mpsc::Sender<ActivatedJob>,
    pub(crate) flow: std::sync::Arc<crate::sinks::StreamFlow>,
}

async fn changed(
    routes: &mut tokio::sync::watch::Receiver<Route>,
    jobs: &mpsc::Sender<ActivatedJob>,
    enough: impl Fn(&Route) -> bool,
) {
    loop {
        tokio::select! {
            biased;
            () = jobs.closed() => return,
            changed = routes.changed() => {
                if changed.is_err() || enough(&routes.borrow()) {
                    return;
                }
            }
        }
    }
}

/// One ask for as many jobs as the stream has room for.
async fn pull(host: &Host, stream: &StreamEnd) {
    let Ok(permits) = stream.jobs.reserve().await.map(|first| (first, stream.jobs.capacity())) else { return };
    let (first, more) = permits;
    drop(first);
    let poll = Poll { wait: Some(Duration::from_secs(60)), max: (more as u32 + 1).min(stream.poll.max), ..stream.poll.clone() };
    match from_inbox(host, &poll).await {
        Ok(jobs) => {
            let mut lost = Vec::new();
            for job in jobs {
                if let Err(error) = stream.jobs.try_send(job) {
                    lost.push(error.into_inner());
                }
            }
            host.give_back(&lost);
        }
        Err(error) => {
            tracing::warn!(%error, "a job stream waits for the partition's owner");
            tokio::time::sleep(host.limits().poll_every).await;
        }
    }
}

pub(crate) fn wish(poll: &Poll) -> Wish {
    Wish {
        job_type: poll.job_type.clone(),
        tenants: poll.tenants.clone(),
        worker: poll.worker.clone(),
        timeout: poll.timeout,
        fetch: poll.fetch.clone(),
    }
}

async fn ask(host: &Host, poll: &Poll) -> Result<Vec<ActivatedJob>, Error> {
    let activate = Activate {
        job_type: poll.job_type.clone(),
        worker: poll.worker.clone(),
        timeout: poll.timeout,
        max: poll.max,
        tenants: poll.tenants.clone(),
        fetch: poll.fetch.clone(),
    };
    let request = Request { caller: Caller::engine(), command: Command::Activate(activate), idempotency: None };
    let (sender, receiver) = oneshot::channel();
    let asking = host.clone();
    // Goes on when nobody waits any more: jobs that come then are given back.
    tokio::spawn(async move {
        let answer = asking.inner().follower.submit(&request, asking.limits().answer_timeout).await;
        if let Err(Ok(Answer::Activated(jobs))) = sender.send(answer) {
            asking.give_back(&jobs);
        }
    });
    match receiver.await {
        Ok(Ok(Answer::Activated(jobs))) => Ok(jobs),
        Ok(Ok(Answer::Rejected(rejection))) => Err(Error::Rejected(rejection)),
        Ok(Ok(_)) => Err(Error::Internal { reason: "jobs were asked for and something else was answered".to_owned() }),
        Ok(Err(error)) => Err(error),
        Err(_) => Err(Error::Internal { reason: "asking for jobs hit a fault".to_owned() }),
    }
}
