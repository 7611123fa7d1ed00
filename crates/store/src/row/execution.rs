//! Work that belongs to no process.

use std::sync::Arc;

use super::{Availability, Job, JobState};
use crate::Millis;

/// What a job has that belongs to no process. The rest of it is as in any other.
#[derive(Debug, Clone, PartialEq)]
pub struct Execution {
    /// A JSON object.
    pub input: Arc<str>,
    /// What the last worker left, as a JSON object.
    pub result: Option<Arc<str>>,
    /// How often it was handed out.
    pub attempts: u32,
    /// When it was handed out last.
    pub started: Option<Millis>,
    pub unique: Option<Unique>,
}

/// There is at most one execution of an action with this key that is waiting or running, and none is made before the time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unique {
    pub key: Arc<str>,
    pub until: Option<Millis>,
}

/// Tenant, action and unique key.
pub type UniqueName = (Arc<str>, Arc<str>, Arc<str>);

/// The newest execution with a unique key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UniqueHolder {
    pub name: UniqueName,
    pub job: engine::JobKey,
    pub until: Option<Millis>,
}

/// As those see it who submitted it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExecutionState {
    Waiting,
    Running,
    Completed,
    /// No retries left; it may be tried again.
    Failed,
    Cancelled,
}

impl ExecutionState {
    pub const ALL: [Self; 5] = [Self::Waiting, Self::Running, Self::Completed, Self::Failed, Self::Cancelled];

    pub fn has_ended(self) -> bool {
        match self {
            Self::Waiting | Self::Running => false,
            Self::Completed | Self::Failed | Self::Cancelled => true,
        }
    }
}

impl Job {
    pub fn execution_state(&self) -> ExecutionState {
        match self.availability {
            Availability::Ready | Availability::BackingOff { .. } | Availability::Held => ExecutionState::Waiting,
            Availability::Leased => ExecutionState::Running,
            Availability::Stuck => ExecutionState::Failed,
            Availability::Done if self.state == JobState::Cancelled => ExecutionState::Cancelled,
            Availability::Done => ExecutionState::Completed,
        }
    }

    /// The name only one of its kind may have.
    pub fn unique_name(&self) -> Option<UniqueName> {
        let unique = self.execution.as_ref()?.unique.as_ref()?;
        Some((self.tenant.clone(), self.job_type.clone(), unique.key.clone()))
    }
}
