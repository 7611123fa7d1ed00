//! What one tick writes, in one transaction.

use std::sync::Arc;

use engine::{CompensationKey, ElementKey, IncidentKey, InstanceKey, Phase, Progress, VariableKey, WaitKey};

use crate::row::{self, ElementState, InstanceState, SubscriptionState};
use crate::{Fence, MigratedRow, Millis};

/// One tick: all of it becomes visible together, or none.
#[derive(Debug, Clone, PartialEq)]
pub struct Commit {
    pub fence: Fence,
    /// The key counter the tick started from. If the stored one is another, the commit before was not written, or this one was
    /// already; then nothing is written. Every commit moves it on.
    pub first_key: u64,
    pub next_key: u64,
    /// What enters the log, in order, from the position after its last.
    pub log: Vec<LogRow>,
    /// All requests of the inbox up to this one are answered after the commit, and leave it.
    pub inbox_to: u64,
    /// What became of the requests of the inbox.
    pub answers: Vec<AnswerRow>,
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
}

/// The answer to a request of the inbox.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerRow {
    /// That of the request.
    pub position: u64,
    pub kind: &'static str,
    /// As [`crate::format`] writes it.
    pub answer: Vec<u8>,
    /// When the request came.
    pub at: Millis,
    /// Kept until then.
    pub expires: Millis,
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
    pub forms_new: Vec<row::Form>,
    /// Forms deleted: they stay readable.
    pub forms_deleted: Vec<engine::FormKey>,
    pub evaluated_decisions_new: Vec<row::EvaluatedDecision>,
    /// Evaluations deleted with all they looked at.
    pub evaluations_deleted: Vec<engine::EvaluationKey>,
    pub instances_new: Vec<row::Instance>,
    pub instances_changed: Vec<InstanceChange>,
    /// Running instances that are suspended, with since when, or are not any more. Each once.
    pub instances_suspended: Vec<(InstanceKey, Option<Millis>)>,
    pub elements_new: Vec<row::Element>,
    pub elements_changed: Vec<ElementChange>,
    pub variables_new: Vec<row::Variable>,
    pub variables_changed: Vec<VariableChange>,
    pub jobs_new: Vec<row::Job>,
    /// Whole rows; the key says which.
    pub jobs_changed: Vec<row::Job>,
    /// Jobs that belong to no process, which are rows of the same table with more in them.
    pub executions_new: Vec<row::Job>,
    /// Whole rows; the key says which.
    pub executions_changed: Vec<row::Job>,
    /// How many tokens there are now; none of those that count zero.
    pub tokens: Vec<row::Tokens>,
    pub turns_new: Vec<row::Turn>,
    /// Turns that were taken or are not wanted any more.
    pub turns_done: Vec<WaitKey>,
    /// New ones, and those that another scope has now; each once.
    pub compensations_put: Vec<row::Compensation>,
    /// Undone, or not wanted any more. Some may never have been written.
    pub compensations_gone: Vec<CompensationKey>,
    pub timers_new: Vec<row::Timer>,
    /// Whole rows; the key says which. Only state, due and end change.
    pub timers_changed: Vec<row::Timer>,
    pub user_tasks_new: Vec<row::UserTask>,
    /// Whole rows; the key says which.
    pub user_tasks_changed: Vec<row::UserTask>,
    pub subscriptions_new: Vec<row::Subscription>,
    pub subscriptions_changed: Vec<SubscriptionChange>,
    pub messages_new: Vec<row::Message>,
    pub messages_taken: Vec<MessageTaken>,
    /// Messages that expired or that nobody else can take.
    pub messages_gone: Vec<u64>,
    pub correlations_new: Vec<row::Correlation>,
    /// After those that are gone: a lock may go from one instance to the next.
    pub locks_new: Vec<row::MessageLock>,
    pub locks_gone: Vec<row::LockName>,
    /// New ones, and those that have come further, each once. Of one that is there only `after` and `due` change.
    pub signals_put: Vec<row::Signal>,
    pub signals_done: Vec<u64>,
    pub incidents_new: Vec<row::Incident>,
    pub incidents_changed: Vec<IncidentChange>,
    pub idempotent_new: Vec<row::Idempotent>,
    /// Each row once.
    pub migrated: Vec<MigratedRow>,
    pub policies_new: Vec<row::PolicyVersion>,
    /// New ones, and those that have come further, each once.
    pub batches_put: Vec<row::Batch>,
    pub batch_items_new: Vec<row::BatchItem>,
    /// Each once. Of the row only these change.
    pub batch_items_changed: Vec<BatchItemChange>,
    /// Finished instances that are to leave no trace, with those they called as far as these have finished too.
    pub instances_deleted: Vec<InstanceKey>,
    pub audit_new: Vec<row::Audit>,
    pub listeners_new: Vec<row::GlobalListeners>,
    /// Each as it is now.
    pub paces_put: Vec<row::PaceState>,
    /// New ones, and those that have changed, each once; whole rows.
    pub schedules_put: Vec<row::Schedule>,
    pub schedules_gone: Vec<u64>,
    /// Likewise; one for each queue.
    pub queue_stats_put: Vec<row::QueueStats>,
    pub announcements_new: Vec<row::Announcement>,
    /// Told, or not to be told any more. Some may never have been written.
    pub announcements_gone: Vec<row::AnnouncementKey>,
}

