use std::sync::{Arc, OnceLock};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{Error, Job, Progress};

/// Why a handler should stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// Somebody else may have the job by now.
    LeaseLost,
    /// Nobody wants it done any more.
    Cancelled,
    /// The runner stops, and its grace is over.
    Shutdown,
}

/// What a handler knows of its job, and what it can say while it runs. Clones are the same.
#[derive(Debug, Clone)]
pub struct JobContext(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    job: Job,
    lost: CancellationToken,
    loss: OnceLock<Loss>,
    report: mpsc::Sender<Progress>,
}

impl JobContext {
    /// For runners and tests. What the handler says of its progress comes out at the other end of `report`.
    pub fn new(job: Job, report: mpsc::Sender<Progress>) -> JobContext {
        JobContext(Arc::new(Inner { job, lost: CancellationToken::new(), loss: OnceLock::new(), report }))
    }

    /// The job.
    pub fn job(&self) -> &Job {
        &self.0.job
    }

    /// The variables as another type than the handler asks for.
    pub fn variables<T: DeserializeOwned>(&self) -> Result<T, Error> {
        Ok(serde_json::from_str(self.0.job.variables.get())?)
    }

    /// Why nobody waits for the result any more, if so.
    pub fn loss(&self) -> Option<Loss> {
        self.0.loss.get().copied()
    }

    /// Waits until there is a reason to stop: what the handler returns then is thrown away.
    pub async fn lost(&self) -> Loss {
        self.0.lost.cancelled().await;
        self.loss().unwrap_or(Loss::LeaseLost)
    }

    /// Cancelled when there is a reason to stop; to be handed to others.
    pub fn token(&self) -> &CancellationToken {
        &self.0.lost
    }

    /// Says how far it has come; `data` is in the progress of the next attempt's job, should there be one.
    pub async fn progress(&self, percent: i32, message: &str, data: &impl Serialize) -> Result<(), Error> {
        let data = serde_json::value::to_raw_value(data)?;
        // `()` is written as null.
        let data = Some(data).filter(|data| data.get() != "null");
        let said = Progress { percent: Some(percent), message: Some(message.to_owned()), data };
        // Nobody listens any more once the runner has stopped, and then it does not matter.
        self.0.report.send(said).await.ok();
        Ok(())
    }

    /// For runners and tests: tells the handler to stop.
    pub fn lose(&self, loss: Loss) {
        self.0.loss.get_or_init(|| loss);
        self.0.lost.cancel();
    }
}
