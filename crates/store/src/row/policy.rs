//! Policies of queues.

use std::sync::Arc;

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
