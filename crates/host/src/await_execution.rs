//! Waiting for the end of an execution: told by the tick that ends it, or, where this server does not own the partition, by reading
//! the store.

use std::time::Duration;

use engine::JobKey;
use store::log::{Answer, Request};
use store::query::{Entity, ExecutionView, Filter, Items, Op, Page, Query, Scalar, Tenants};
use tokio::sync::oneshot;

use crate::handle::{Error, Host};

impl Host {
    /// Submits one execution and waits for its end, at most so long; then gives it as it is.
    pub async fn submit_and_await(&self, request: Request, timeout: Duration) -> Result<(Answer, ExecutionView), Error> {
        let tenants = request.caller.tenants.clone();
        let _permit = self.permit(&self.inner().awaiting, "the number of callers waiting for results")?;
        let (answer, ended) = self.submit_awaited(request).await?;
        let job = match &answer {
            Answer::Submitted(submitted) => submitted.executions.first().map(|one| one.job),
            _ => None,
        };
        let job = job.ok_or_else(|| Error::Internal { reason: "only an execution can be awaited".to_owned() })?;
        // One that was there before may have ended before.
        let awaited = wait(self, job, tenants.clone(), ended);
        let ended = tokio::time::timeout(timeout, awaited).await;
        let view = match ended {
            Ok(view) => Some(view?),
            Err(_) => read(self, job, tenants).await?,
        };
        let view = view.ok_or_else(|| Error::Internal { reason: format!("execution {job} cannot be found") })?;
        Ok((answer, view))
    }
}

async fn wait(
    host: &Host,
    job: JobKey,
    tenants: Tenants,
    mut ended: Option<oneshot::Receiver<()>>,
) -> Result<ExecutionView, Error> {
    let mut wakeups = host.store().wakeups();
    loop {
        if let Some(view) = read(host, job, tenants.clone()).await?.filter(|view| view.state.has_ended()) {
            return Ok(view);
        }
        match ended.take() {
            // If the partition has gone elsewhere meanwhile, nobody tells: the store is read from then on.
            Some(ended) => {
                let _told_or_gone = ended.await;
            }
            None => tokio::select! {
                biased;
                _ = wakeups.changed() => {}
                () = tokio::time::sleep(host.limits().poll_every) => {}
            },
        }
    }
}

async fn read(host: &Host, job: JobKey, tenants: Tenants) -> Result<Option<ExecutionView>, Error> {
    let filter = Filter::Is(Entity::Executions.key(), Op::Eq(Scalar::Int(job.0 as i64)));
    let query = Query { filter, page: Page::From { from: 0, limit: 1 }, ..Query::of(Entity::Executions, tenants) };
    match host.store().search(&query).await?.items {
        Items::Executions(views) => Ok(views.into_iter().next()),
        _ => Ok(None),
    }
}