/// Every list of one is extended by that of the other; a field that is left out does not compile.
macro_rules! extend {
    ($to:ident, $more:ident: $($field:ident),+) => {
        let Self { $($field),+ } = $more;
        $($to.$field.extend($field);)+
    };
}

impl Changes {
    /// Every job that comes into being or changes, of processes and of none.
    pub fn jobs_written(&self) -> impl Iterator<Item = &row::Job> {
        let of_processes = self.jobs_new.iter().chain(&self.jobs_changed);
        of_processes.chain(&self.executions_new).chain(&self.executions_changed)
    }

    /// When the first and the last of the new instances, element instances and jobs began; past and before any time where there are none.
    pub fn starts(&self) -> (Millis, Millis) {
        let jobs = || self.jobs_new.iter().chain(&self.executions_new).map(|job| job.created);
        let instances = || self.instances_new.iter().map(|instance| instance.started);
        let starts = || self.elements_new.iter().map(|element| element.started).chain(jobs()).chain(instances());
        (starts().min().unwrap_or(Millis::MAX), starts().max().unwrap_or(0))
    }

    /// These as well.
    pub fn add(&mut self, more: Self) {
        extend!(self, more: resources_new, definitions_new, definitions_deleted, requirements_new, requirements_deleted, forms_new, forms_deleted, evaluated_decisions_new, evaluations_deleted, instances_new, instances_changed, instances_suspended, elements_new, elements_changed, variables_new, variables_changed, jobs_new, jobs_changed, executions_new, executions_changed, tokens, turns_new, turns_done, compensations_put, compensations_gone, timers_new, timers_changed, user_tasks_new, user_tasks_changed, subscriptions_new, subscriptions_changed, messages_new, messages_taken, messages_gone, correlations_new, locks_new, locks_gone, signals_put, signals_done, incidents_new, incidents_changed, idempotent_new, policies_new, paces_put, migrated, batches_put, batch_items_new, batch_items_changed, instances_deleted, audit_new, listeners_new, schedules_put, schedules_gone, queue_stats_put, announcements_new, announcements_gone);
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct InstanceChange {
    pub key: InstanceKey,
    pub state: InstanceState,
    pub phase: Phase,
    pub ended: Option<Millis>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ElementChange {
    pub key: ElementKey,
    pub state: ElementState,
    pub ended: Option<Millis>,
    pub incident: Option<IncidentKey>,
    /// None: as it was.
    pub progress: Option<Progress>,
    /// It is over, and its instance has so many such rows that a store should not come across this one when it loads what is alive.
    pub past: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SubscriptionChange {
    pub key: WaitKey,
    pub state: SubscriptionState,
    pub updated: Millis,
}

/// A message was correlated to a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageTaken {
    pub message: u64,
    pub process_id: Arc<str>,
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

/// What became of an item.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchItemChange {
    pub key: u64,
    pub state: row::ItemState,
    pub processed: Option<Millis>,
    pub error: Option<Arc<str>>,
}
