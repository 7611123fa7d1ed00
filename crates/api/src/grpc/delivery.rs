//! Jobs on their way out. What did not get out when the worker's call is gone is ready for others at once.
//!
//! How a job is known to have got out: the connection takes a message from our stream, and comes back for more only after the
//! client made room for it (`listen` cuts messages into slices, so all but the last slice was let in by then). A stream that was
//! polled again is therefore told so by [`InFlight::arrived`]; one that is dropped before takes its jobs back.
//!
//! A client that reads a job and leaves before it works on it cannot be told from one that works on it: that is what leases are for.

use std::collections::VecDeque;

use host::Host;
use store::log::{ActivatedJob, Released};

use super::gateway::Gateway;
use crate::budget::Held;
use crate::error::Failure;

/// What a job takes besides its variables and headers, about.
const JOB_BYTES: usize = 512;

/// Jobs taken from the host that may not have got out yet, in order, with the bytes they take.
pub(super) struct InFlight {
    host: Host,
    jobs: VecDeque<(Released, usize)>,
    held: Held,
}

impl InFlight {
    pub(super) fn new(gateway: &Gateway) -> Self {
        Self { host: gateway.host.clone(), jobs: VecDeque::new(), held: gateway.answers.nothing() }
    }

    /// Refused where there is no room for it; it is given back all the same.
    pub(super) fn add(&mut self, job: &ActivatedJob) -> Result<(), Failure> {
        let bytes = JOB_BYTES + job.variables.len() + job.headers.len();
        self.jobs.push_back((Released { job: job.key, deadline: job.deadline, lease: job.lease }, bytes));
        self.held.grow(bytes)
    }

    pub(super) fn len(&self) -> usize {
        self.jobs.len()
    }

    /// The first `count` got out.
    pub(super) fn arrived(&mut self, count: usize) {
        let bytes = self.jobs.drain(..count).map(|(_, bytes)| bytes).sum();
        self.held.give_back(bytes);
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.host.release(std::mem::take(&mut self.jobs).into_iter().map(|(lease, _)| lease).collect());
    }
}
