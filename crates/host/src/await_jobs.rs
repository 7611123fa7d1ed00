//! Jobs for workers that are connected to a server that does not own the partition: asked for through the log.

use std::time::Duration;

use engine::JobKey;
use store::log::{Activate, ActivatedJob, Answer, Command, Request};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::drive::PARTITION;
use crate::handle::{Error, Host, Poll};

/// Asks until there is a job or the patience ends. Between two asks it waits until the store shows a job: each ask is a command, and its
/// own answer wakes everybody again.
pub(crate) async fn from_log(host: &Host, poll: &Poll) -> Result<Vec<ActivatedJob>, Error> {
    let until = Instant::now() + poll.wait.unwrap_or(Duration::ZERO);
    let mut wakeups = host.store().wakeups();
    loop {
        let jobs = ask(host, poll).await?;
        if !jobs.is_empty() || until <= Instant::now() {
            return Ok(jobs);
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
        if !host.store().ready_jobs(PARTITION, &poll.job_type, tenant, JobKey(0), 1).await?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Pushes jobs into a stream until nobody listens.
pub(crate) async fn push(host: Host, poll: Poll, sender: mpsc::Sender<ActivatedJob>) {
    let patient = Poll { wait: Some(Duration::from_secs(60)), ..poll };
    while let Ok(permit) = sender.reserve().await {
        let jobs = tokio::select! {
            biased;
            () = sender.closed() => return,
            jobs = from_log(&host, &patient) => jobs,
        };
        match jobs {
            Ok(jobs) => {
                if let Some(job) = jobs.into_iter().next() {
                    permit.send(job);
                }
            }
            Err(error) => {
                tracing::warn!(%error, "a job stream waits for the partition's owner");
                tokio::time::sleep(host.limits().poll_every).await;
            }
        }
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
    let request = Request { command: Command::Activate(activate), idempotency: None };
    match host.inner().follower.submit(&request, host.limits().answer_timeout).await? {
        Answer::Activated(jobs) => Ok(jobs),
        Answer::Rejected(rejection) => Err(Error::Rejected(rejection)),
        _ => Err(Error::Internal { reason: "jobs were asked for and something else was answered".to_owned() }),
    }
}
