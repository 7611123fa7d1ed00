//! Policies of queues.

use std::sync::Arc;

use queue::Starts;
use queue::policy::Policy;

use crate::Millis;

/// One version of a policy. None is ever changed: what is put or deleted later is another version.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyVersion {
    /// What people call it.
    pub reference: Arc<str>,
    /// From 1.
    pub version: u32,
    /// Absent where it was deleted.
    pub policy: Option<Policy>,
    pub changed: Millis,
    pub changed_by: Arc<str>,
}

/// When jobs of a queue were started, where a policy says how fast they may: one row for all of them, or for each group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaceState {
    pub job_type: Arc<str>,
    pub tenant: Arc<str>,
    /// The name of a [`queue::Bucket`].
    pub bucket: Arc<str>,
    pub starts: Starts,
    /// From then on it makes no difference.
    pub until: Millis,
}
