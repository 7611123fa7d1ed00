//! What one tick writes, in one transaction.

use std::sync::Arc;

use engine::{ElementKey, IncidentKey, InstanceKey, Phase, Token, VariableKey};

use crate::row::{self, ElementState, InstanceState};
use crate::{Fence, Millis};

/// One tick: all of it becomes visible together, or none.
#[derive(Debug, Clone, PartialEq)]
pub struct Commit {
    pub fence: Fence,
    /// The log's last position as the tick knew it. If the log has grown since and the tick appends, nothing is written.
    pub tail: u64,
    /// Commands that were in the log already and are answered now.
    pub processed: Vec<LogRow>,
    /// Commands that enter the log with this commit: positions `tail + 1 ..`, in order.
    pub appended: Vec<LogRow>,
    /// All positions up to this one are processed after the commit.
    pub processed_to: u64,
    pub next_key: u64,
    pub now: Millis,
    pub changes: Changes,
    /// Somebody elsewhere may wait for an answer: wake followers.
    pub wake: bool,
}

/// A command in the log with what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct LogRow {
    pub position: u64,
    /// The kind of command, for people who look at the log.
    pub kind: &'static str,
    /// The instance it concerned, if any.
    pub instance: Option<InstanceKey>,
    /// What happened, as [`crate::format`] writes it; empty if nothing did.
    pub events: Vec<u8>,
    /// The answer, as [`crate::format`] writes it, if somebody may ask for it later.
    pub answer: Option<Vec<u8>>,
}

/// Rows that come into being and rows that change. A row that does both in one tick is written once, in its last state.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Changes {
    pub resources_new: Vec<row::Resource>,
    pub definitions_new: Vec<row::Definition>,
    /// Definitions deleted: they stay readable.
    pub definitions_deleted: Vec<engine::DefinitionKey>,
    /// With their decisions.
    pub requirements_new: Vec<row::DecisionRequirements>,
    /// Deleted with their decisions: they stay readable.
    pub requirements_deleted: Vec<engine::RequirementsKey>,
    pub evaluated_decisions_new: Vec<row::EvaluatedDecision>,
    /// Evaluations deleted with all they looked at.
    pub evaluations_deleted: Vec<engine::EvaluationKey>,
    pub instances_new: Vec<row::Instance>,
    pub instances_changed: Vec<InstanceChange>,
    pub elements_new: Vec<row::Element>,
    pub elements_changed: Vec<ElementChange>,
    pub variables_new: Vec<row::Variable>,
    pub variables_changed: Vec<VariableChange>,
    pub jobs_new: Vec<row::Job>,
    /// Whole rows; the key says which.
    pub jobs_changed: Vec<row::Job>,
    pub incidents_new: Vec<row::Incident>,
    pub incidents_changed: Vec<IncidentChange>,
    pub idempotent_new: Vec<row::Idempotent>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct InstanceChange {
    pub key: InstanceKey,
    pub state: InstanceState,
    pub phase: Phase,
    pub ended: Option<Millis>,
    pub tokens: Vec<Token>,
    pub incidents: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ElementChange {
    pub key: ElementKey,
    pub state: ElementState,
    pub ended: Option<Millis>,
    pub incident: Option<IncidentKey>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct VariableChange {
    pub key: VariableKey,
    pub value: Arc<str>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct IncidentChange {
    pub key: IncidentKey,
    pub resolved: Millis,
}
