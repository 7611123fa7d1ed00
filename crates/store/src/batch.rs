//! Operations over many: what is asked for, and how they are steered.

use std::sync::Arc;

use crate::change::Change;
use crate::log::Caller;
use crate::query::{Entity, Filter};

/// What is to be done to all that a filter finds.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    pub work: Work,
    pub filter: Filter,
    /// What is done is done for them.
    pub caller: Caller,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Work {
    Cancel,
    /// Every incident of the instances found is an item. A job without retries gets one.
    ResolveIncidents,
    Change(Change),
    /// Finished instances, with those they called.
    Delete,
    /// What evaluations of decisions have left.
    DeleteEvaluations,
    Suspend,
    Resume,
}

impl Work {
    /// As clients of Camunda 8 know it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Cancel => "CANCEL_PROCESS_INSTANCE",
            Self::ResolveIncidents => "RESOLVE_INCIDENT",
            Self::Change(Change::Migrate(_)) => "MIGRATE_PROCESS_INSTANCE",
            Self::Change(Change::Modify(_)) => "MODIFY_PROCESS_INSTANCE",
            Self::Delete => "DELETE_PROCESS_INSTANCE",
            Self::DeleteEvaluations => "DELETE_DECISION_INSTANCE",
            Self::Suspend => "SUSPEND_PROCESS_INSTANCE",
            Self::Resume => "RESUME_PROCESS_INSTANCE",
        }
    }

    /// What its items are. Filters of what incidents belong to are filters of instances.
    pub fn entity(&self) -> Entity {
        match self {
            Self::DeleteEvaluations => Entity::EvaluatedDecisions,
            Self::ResolveIncidents => Entity::Incidents,
            Self::Cancel | Self::Change(_) | Self::Delete | Self::Suspend | Self::Resume => Entity::Instances,
        }
    }
}

/// What may be asked about operations over many.
#[derive(Debug, Clone, PartialEq)]
pub enum BatchCommand {
    Start {
        work: Work,
        filter: Filter,
    },
    Suspend {
        batch: u64,
    },
    Resume {
        batch: u64,
    },
    Cancel {
        batch: u64,
    },
    /// It goes on: finds more, or goes through what it has found.
    Due {
        batch: u64,
    },
    /// One of what it has found is dealt with.
    Item {
        batch: u64,
        /// The key of the row, not of what it is about.
        key: u64,
    },
}

impl BatchCommand {
    /// One word for logs and metrics.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Start { .. } => "start-batch",
            Self::Suspend { .. } => "suspend-batch",
            Self::Resume { .. } => "resume-batch",
            Self::Cancel { .. } => "cancel-batch",
            Self::Due { .. } => "batch-due",
            Self::Item { .. } => "batch-item",
        }
    }

    /// About as many bytes as it takes in memory beyond itself.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Start { work, filter } => {
                let change = if let Work::Change(change) = work { change.bytes() } else { 0 };
                change + filter.bytes()
            }
            Self::Suspend { .. } | Self::Resume { .. } | Self::Cancel { .. } | Self::Due { .. } | Self::Item { .. } => 0,
        }
    }
}

/// All types there are, as searches may name them; those that Camunda 8 knows and nobody can ask for too.
pub const WORDS: &[&str] = &[
    "ADD_VARIABLE",
    "CANCEL_PROCESS_INSTANCE",
    "DELETE_DECISION_DEFINITION",
    "DELETE_DECISION_INSTANCE",
    "DELETE_PROCESS_DEFINITION",
    "DELETE_PROCESS_INSTANCE",
    "MIGRATE_PROCESS_INSTANCE",
    "MODIFY_PROCESS_INSTANCE",
    "RESOLVE_INCIDENT",
    "RESUME_PROCESS_INSTANCE",
    "SUSPEND_PROCESS_INSTANCE",
    "UPDATE_VARIABLE",
];

impl Filter {
    /// About as many bytes as it takes in memory.
    pub fn bytes(&self) -> usize {
        use crate::query::{Op, Scalar};
        let scalar = |scalar: &Scalar| match scalar {
            Scalar::Text(text) => text.len() + 32,
            Scalar::Bool(_) | Scalar::Int(_) => 16,
        };
        let of_op = |op: &Op| match op {
            Op::In(values) | Op::NotIn(values) => values.iter().map(scalar).sum(),
            Op::Like(text) => text.len() + 32,
            Op::Eq(value) | Op::Neq(value) | Op::Lt(value) | Op::Lte(value) | Op::Gt(value) | Op::Gte(value) => scalar(value),
            Op::Exists(_) => 0,
        };
        64 + match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().map(Self::bytes).sum(),
            Self::Is(_, op) | Self::Candidate(_, op) => of_op(op),
            Self::HasTag(tag) => tag.len(),
            Self::Related(_, part) | Self::OfInstance(part) | Self::Not(part) => part.bytes(),
        }
    }

    /// Both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match self {
            Self::All(mut parts) => {
                parts.push(other);
                Self::All(parts)
            }
            one => Self::All(vec![one, other]),
        }
    }
}

/// The first of the tenants that somebody may reach.
pub fn tenant_of(caller: &Caller) -> Arc<str> {
    match &caller.tenants {
        crate::query::Tenants::These(tenants) => tenants.first().cloned().unwrap_or_else(|| "".into()),
        crate::query::Tenants::Everything => "".into(),
    }
}
