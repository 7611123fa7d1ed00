//! Jobs on their way out. What did not get out when the worker's call is gone is ready for others at once.
//!
//! How a job is known to have got out: the connection takes a message from our stream, and comes back for more only after the
//! client made room for it (`door` cuts messages into slices, so all but the last slice was let in by then). A stream that was
//! polled again is therefore told so by [`InFlight::arrived`]; one that is dropped before takes its jobs back.
//!
//! A client that reads a job and leaves before it works on it cannot be told from one that works on it: that is what leases are for.

use std::collections::VecDeque;
use std::time::Duration;

use engine::JobKey;
use host::Host;
use store::log::{Command, Request};
use tokio::time::Instant;

/// A lease this close to its end is left to end by itself: another worker may have the job before we could take it back.
const LEASE_MARGIN: Duration = Duration::from_secs(1);

/// Jobs taken from the host that may not have got out yet, in order.
pub(super) struct InFlight {
    host: Host,
    jobs: VecDeque<JobKey>,
    lease: Duration,
    /// When the oldest of them was taken, or before.
    since: Instant,
}

impl InFlight {
    /// `lease` in milliseconds.
    pub(super) fn new(host: Host, lease: i64) -> Self {
        let lease = Duration::from_millis(u64::try_from(lease).unwrap_or(0));
        Self { host, jobs: VecDeque::new(), lease, since: Instant::now() }
    }

    pub(super) fn add(&mut self, job: JobKey) {
        if self.jobs.is_empty() {
            self.since = Instant::now();
        }
        self.jobs.push_back(job);
    }

    pub(super) fn len(&self) -> usize {
        self.jobs.len()
    }

    /// The first `count` got out.
    pub(super) fn arrived(&mut self, count: usize) {
        self.jobs.drain(..count);
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        if self.jobs.is_empty() || self.lease < self.since.elapsed() + LEASE_MARGIN {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let host = self.host.clone();
        let jobs = Vec::from(std::mem::take(&mut self.jobs));
        runtime.spawn(async move {
            let request = Request { command: Command::Release { jobs }, idempotency: None };
            if let Err(error) = host.submit(request).await {
                tracing::debug!(%error, "jobs of a worker that left stay leased");
            }
        });
    }
}
