//! Jobs on their way out. What did not get out when the worker's call is gone is ready for others at once.
//!
//! How a job is known to have got out: the connection takes a message from our stream, and comes back for more only after the
//! client made room for it (`door` cuts messages into slices, so all but the last slice was let in by then). A stream that was
//! polled again is therefore told so by [`InFlight::arrived`]; one that is dropped before takes its jobs back.
//!
//! A client that reads a job and leaves before it works on it cannot be told from one that works on it: that is what leases are for.

use std::collections::VecDeque;

use host::Host;
use store::log::{ActivatedJob, Released};

/// Jobs taken from the host that may not have got out yet, in order.
pub(super) struct InFlight {
    host: Host,
    jobs: VecDeque<Released>,
}

impl InFlight {
    pub(super) fn new(host: Host) -> Self {
        Self { host, jobs: VecDeque::new() }
    }

    pub(super) fn add(&mut self, job: &ActivatedJob) {
        self.jobs.push_back(Released { job: job.key, deadline: job.deadline });
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
        self.host.release(Vec::from(std::mem::take(&mut self.jobs)));
    }
}
