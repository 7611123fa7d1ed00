//! The step: one command against one process instance, in memory, giving the events that happened.
//!
//! Reading order: [`Command`] (what may be asked), [`Event`] (what may happen), [`Instance`] (what is known), then
//! [`step`](step::step) and the files under `element/`, one per kind of element; [`decision`] evaluates decisions.
//!
//! Invariants:
//! - applying events is the only way an instance changes; events applied to nothing give the instance;
//! - a rejected command changes nothing, and every command can be undone until it is accepted;
//! - a step of n events costs n, and stops after its budget to go on in another turn;
//! - the same command against the same instance with the same keys and the same time gives the same events.
//!
//! Deliberately absent: I/O, clocks, randomness, `async`, logging; retries, leases and queues of jobs (the host's);
//! anything that knows of more than one instance.

mod budget;
mod cancel;
mod command;
mod compensation;
pub mod decision;
mod element;
mod enter_at;
mod event;
mod expression;
mod fit;
mod incident;
mod instance;
mod join;
mod key;
mod lifecycle;
mod linger;
mod migrate;
mod modify;
mod modify_text;
mod places;
mod progress;
mod repeat;
mod start_at;
mod step;
mod straight;
mod suspend;
pub mod trace;
mod turns;
mod undo;
mod variables;
mod wait;

pub use budget::Budget;
pub use command::{Command, Directed, FailedJob, Rejected, StartAt, ThrownError, Triggered, Undecided};
pub use compensation::Compensation;
pub use element::call_activity::variables_for_child;
pub use element::error::catches;
pub use element::listener::{has_given, visible_to_listener};
pub use element::start_event::{Brought, start_trigger, timer};
pub use element::wait::early;
pub use event::{Event, IncidentKind, MessageThrown, Outcome, Parent, Thrown, ThrownOut, Token};
pub use instance::{ElementInstance, Incident, Instance, Phase, State, Variable};
pub use key::{
    CompensationKey, DecisionKey, DefinitionKey, ElementKey, EvaluationKey, FormKey, IncidentKey, InstanceKey, JobKey, Keys,
    PartitionId, RequirementsKey, TimerKey, UserTaskKey, VariableKey, WaitKey,
};
pub use migrate::{Migrated, Migration, Recaught, Rejoined};
pub use modify::{Activation, Ancestor, CHANGED_MAX, Modification, Move, ScopedVariables, Which};
pub use progress::Progress;
pub use step::{Means, migrate, step};
pub use straight::STRAIGHT_MAX;
pub use variables::{Document, KEPT, Variables, visible};
pub use wait::{On, Opened, Turn, UserTask, Wait, WaitEnd, WaitKind, Waited};
