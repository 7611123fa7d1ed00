//! Jobs on their way to a worker: each holds on to what it was given and gives back what was not taken.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use queue::WaiterId;
use store::log::ActivatedJob;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};

use crate::handle::Host;
use crate::partition::Input;
use crate::sinks::StreamFlow;

/// Jobs leased to a caller. Those it did not take when this is dropped are ready for others at once.
pub struct ActivatedJobs {
    pub(crate) jobs: Vec<ActivatedJob>,
    pub(crate) host: Host,
}

impl ActivatedJobs {
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// They are on their way to the worker.
    pub fn take(mut self) -> Vec<ActivatedJob> {
        std::mem::take(&mut self.jobs)
    }
}

impl Drop for ActivatedJobs {
    fn drop(&mut self) {
        self.host.give_back(&self.jobs);
    }
}

impl std::fmt::Debug for ActivatedJobs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ActivatedJobs").field("jobs", &self.jobs).finish_non_exhaustive()
    }
}

/// Jobs as they come. Dropping it frees what was not taken.
pub struct JobStream {
    pub(crate) jobs: mpsc::Receiver<ActivatedJob>,
    pub(crate) flow: Arc<StreamFlow>,
    pub(crate) id: WaiterId,
    pub(crate) host: Host,
    pub(crate) _permit: OwnedSemaphorePermit,
}

impl JobStream {
    /// The next job; `None` when this server can push no more.
    pub async fn next(&mut self) -> Option<ActivatedJob> {
        let job = self.jobs.recv().await?;
        self.flow.taken.fetch_add(1, Ordering::SeqCst);
        if self.flow.starved.swap(false, Ordering::SeqCst) {
            self.host.tell(Input::Room(self.id));
        }
        Some(job)
    }
}

impl Drop for JobStream {
    fn drop(&mut self) {
        self.jobs.close();
        let mut left = Vec::new();
        while let Ok(job) = self.jobs.try_recv() {
            left.push(job);
        }
        self.host.give_back(&left);
    }
}

/// A poll that is dropped gives back what reached it unread.
pub(crate) struct Asked<'a> {
    pub(crate) receiver: oneshot::Receiver<Vec<ActivatedJob>>,
    pub(crate) host: &'a Host,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.receiver.close();
        if let Ok(jobs) = self.receiver.try_recv() {
            self.host.give_back(&jobs);
        }
    }
}
