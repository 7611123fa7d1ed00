//! What workers say of jobs they have, or had: each names the lease it speaks for.

use std::sync::Arc;

use engine::{Document, JobKey};
use queue::claim::Claim;

use super::Rejection;
use crate::Millis;

#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    pub job: JobKey,
    pub claim: Claim,
    pub said: Said,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    Completed {
        variables: Document,
    },
    Failed(Failed),
    /// A BPMN error: an error event of its process catches it.
    Thrown(Thrown),
    /// It is still at it.
    Alive {
        /// For how long from now it wants to keep the job; as long as it was if it says nothing.
        lease: Option<Millis>,
        /// How far it has come, as a JSON object; as before if it says nothing.
        progress: Option<Arc<str>>,
    },
    /// It will not do it: ready at once for somebody else, as if it had not been handed out.
    Returned,
    /// Not now: ready later, as if it had not been handed out.
    Snoozed {
        delay: Millis,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Failed {
    /// Whether it may be tried again while retries are left.
    pub retryable: bool,
    pub message: Arc<str>,
    /// How long to wait before that, in milliseconds; as the model says if it says nothing.
    pub backoff: Option<Millis>,
    pub variables: Document,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Thrown {
    pub code: Arc<str>,
    pub message: Arc<str>,
    pub variables: Document,
}

/// What became of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reported {
    pub job: JobKey,
    pub became: Became,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Became {
    /// It holds. Of one that goes on, when its lease ends.
    Taken {
        until: Option<Millis>,
    },
    /// Another lease has the job, or this one has run out and was to go on: nothing changed.
    Lost,
    /// No such job is open.
    Gone,
    /// It belongs to a process: such a report is a command of its own.
    Alone,
    Refused(Rejection),
}

impl Report {
    /// About as many bytes as its texts take.
    pub(super) fn texts(&self) -> usize {
        let said = match &self.said {
            Said::Completed { variables } => super::texts(variables),
            Said::Failed(failed) => super::texts(&failed.variables) + failed.message.len(),
            Said::Thrown(thrown) => super::texts(&thrown.variables) + thrown.message.len(),
            Said::Alive { progress, .. } => progress.as_ref().map_or(0, |progress| progress.len()),
            Said::Returned | Said::Snoozed { .. } => 0,
        };
        size_of::<Self>() + said + self.claim.worker.as_ref().map_or(0, |worker| worker.len())
    }

    pub(super) fn variables(&self) -> Option<&Document> {
        match &self.said {
            Said::Completed { variables } => Some(variables),
            Said::Failed(failed) => Some(&failed.variables),
            Said::Thrown(thrown) => Some(&thrown.variables),
            Said::Alive { .. } | Said::Returned | Said::Snoozed { .. } => None,
        }
    }
}
